package stacks_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestDiedOf: all outputs have the same words for the signal that a process died of, whichever
// threads are printed, and an address only if the signal is about one. gdb's $_siginfo says what
// came.
func TestDiedOf(t *testing.T) {
	program := gdbtest.Build(t, "ended.c", append([]string{"-pthread"}, gdbtest.Plain...)...)
	for _, how := range []string{"abort", "kill", "trap", "general", "fault"} {
		t.Run(how, func(t *testing.T) {
			core := coreOfCrash(t, program, how)
			name, fault := gdbSignal(t, program, core)
			heading := ` died of ` + name + `( \(\w+\))?`
			if fault != "" {
				heading += ` at address ` + fault
			}
			heading = `(?m)^Process \d+ \(.*\)` + heading + `(, sent by itself)?$`
			said := func(thread bool, args ...string) {
				t.Helper()
				out, errs, err := commandtest.Run(args...)
				if err != nil && out == "" {
					t.Fatalf("%v: %v\n%s", args, err, errs)
				}
				if !regexp.MustCompile(heading).MatchString(out) {
					t.Errorf("%v: no %s in\n%s", args, heading, out)
				}
				if strings.Contains(out, "\nThread ") && strings.Contains(out, `" died of `+name+"\n") != thread {
					t.Errorf("%v: %s", args, out)
				}
				for _, noise := range []string{"0 processors", "0.0.0", "0x00000000 ", "crashed"} {
					if strings.Contains(out, noise) {
						t.Errorf("%v: %q in\n%s", args, noise, out)
					}
				}
			}
			said(true, "core", core)
			said(true, "core", core, "--merge")
			said(false, "core", core, "--tree")
			var doc struct{ Threads []struct{ TID int } }
			if out, _, err := commandtest.Run("core", core, "--json"); err != nil || json.Unmarshal([]byte(out), &doc) != nil || len(doc.Threads) != 2 {
				t.Fatal(err, out)
			}
			said(false, "core", core, "--tid", strconv.Itoa(doc.Threads[1].TID))
			dump := filepath.Join(t.TempDir(), "dump")
			if _, errs, err := commandtest.Run("core", core, "--save", dump, "--format", "minidump"); err != nil {
				t.Fatal(err, errs)
			}
			said(true, "minidump", dump)
		})
	}
}

// gdbSignal returns the signal of a core as gdb has it, and the address that it is about; "" if it
// is about none: its code is then one of a process or of the kernel.
func gdbSignal(t *testing.T, program, core string) (name, fault string) {
	t.Helper()
	out, err := exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", program, core,
		"-ex", `printf "code %d at 0x%lx\n", $_siginfo.si_code, (unsigned long) $_siginfo._sifields._sigfault.si_addr`).CombinedOutput()
	signal := regexp.MustCompile(`terminated with signal (\w+)`).FindSubmatch(out)
	code := regexp.MustCompile(`(?m)^code (-?\d+) at (0x[0-9a-f]+)$`).FindSubmatch(out)
	if err != nil || signal == nil || code == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n, _ := strconv.Atoi(string(code[1])); n > 0 && n < 0x80 {
		fault = string(code[2])
	}
	return string(signal[1]), fault
}

// TestGoroutinesDiedOf: with --goroutines a core's process has died of what it has died of without,
// and the goroutine is marked whose thread died.
func TestGoroutinesDiedOf(t *testing.T) {
	exe := gdbtest.Build(t, "goended")
	t.Setenv("GOTRACEBACK", "crash")
	core := coreOfCrash(t, exe)
	plain, _, err := commandtest.Run("core", core)
	heading, _, _ := strings.Cut(plain, "\n")
	if err != nil || !strings.Contains(heading, " died of SIGABRT") {
		t.Fatalf("%v\n%s", err, plain)
	}
	out, _, err := commandtest.Run("core", core, "--goroutines")
	if got, rest, _ := strings.Cut(out, "\n"); err != nil || got != heading || !regexp.MustCompile(`(?m)^Goroutine \d+ \[.*\] on thread \d+ died of SIGABRT$`).MatchString(rest) {
		t.Errorf("%v\nwant %s\n%s", err, heading, out)
	}
}
