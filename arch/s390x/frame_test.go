package s390x

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/rowtest"
)

const frames = "testdata/frames.c"

var builds = []string{
	"-O0",
	"-O1",
	"-O2",
	"-O3",
	"-Os",
	"-Og",
	"-O0 -mbackchain",
	"-O2 -mbackchain",
	"-O2 -fno-omit-frame-pointer",
	"-O2 -fno-omit-frame-pointer -mbackchain",
	"-O0 -fomit-frame-pointer",
	"-O2 -march=z10",
	"-O2 -march=z9-109",
	"-O3 -march=z13",
	"-O3 -march=z15 -mbackchain",
	"-O2 -fstack-clash-protection",
	"-O0 -fstack-clash-protection",
	"-O2 -fstack-clash-protection -mbackchain -march=z14",
	"-O2 -fstack-protector-all",
	"-O2 -fno-jump-tables -fno-reorder-blocks",
	"-O2 -fno-shrink-wrap",
	"-O2 -mpacked-stack",
	"-O2 -mpacked-stack -mbackchain -msoft-float",
	"-O2 -mindirect-branch=thunk -mfunction-return=thunk",
	"-O2 -mlong-double-64",
}

func TestReadFrame(t *testing.T) {
	processor.Builds(t, frames, builds, func(t *testing.T, flags string, c *rowtest.Tally) {
		if strings.HasPrefix(flags, "-O2 -march=z10") && (c.FPInReg == 0 || c.RAInReg == 0) {
			t.Errorf("r11 in a floating-point register %d times, r14 %d times", c.FPInReg, c.RAInReg)
		}
	})
}

// library returns a library of libc6-dev-s390x-cross.
func library(t testing.TB, name string) string {
	t.Helper()
	return gdbtest.File(t, "/usr/s390x-linux-gnu/lib/"+name)
}

// TestReadFrameOfSystem: the rows in libc that differ belong to longjmp, whose table names
// registers as unchanged that are not, and to clone, which has no directives for its child.
func TestReadFrameOfSystem(t *testing.T) {
	for variant, name := range []string{"libc.so.6", "libm.so.6", "ld64.so.1", "libstdc++.so.6"} {
		t.Run(name, func(t *testing.T) {
			gdbtest.Share(t, variant)
			if c := processor.System(t, library(t, name), 500); name == "libc.so.6" && c.FPInReg < 500 {
				t.Errorf("r11 in a floating-point register only %d times", c.FPInReg)
			}
		})
	}
}

func TestReadFrameInside(t *testing.T) { processor.Inside(t, processor.Compile(t, frames, "-O2")) }

func TestInPrologue(t *testing.T) { processor.InPrologue(t, processor.Compile(t, frames, "-O0")) }
