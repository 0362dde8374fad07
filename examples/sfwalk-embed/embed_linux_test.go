package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// crash dies in a function that was inlined, called through a pointer from a signal handler. What
// raised the signal has been called by a function that left by a tail call.
const crash = `
#include <signal.h>
volatile int zero;
static int divide(int n) { return n / zero; }
static void on_signal(int sig) { zero = divide(sig); }
__attribute__((noinline)) static int raises(int sig) { return raise(sig) + 1; }
__attribute__((noinline)) static int jumps(int sig) { zero++; zero--; return raises(sig); }
int main(void) {
	signal(SIGUSR1, on_signal);
	return jumps(SIGUSR1) + 1;
}
`

// TestAgainstGDB runs a program that dies, under the example and under gdb.
func TestAgainstGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	dir := t.TempDir()
	src, program, embed := filepath.Join(dir, "crash.c"), filepath.Join(dir, "crash"), filepath.Join(dir, "embed")
	if err := os.WriteFile(src, []byte(crash), 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, 0, gdbtest.Tool(t, "cc"), "-g", "-O2", "-fomit-frame-pointer", "-o", program, src)
	run(t, 0, gdbtest.Tool(t, "go"), "build", "-o", embed, ".")

	theirs := frames(run(t, 0, gdbtest.Tool(t, "gdb"), "-q", "-nx", "-batch", "-ex", "set debuginfod enabled off",
		"-ex", "handle SIGUSR1 nostop noprint pass", "-ex", "set backtrace past-main on", "-ex", "run", "-ex", "bt", program))
	if len(theirs) < 7 {
		t.Fatalf("gdb's stack: %q", theirs)
	}
	if ours := run(t, 128+int(syscall.SIGFPE), embed, program); !slices.Equal(frames(ours), theirs) {
		t.Errorf("got\n%s\nwant %q", ours, theirs)
	}
	if out := run(t, 1, embed, filepath.Join(dir, "none")); !strings.Contains(out, "no such file") {
		t.Errorf("a program that is not there: %s", out)
	}
}

var frameLine = regexp.MustCompile(`(?m)^#\d+ +(?:0x[0-9a-f]+ in )?(?:(<signal handler called)(?:: .*)?>|(\S+) .*?(?:crash\.c:(\d+)\)?)?)$`)

// frames returns the frames of the program itself, with their lines, from the output of gdb or of
// the example. The names of the C library's frames depend on the debug files that are installed.
func frames(out string) (list []string) {
	for _, m := range frameLine.FindAllStringSubmatch(out, -1) {
		if m[1] != "" || m[2] == "_start" || m[3] != "" {
			list = append(list, m[1]+m[2]+" "+m[3])
		}
	}
	return list
}

// run returns what a command prints, and checks its exit status.
func run(t *testing.T, status int, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
		t.Fatalf("%s: %v, want exit status %d\n%s", cmd, err, status, out)
	}
	return string(out)
}

// TestControl has the example run a program by frames, and gdb the same one.
func TestControl(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program, embed := gdbtest.Build(t, "frames.c", "-g", "-O1"), filepath.Join(t.TempDir(), "embed")
	run(t, 0, gdbtest.Tool(t, "go"), "build", "-o", embed, ".")
	commands := []string{"finish", "finish", "nexti", "nexti", "return", "nexti", "finish"}
	args := []string{"-q", "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", "handle SIGUSR1 nostop noprint pass", "-ex", "break *leaf", "-ex", "run"}
	for _, c := range commands {
		args = append(args, "-ex", c, "-ex", "print/x $pc - (long)&leaf")
	}
	gdb := run(t, 0, gdbtest.Tool(t, "gdb"), append(args, program, "-ex", "kill")...)
	var theirs []string
	for _, m := range regexp.MustCompile(`(?m)^\$\d+ = 0x([0-9a-f]+)$`).FindAllStringSubmatch(gdb, -1) {
		theirs = append(theirs, m[1])
	}
	cmd := exec.Command(embed, "-break", "leaf", program, "1")
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var ours []string
	var leaf uint64
	for _, m := range regexp.MustCompile(`(?m)^#0 +0x([0-9a-f]+) in`).FindAllStringSubmatch(string(out), -1) {
		pc, _ := strconv.ParseUint(m[1], 16, 64)
		if leaf == 0 {
			leaf = pc
			continue
		}
		ours = append(ours, strconv.FormatUint(pc-leaf, 16))
	}
	if len(ours) != len(commands) || !slices.Equal(ours, theirs) {
		t.Errorf("%q, gdb has %q\n%s\n%s", ours, theirs, out, gdb)
	}
	cmd = exec.Command(embed, "-break", "leaf", program, "1")
	cmd.Stdin = strings.NewReader("continue\ncontinue\n")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "round 1 25") {
		t.Errorf("to the end: %v: %s", err, out)
	}
}
