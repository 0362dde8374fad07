//go:build linux

package s390x

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// compile makes a shared object of testdata/frames.c, so that nothing else is in it.
func compile(t testing.TB, flags ...string) string {
	t.Helper()
	cc := gdbtest.Tool(t, "s390x-linux-gnu-gcc")
	out := filepath.Join(t.TempDir(), "frames.so")
	args := append([]string{"-w", "-shared", "-fPIC", "-nostartfiles", "-o", out}, flags...)
	if msg, err := exec.Command(cc, append(args, "testdata/frames.c")...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %v: %v\n%s", flags, err, msg)
	}
	return out
}

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

// TestReadFrame demands for every instruction of every function that a row that
// is not a guess is right, and that nearly every instruction has a row.
func TestReadFrame(t *testing.T) {
	for _, flags := range builds {
		t.Run(flags, func(t *testing.T) {
			file := compile(t, strings.Fields(flags)...)
			for _, extra := range []uint64{0, 4096} {
				c := compareAll(t, file, extra)
				t.Logf("with %d bytes more than the function: %s", extra, c)
				if c.functions < 25 || c.total < 500 {
					t.Errorf("only %d functions with %d instructions compared", c.functions, c.total)
				}
				if c.wrong > 0 || c.more > 0 || c.wrongEpilogue > 0 || c.unlike > 0 {
					t.Errorf("%d wrong rows, %d wrong rules of other registers, %d wrong epilogue rows, %d rows that cannot be compared", c.wrong, c.more, c.wrongEpilogue, c.unlike)
				}
				if c.none*1000 > c.total {
					t.Errorf("%d of %d instructions have no row", c.none, c.total)
				}
				if c.sure*100 < c.total*90 {
					t.Errorf("only %d of %d instructions have a row that is no guess", c.sure, c.total)
				}
				if c.wrongGuess*100 > c.total {
					t.Errorf("%d of %d guesses are wrong", c.wrongGuess, c.guess)
				}
				if c.seenReturns != c.returns {
					t.Errorf("%d of %d returns seen", c.seenReturns, c.returns)
				}
			}
		})
	}
}

// libraries is where libc6-dev-s390x-cross has its own.
const libraries = "/usr/s390x-linux-gnu/lib/"

func TestReadFrameOfSystem(t *testing.T) {
	for _, name := range []string{"libc.so.6", "libm.so.6", "ld64.so.1", "libstdc++.so.6"} {
		file := libraries + name
		if _, err := os.Stat(file); err != nil {
			t.Logf("%s is not there", file)
			continue
		}
		c := compareAll(t, file, 0)
		t.Logf("%s: %s", file, c)
		if c.wrong*10000 > c.sure || c.more*1000 > c.sure { // 0.01 % and 0.1 %
			t.Errorf("%s: %d of %d rows are wrong, %d rules of other registers", file, c.wrong, c.sure, c.more)
		}
		if c.wrongGuess*100 > 2*c.total {
			t.Errorf("%s: %d of %d guesses are wrong", file, c.wrongGuess, c.guess)
		}
		if c.none*1000 > c.total {
			t.Errorf("%s: %d of %d instructions have no row", file, c.none, c.total)
		}
		if c.wrongEpilogue*1000 > c.epilogues || c.seenReturns != c.returns {
			t.Errorf("%s: %d of %d epilogue rows are wrong, %d of %d returns seen", file, c.wrongEpilogue, c.epilogues, c.seenReturns, c.returns)
		}
	}
}
