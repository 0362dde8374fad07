package crash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// waitsFor is what /proc alone tells of a thread: a dump does not have it.
var waitsFor = regexp.MustCompile(`(?m)^  waits .* fd .*\n`)

// TestSaveMinidump: minidump_stackwalk finds the stacks in a saved minidump that gdb has shown of
// the process, and so do we.
func TestSaveMinidump(t *testing.T) {
	for _, flags := range [][]string{{"-O2", "-fomit-frame-pointer", "-static"}, {"-O0"}} {
		program := gdbtest.Build(t, "threads.c", append(flags, "-gdwarf-4")...)
		p := gdbtest.Start(t, program, "3", "4")
		path := filepath.Join(t.TempDir(), "saved.dmp")
		live, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--save", path, "--format", "minidump")
		if err != nil {
			t.Fatal(err)
		}
		want := gdbtest.Backtrace(t, p.PID)
		store := t.TempDir()
		commandtest.DumpSyms(t, store, program)
		if flags[0] == "-O0" {
			commandtest.DumpSyms(t, store, gdbtest.File(t, "/lib/x86_64-linux-gnu/libc.so.6"))
		}
		stacks := commandtest.PeerStacks(t, path, store)
		if len(stacks) != len(want) {
			t.Fatalf("%v: %d threads, gdb has %d", flags, len(stacks), len(want))
		}
		for i, thread := range want {
			n := 0
			for _, f := range thread.Frames {
				if !f.Physical() {
					continue
				}
				if n >= len(stacks[i]) || stacks[i][n] != f.PC {
					t.Errorf("%v: thread %d: %#x, gdb has %s at %#x in frame %d", flags, thread.TID, stacks[i], f.Function, f.PC, n)
					break
				}
				n++
			}
		}
		live = waitsFor.ReplaceAllString(live, "")
		ours, _, err := commandtest.Run("minidump", path)
		if _, stacks, ok := strings.Cut(ours, "\n\n"); err != nil || !ok || !strings.HasPrefix(stacks, strings.TrimSpace(live)) {
			t.Errorf("%v: %v\n%s\nattach has\n%s", flags, err, ours, live)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		dump, err := minidump.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer dump.Close()
		uts, err := exec.Command("uname", "-srvm").Output()
		if m := dump.Modules; err != nil || m[0].Name != program || dump.PID() != p.PID || len(dump.Linux.Maps) == 0 || len(dump.Linux.Environment) != 0 ||
			dump.System.Version != strings.TrimSpace(string(uts)) || string(dump.Linux.CommandLine) != program+"\x003\x004\x00" {
			t.Errorf("%+v, %d, %+v, %q, %v", m[0], dump.PID(), dump.System, dump.Linux.CommandLine, err)
		}
		notes, err := exec.Command(gdbtest.Tool(t, "readelf"), "-n", program).Output()
		if err != nil || !strings.Contains(string(notes), "Build ID: "+dump.Modules[0].CodeID(dump)) {
			t.Errorf("%s, %v\n%s", dump.Modules[0].CodeID(dump), err, notes)
		}
	}
}

// leafRecord is a frame in chain.c, which may have been built of another checkout's sources.
var leafRecord = regexp.MustCompile(`(?m)\|chain\|leaf\|/.*/testdata/progs/chain\.c\|`)

// TestSaveMinidumpWithoutBuildID: such a program is identified as by Breakpad, and its symbols are
// found.
func TestSaveMinidumpWithoutBuildID(t *testing.T) {
	program := gdbtest.Build(t, "chain.c", "-O2", "-gdwarf-4", "-static", "-Wl,--build-id=none")
	p := gdbtest.Start(t, program)
	path, store := filepath.Join(t.TempDir(), "saved.dmp"), t.TempDir()
	if _, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--save", path, "--format", "minidump"); err != nil {
		t.Fatal(err)
	}
	commandtest.DumpSyms(t, store, program)
	out, err := exec.Command(gdbtest.Breakpad(t, "minidump_stackwalk"), "-m", path, store).Output()
	if err != nil || !leafRecord.Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestSaveFormat: what --format takes.
func TestSaveFormat(t *testing.T) {
	for _, args := range [][]string{{"--format", "elf", "--save", "x"}, {"--format", "minidump"}} {
		_, _, err := commandtest.Run(append([]string{"attach", fmt.Sprint(os.Getpid())}, args...)...)
		if usage := (exit.Usage{}); !errors.As(err, &usage) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
