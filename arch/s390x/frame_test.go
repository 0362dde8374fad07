package s390x

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/internal/rowtest"
	"github.com/sfwalk/sfwalk/trad"
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
				c := processor.Compare(t, file, extra)
				t.Logf("with %d bytes more than the function: %s", extra, c)
				if c.Functions < 25 || c.Total < 500 {
					t.Errorf("only %d functions with %d instructions compared", c.Functions, c.Total)
				}
				if c.Wrong > 0 || c.Rules > 0 || c.WrongEpilogue > 0 || c.Unlike > 0 {
					t.Errorf("%d wrong rows, %d wrong rules of other registers, %d wrong epilogue rows, %d rows that cannot be compared", c.Wrong, c.Rules, c.WrongEpilogue, c.Unlike)
				}
				if c.None*1000 > c.Total {
					t.Errorf("%d of %d instructions have no row", c.None, c.Total)
				}
				if c.Sure*100 < c.Total*90 {
					t.Errorf("only %d of %d instructions have a row that is no guess", c.Sure, c.Total)
				}
				if c.WrongGuess*100 > c.Total {
					t.Errorf("%d of %d guesses are wrong", c.WrongGuess, c.Guess)
				}
				if c.SeenReturns != c.Returns {
					t.Errorf("%d of %d returns seen", c.SeenReturns, c.Returns)
				}
				if strings.HasPrefix(flags, "-O2 -march=z10") && (c.FPInReg == 0 || c.RAInReg == 0) {
					t.Errorf("r11 in a floating-point register %d times, r14 %d times", c.FPInReg, c.RAInReg)
				}
			}
		})
	}
}

// library returns a library of libc6-dev-s390x-cross.
func library(t testing.TB, name string) string {
	t.Helper()
	return gdbtest.File(t, "/usr/s390x-linux-gnu/lib/"+name)
}

// TestReadFrameOfSystem does the same for large programs of others. The rows in
// libc that differ are those of longjmp, whose table names registers as unchanged
// that are not, and of clone, which has no directives for its child.
func TestReadFrameOfSystem(t *testing.T) {
	for _, name := range []string{"libc.so.6", "libm.so.6", "ld64.so.1", "libstdc++.so.6"} {
		file := library(t, name)
		c := processor.Compare(t, file, 0)
		t.Logf("%s: %s", file, c)
		if c.Wrong*10000 > c.Sure || c.Rules*500 > c.Sure { // 0.01 % and 0.2 %
			t.Errorf("%s: %d of %d rows are wrong, %d rules of other registers", file, c.Wrong, c.Sure, c.Rules)
		}
		if c.WrongGuess*100 > 2*c.Total {
			t.Errorf("%s: %d of %d guesses are wrong", file, c.WrongGuess, c.Guess)
		}
		if name == "libc.so.6" && c.FPInReg < 500 {
			t.Errorf("%s: r11 in a floating-point register only %d times", file, c.FPInReg)
		}
		if c.None*1000 > c.Total {
			t.Errorf("%s: %d of %d instructions have no row", file, c.None, c.Total)
		}
		if c.WrongEpilogue*1000 > c.Epilogues || c.SeenReturns != c.Returns {
			t.Errorf("%s: %d of %d epilogue rows are wrong, %d of %d returns seen", file, c.WrongEpilogue, c.Epilogues, c.SeenReturns, c.Returns)
		}
	}
}

// TestReadFrameInside: any byte of an instruction gives the row of its first, as
// a caller's address in block (return address - 1) needs it.
func TestReadFrameInside(t *testing.T) {
	file := compile(t, "-O2")
	pcs, text := processor.Instructions(t, file)
	im := rowtest.Open(t, file)
	calls := 0
	for _, f := range rowtest.FDEs(t, file) {
		code, section := im.Code(t, f.Lo, f.Hi, 0)
		if section != ".text" {
			continue
		}
		for i, pc := range pcs {
			if pc < f.Lo || pc >= f.Hi || !strings.HasPrefix(text[pc], "bras") || i+1 == len(pcs) {
				continue
			}
			calls++
			want, _, why := Machine.ReadFrame(code, f.Lo, pc)
			if why != "" {
				t.Fatalf("%#x: %s", pc, why)
			}
			for at := pc; at < pcs[i+1] && at < f.Hi; at++ {
				got, _, why := Machine.ReadFrame(code, f.Lo, at)
				if got.Lo != pc || uint64(got.Len) != pcs[i+1]-pc || got.CFA != want.CFA || got.RA != want.RA || got.FP != want.FP || why != "" {
					t.Errorf("%#x inside %#x: %s %q, at the start %s", at, pc, got.Format(Arch.RegName), why, want.Format(Arch.RegName))
				}
			}
		}
	}
	if calls < 40 {
		t.Errorf("only %d calls", calls)
	}
}

// TestInPrologue: without optimisation every function with a frame has a frame
// pointer, so that the table's rows tell set-up and teardown (CFA from r15) from
// the body.
func TestInPrologue(t *testing.T) {
	file := compile(t, "-O0")
	pcs, text := processor.Instructions(t, file)
	im := rowtest.Open(t, file)
	before, body := 0, 0
	for _, f := range rowtest.FDEs(t, file) {
		code, section := im.Code(t, f.Lo, f.Hi, 0)
		if section != ".text" {
			continue
		}
		for _, pc := range pcs {
			if pc < f.Lo || pc >= f.Hi || strings.HasPrefix(text[pc], "nop") {
				continue
			}
			row, _, why := Machine.ReadFrame(code, f.Lo, pc)
			if why != "" {
				t.Fatalf("%#x: %s", pc, why)
			}
			in := row.Flags&trad.InPrologue != 0
			switch cfa := f.At(pc).CFA; {
			case strings.HasPrefix(cfa, "r15"):
				if before++; !in {
					t.Errorf("%#x: %s: not in the prologue, with the CFA at %s", pc, text[pc], cfa)
				}
			case strings.HasPrefix(text[pc], "bras"):
				if body++; in {
					t.Errorf("%#x: %s: in the prologue, with the CFA at %s", pc, text[pc], cfa)
				}
			}
		}
	}
	if before < 60 || body < 60 {
		t.Errorf("only %d instructions before and behind, %d in the bodies", before, body)
	}
}
