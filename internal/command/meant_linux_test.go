package command

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A command line without a verb has the one that its first argument means, whatever flags stand
// before and behind it.
func TestWithoutVerb(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program := gdbtest.Build(t, "chain.c", gdbtest.Plain...)
	p := gdbtest.Start(t, program)
	pid := strconv.Itoa(p.PID)
	dir := t.TempDir()
	t.Chdir(dir)
	commandtest.GCore(t, p.PID, "crash.dmp") // a core file that is called as a minidump
	for _, args := range [][]string{{"attach", pid, "--save", "snapshot"}, {"attach", pid, "--save", "core.1", "--format", "minidump"}} {
		if _, _, err := command(args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(program, "program"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("folder", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("x.txt", []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("999999999", []byte("text"), 0o600); err != nil { // no process has that number
		t.Fatal(err)
	}
	heading := fmt.Sprintf("Process %d (", p.PID)
	thread := fmt.Sprintf("Thread %d ", p.PID)
	for _, tt := range []struct{ line, want string }{
		{pid, thread},
		{"-p " + pid, thread},
		{"-p" + pid + " --no-lines", thread},
		{"--pid=" + pid + " --json", `{"pid":` + pid},
		{pid + " --json", `{"pid":` + pid},
		{"--json " + pid, `{"pid":` + pid},
		{"--max-frames 2 " + pid + " --merge", thread},
		{"--tid " + pid + " -p " + pid, thread},
		{"--json attach " + pid, `{"pid":` + pid},
		{"--max-frames 1 core crash.dmp", heading},
		{"crash.dmp", heading},
		{"./crash.dmp --merge", heading},
		{"--no-lines crash.dmp", heading},
		{"--exe " + program + " crash.dmp", heading},
		{program + " crash.dmp", heading}, // as gdb PROGRAM CORE
		{"core " + program + " crash.dmp", heading},
		{"core crash.dmp " + program, heading},
		{"snapshot", " as of "},
		{"core.1", "\nModules:\n"},
	} {
		out, stderr, err := command(strings.Fields(tt.line)...)
		if err != nil && !errors.Is(err, exit.ErrEarly) || !strings.Contains(out, tt.want) || strings.Contains(stderr, "note:") {
			t.Errorf("sfwalk %s: %v, want %q\n%s%s", tt.line, err, tt.want, out, stderr)
		}
	}
	for _, tt := range []struct{ line, want string }{
		{"x.txt", "x.txt: there is no such command, and the file of this name is none that sfwalk reads"},
		{"999999999", "999999999: there is no such command, and the file"},
		{program, program + ": it is a program: 'sfwalk record -- " + program},
		{"nosuch", `there is no command "nosuch"`},
		{"attac " + pid, "do you mean attach?"},
		{"nosuch --help", `there is no command "nosuch"`},
		{"help nosuch", `help: there is no command "nosuch"`},
		{"help attac", "do you mean attach?"},
		{"help sframe dmp", `help: sframe: there is no command "dmp": do you mean dump?`},
		{"./none.core", `there is no command and no file "./none.core"`},
		{"folder", "no minidumps are in the folder"},
		{"program", "program: it is a program: 'sfwalk record -- ./program' starts it"},
		{"--json nosuch", `there is no command "nosuch"`},
		{"-", "-: which command?"},
		{"attach crash.dmp", "attach crash.dmp: want the number of a process: crash.dmp is a core file: 'sfwalk core crash.dmp' reads it"},
		{"attach -p core.1", "core.1 is a minidump: 'sfwalk minidump core.1' reads it"},
		{"remote crash.dmp", "it is a core file: 'sfwalk core crash.dmp' reads it"},
		{"core crash.dmp x.txt", `core: "x.txt" is one argument too many`},
	} {
		_, _, err := command(strings.Fields(tt.line)...)
		if usage := (exit.Usage{}); !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("sfwalk %s: %v, want %q", tt.line, err, tt.want)
		}
	}
	// Each command begins with nothing.
	if _, _, err := command(""); err == nil || err.Error() != `there is no command ""` {
		t.Error(err)
	}
	if _, _, err := command("attach", ""); err == nil || err.Error() != `attach "": want the number of a process` {
		t.Error(err)
	}
	// Each verb says what a file is that another one reads.
	for _, tt := range []struct{ line, want string }{
		{"core core.1", "it is a minidump: 'sfwalk minidump core.1' reads it"},
		{"open core.1", "it is a minidump: 'sfwalk minidump core.1' reads it"},
		{"perf core.1", "it is a minidump: 'sfwalk minidump core.1' reads it"},
		{"minidump crash.dmp", "it is a core file: 'sfwalk core crash.dmp' reads it"},
		{"minidump snapshot", "it is a snapshot of sfwalk: 'sfwalk open snapshot' reads it"},
		{"perf snapshot", "it is a snapshot of sfwalk: 'sfwalk open snapshot' reads it"},
		{"sframe dump core.1", "it is a minidump: 'sfwalk minidump core.1' reads it"},
		{"sframe verify core.1", "it is a minidump: 'sfwalk minidump core.1' reads it"},
		{"sframe gen core.1 -o x", "it is a minidump: 'sfwalk minidump core.1' reads it"},
		{"symbols dump crash.dmp", "it is a core file: 'sfwalk core crash.dmp' reads it"},
		{"open crash.dmp", "print its stacks by 'sfwalk core'"},
		{"999999998", "attach 999999998: no such process"},
		{"localhost:1", "remote localhost:1: "},
		{"unix:none", "remote unix:none: "},
	} {
		_, _, err := command(strings.Fields(tt.line)...)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("sfwalk %s: %v, want %q", tt.line, err, tt.want)
		}
	}
	// A process is preferred to a file that is called as its number, and that is said.
	if err := os.WriteFile(pid, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, stderr, err := command(pid)
	if err != nil || !strings.Contains(out, thread) || stderr != fmt.Sprintf("sfwalk: note: %s is a process: ./%[1]s is the file\n", pid) {
		t.Errorf("%v\n%s%s", err, out, stderr)
	}
	// A socket is a stub's.
	l, err := net.Listen("unix", filepath.Join(dir, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, _, err := command("sock"); err == nil || !strings.Contains(err.Error(), "'sfwalk remote unix:sock'") {
		t.Error(err)
	}
}

// A name in place of a verb: the error says how the processes are found that are called so.
func TestNameWithoutVerb(t *testing.T) {
	sleep := exec.Command(gdbtest.Tool(t, "sleep"), "1000")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		sleep.Process.Kill()
		sleep.Wait()
	}()
	gdbtest.Await(t, "sleep runs", func() bool {
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", sleep.Process.Pid))
		return string(comm) == "sleep\n"
	})
	_, _, err := command("sleep")
	if err == nil || !strings.Contains(err.Error(), "'sfwalk attach --name sleep' prints the stacks") {
		t.Error(err)
	}
}

// help prints what --help does.
func TestHelp(t *testing.T) {
	for _, line := range []string{"", "attach", "sframe", "sframe dump", "help"} {
		args := strings.Fields(line)
		want, _, err := command(append(args, "--help")...)
		if err != nil || !strings.Contains(want, "Usage:") {
			t.Fatalf("%s --help: %v\n%s", line, err, want)
		}
		if got, _, err := command(append([]string{"help"}, args...)...); err != nil || got != want {
			t.Errorf("help %s: %v\n%s", line, err, got)
		}
	}
	if out, _, err := command("__complete", "help", "sframe", "d"); err != nil || !strings.HasPrefix(out, "dump\t") {
		t.Errorf("%v\n%s", err, out)
	}
}
