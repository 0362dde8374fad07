//go:build linux

package gdbtest

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

//go:embed frames.py
var framesPy string

// A Script is a Python script that runs inside gdb and talks with the test:
// records come from it, and it can be made to wait for an answer to one.
type Script struct {
	cmd    *exec.Cmd
	talk   *os.File
	r      *bufio.Reader
	output bytes.Buffer // of gdb itself
	exited chan error
	ended  bool
}

// StartScript starts gdb, a program's name (gdb, gdb-multiarch), in batch mode
// with a script and further arguments. The script finds params in PARAMS, and
// what frames.py defines, emit() and wait_for_answer() among it; its last
// record is {"end": true}. gdb ends with the test.
func StartScript(t testing.TB, gdb, script string, params map[string]any, args ...string) *Script {
	t.Helper()
	text, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	literal, err := json.Marshal(string(text)) // a JSON string is one of Python's, too
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "script.py")
	script = fmt.Sprintf("import json\nPARAMS = json.loads(%s)\n%s\n%s", literal, framesPy, script)
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.SetNonblock(pair[0], true) // for a deadline
	mine, its := os.NewFile(uintptr(pair[0]), "gdb"), os.NewFile(uintptr(pair[1]), "test")
	defer its.Close()

	argv := []string{"-nx", "-batch",
		// No network, and no scripts that come with a program (Go's, libstdc++'s).
		"-iex", "set debuginfod enabled off",
		"-iex", "set auto-load off",
		"-iex", "set backtrace past-main on",
		"-iex", "set backtrace past-entry on",
		"-iex", "set backtrace limit unlimited",
		"-x", file,
	}
	var settings []string
	if filepath.Base(gdb) == "gdb" {
		var why string
		if settings, why = writing(t, "gdb"); why != "" {
			argv = append(argv, "-iex", "set may-call-functions off") // half a call is left in the process else
		}
		argv = append(argv, "-iex", "unset environment LD_PRELOAD") // for the programs
	}
	s := &Script{cmd: exec.Command(Tool(t, gdb), append(argv, args...)...), talk: mine, r: bufio.NewReader(mine), exited: make(chan error, 1)}
	s.cmd.Env = append(append(os.Environ(), "SHELL=/bin/sh"), settings...) // gdb starts programs by SHELL
	s.cmd.ExtraFiles = []*os.File{its}                                     // frames.py: file descriptor 3
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	s.cmd.WaitDelay = time.Second // what gdb has started may hold its output open
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	mine.SetDeadline(Deadline(t))
	go func() { s.exited <- s.cmd.Wait() }()
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		if !s.ended {
			<-s.exited
		}
		mine.Close()
	})
	return s
}

// Next returns the script's next record, nil after the last one. The test
// fails where the script has failed.
func (s *Script) Next(t testing.TB) json.RawMessage {
	t.Helper()
	record, err := s.next()
	if err != nil {
		s.fail(t, err)
	}
	return record
}

// next returns the script's next record, nil after the last one.
func (s *Script) next() (json.RawMessage, error) {
	line, err := s.r.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("the script did not come to its end: %w", err)
	}
	var last struct{ End bool }
	if err := json.Unmarshal(line, &last); err != nil {
		return nil, err
	}
	if !last.End {
		return line, nil
	}
	s.ended = true
	if err := <-s.exited; err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(s.cmd.Args, " "), err, &s.output)
	}
	return nil, nil
}

// Answer lets a script go on that waits for an answer, a line of text.
func (s *Script) Answer(t testing.TB, line string) {
	t.Helper()
	if _, err := s.talk.WriteString(line + "\n"); err != nil {
		s.fail(t, err)
	}
}

func (s *Script) fail(t testing.TB, why error) {
	t.Helper()
	s.cmd.Process.Kill()
	if !s.ended {
		s.ended = true
		err := <-s.exited
		why = fmt.Errorf("%w (gdb: %w)", why, err)
	}
	output := s.output.String()
	if strings.Contains(output, "Python scripting is not supported") {
		Missing(t, "gdb is built without Python")
	}
	t.Fatalf("%s: %v\n%s", strings.Join(s.cmd.Args, " "), why, output)
}
