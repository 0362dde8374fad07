//go:build linux

package cplusplus

import (
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/process"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestProgramAnew: a unit has two megabytes of debug information, threads wait in their units, and
// what is there is not made again.
func TestProgramAnew(t *testing.T) {
	gdbtest.Tool(t, "g++")
	dir := t.TempDir()
	const units = 2
	path, err := Program(t.Context(), dir, units)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size := uint64(0)
	for _, s := range f.Sections {
		if strings.HasPrefix(s.Name, ".debug_") {
			size += s.Size
		}
	}
	if size < units*(3<<19) {
		t.Errorf("%d bytes of debug information", size)
	}
	profile, err := Profile(path, 500)
	if err != nil {
		t.Fatal(err)
	}
	if slices.IsSorted(profile) || len(slices.Compact(slices.Sorted(slices.Values(profile)))) != 500 {
		t.Errorf("%d addresses are sorted, or not different", len(profile))
	}
	if _, err := Random(path, 1<<30); err == nil {
		t.Error("more addresses than the program has")
	}

	// A program without its objects is a whole one; one more unit is all that is made for a larger
	// one.
	if err := os.Remove(filepath.Join(filepath.Dir(path), "unit0.o")); err != nil {
		t.Fatal(err)
	}
	if again, err := Program(t.Context(), dir, units); err != nil || again != path {
		t.Errorf("%s, %v", again, err)
	}

	t.Run("no compiler", func(t *testing.T) {
		empty := t.TempDir()
		t.Setenv("PATH", empty)
		if _, err := Program(t.Context(), empty, 1); !errors.Is(err, build.ErrMissing) {
			t.Errorf("error %v", err)
		}
	})

	gdbtest.NeedAMD64(t)
	gdbtest.Tool(t, "gdb")
	p, err := process.Start(nil, path, "3", "5")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	in := map[string]int{}
	for _, thread := range gdbtest.Backtrace(t, p.PID) {
		for _, f := range thread.Frames {
			if unit, function, _ := strings.Cut(f.Function, "::"); function == "run" || strings.HasPrefix(function, "run(") {
				in[unit]++
			}
		}
	}
	if in["unit0"] < 10 || in["unit1"] < 5 || len(in) != units {
		t.Errorf("frames in units: %v", in)
	}
}
