//go:build linux && (amd64 || arm64)

package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-delve/delve/service"
	"github.com/go-delve/delve/service/debugger"

	"github.com/sfwalk/sfwalk/delve/server"
	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// served is a server in this process.
type served struct {
	addr string
	dbg  *debugger.Debugger
	end  func() error // ends serving, as Ctrl-C does
}

// serve has Delve debug the process of config and args, and serves clients until the test ends.
func serve(t testing.TB, config debugger.Config, multi bool, args ...string) *served {
	t.Helper()
	return serveWith(t, server.Options{}, config, multi, args...)
}

func serveWith(t testing.TB, o server.Options, config debugger.Config, multi bool, args ...string) *served {
	t.Helper()
	delvetest.Quiet(t)
	config.Backend = "default"
	dbg, err := debugger.New(&config, args)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- server.Serve(ctx, &service.Config{
			Debugger: config, Listener: listener, ProcessArgs: args, AcceptMulti: multi, CheckLocalConnUser: true, APIVersion: 2,
		}, dbg, o)
	}()
	s := &served{addr: listener.Addr().String(), dbg: dbg}
	s.end = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(time.Until(gdbtest.Deadline(t))):
			return fmt.Errorf("the server does not end")
		}
	})
	t.Cleanup(func() {
		if err := s.end(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// attach serves a process that is running.
func attach(t testing.TB, p *gdbtest.Process, multi bool) *served {
	t.Helper()
	return serve(t, debugger.Config{AttachPid: p.PID}, multi)
}

// dlv runs the real dlv with the arguments with, such as "attach PID" or "connect ADDRESS", and
// returns its answer to each of commands.
func dlv(t testing.TB, commands []string, with ...string) []string {
	t.Helper()
	path := gdbtest.ModuleTool(t, "dlv")
	ctx, cancel := context.WithDeadline(t.Context(), gdbtest.Deadline(t))
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(with, "--allow-non-terminal-interactive=true")...)
	config, err := os.MkdirTemp("", "dlv") // files may still appear in it when dlv has ended
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(config) })
	// The result must not depend on debug information of the C library.
	if err := errors.Join(os.Mkdir(filepath.Join(config, "dlv"), 0o755), os.WriteFile(filepath.Join(config, "dlv", "config.yml"), []byte("debug-info-directories: [/nonexistent]\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+config)
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("dlv %q: %v\n%s", with, err, &out)
	}
	text := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(out.String(), "")
	said := strings.Split(text, "(dlv) ")[1:]
	if len(said) < len(commands)-1 { // the last may answer a question
		t.Fatalf("dlv answers %d of %d commands:\n%s", len(said), len(commands), text)
	}
	return said
}

// frame is a frame that dlv prints.
type frame struct {
	level, pc, function, file string
}

var frameLine = regexp.MustCompile(`(?m)^\s*(\d+)\s+0x([0-9a-f]+) in (.*)\n\s+at (.*)$`)

// stackOf reads the frames that dlv has printed.
func stackOf(text string) (list []frame) {
	for _, m := range frameLine.FindAllStringSubmatch(text, -1) {
		list = append(list, frame{m[1], m[2], m[3], filepath.Base(m[4])})
	}
	return list
}

// functions returns the names of the frames' functions, without the parts that differ each time.
func functions(list []frame) (names []string) {
	for _, f := range list {
		names = append(names, regexp.MustCompile(`_cgo(exp)?_[0-9a-f]{12}_`).ReplaceAllString(f.function, "_cgo${1}_"))
	}
	return names
}

// stacksOf reads the stacks of goroutines that dlv has printed: "goroutines -t".
func stacksOf(text string) (list [][]frame) {
	for _, one := range strings.Split(text, "Goroutine ")[1:] {
		list = append(list, stackOf(one))
	}
	return list
}
