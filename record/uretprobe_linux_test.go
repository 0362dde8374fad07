package record_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/picture"
)

// A probe has replaced the return address of a function. The program says which functions are
// around it.
func TestReturnProbe(t *testing.T) {
	gdbtest.CanRecord(t)
	program := gdbtest.Build(t, "uretprobe.c", "-g", "-O2")
	gdbtest.ProbeReturns(t, program, "probed")
	p := gdbtest.StartRunning(t, program, "spin")
	mostly(t, p.PID, []string{"waits", "probed", "[uprobes]", "once", "main"})
}

// Where frame pointers are kept, the kernel tells the return address that it has replaced, also
// where calls alone do not tell which it is: one function calls the probed one twice, or another
// file calls it.
func TestReturnProbeWalked(t *testing.T) {
	gdbtest.CanRecord(t)
	if major, minor := kernel(t); major < 6 || major == 6 && minor < 11 {
		gdbtest.Cannot(t, "Linux before 6.11 does not tell which return addresses it has replaced")
	}
	program := gdbtest.Build(t, "uretprobe.c", "-g", "-O2", "-fno-omit-frame-pointer")
	gdbtest.ProbeReturns(t, program, "probed")
	t.Run("twice", func(t *testing.T) {
		p := gdbtest.StartRunning(t, program, "twice", "runs")
		stacks := mostly(t, p.PID, []string{"waits", "probed", "[uprobes]", "twice", "main"})
		line := lineIn(t, "uretprobe.c", "void twice(", "probed(x);")
		for _, f := range stacks.Places {
			if f.Function == "twice" && f.Line != line {
				t.Errorf("twice is at line %d, want %d", f.Line, line)
			}
		}
	})
	t.Run("deep", func(t *testing.T) {
		p := gdbtest.StartRunning(t, program, "deep", "runs")
		mostly(t, p.PID, []string{"waits", "probed", "[uprobes]", "probed", "[uprobes]", "probed", "[uprobes]", "once",
			"main"})
	})
	// It loads the library once, for loading takes its time. The C library's functions keep no
	// frame pointer: where they run, the kernel's walk lacks a frame.
	for name, flags := range map[string][]string{"library": nil, "libc": {"-DTURNS=10"}} {
		t.Run(name, func(t *testing.T) {
			library := gdbtest.Build(t, "loads.c", append(flags, "-O2", "-fno-omit-frame-pointer", "-shared", "-fPIC", "-DLIBRARY=first", "-DBUSY=60000000000L")...)
			gdbtest.ProbeReturns(t, library, "compute")
			p := gdbtest.StartRunning(t, gdbtest.Build(t, "loads.c", "-O2", "-fno-omit-frame-pointer"), library, library)
			mostly(t, p.PID, []string{"first", "compute", "[uprobes]", "main"})
		})
	}
}

// mostly records a process, nine of ten of whose samples have these frames, and whole stacks.
func mostly(t *testing.T, pid int, want []string) *picture.Stacks {
	t.Helper()
	stacks, stats := recorded(t, pid, 100)
	right := uint64(0)
	var other []string
	for _, s := range stacks.Samples {
		var names []string
		for _, f := range s.Frames {
			names = append(names, stacks.Places[f].Function)
		}
		i := max(slices.Index(names, want[0]), 0)
		if slices.Equal(names[i:min(i+len(want), len(names))], want) {
			right += uint64(s.Values[0])
		} else {
			other = names
		}
	}
	if right < stats.Samples*9/10 || stats.Whole < stats.Samples*9/10 {
		t.Errorf("%d of %d samples have the program's frames, another has %q: %+v", right, stats.Samples, other, stats)
	}
	return stacks
}

// kernel returns the kernel's release.
func kernel(t *testing.T) (major, minor int) {
	t.Helper()
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	release := unix.ByteSliceToString(u.Release[:])
	if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil {
		t.Fatalf("%q: %v", release, err)
	}
	return major, minor
}

// lineIn returns the number of the first line that is text, behind one that has after, in a
// program's source.
func lineIn(t *testing.T, program, after, text string) int {
	t.Helper()
	source, err := os.ReadFile("../testdata/progs/" + program)
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for i, line := range strings.Split(string(source), "\n") {
		seen = seen || strings.Contains(line, after)
		if seen && strings.TrimSpace(line) == text {
			return i + 1
		}
	}
	t.Fatalf("%s has no %q behind %q", program, text, after)
	return 0
}
