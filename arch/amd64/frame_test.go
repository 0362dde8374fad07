package amd64

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/internal/rowtest"
	"github.com/sfwalk/sfwalk/trad"
)

// compile makes a shared object of ../testdata/frames.c, so that nothing else is in it.
func compile(t testing.TB, flags ...string) string {
	t.Helper()
	return compileFile(t, "../testdata/frames.c", flags...)
}

func compileFile(t testing.TB, source string, flags ...string) string {
	t.Helper()
	cc := gdbtest.Tool(t, "gcc")
	out := filepath.Join(t.TempDir(), "frames.so")
	args := append([]string{"-w", "-shared", "-fPIC", "-nostartfiles", "-o", out}, flags...)
	if msg, err := exec.Command(cc, append(args, source)...).CombinedOutput(); err != nil {
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
	"-O2 -fno-omit-frame-pointer",
	"-O2 -fomit-frame-pointer -mno-red-zone",
	"-O0 -fomit-frame-pointer",
	"-O2 -mavx2",
	"-O3 -mavx2 -ftree-vectorize -mstackrealign",
	"-O2 -fstack-clash-protection",
	"-O0 -fstack-clash-protection",
	"-O2 -fstack-clash-protection -fcf-protection=full",
	"-O2 -fstack-protector-all",
	"-O2 -fcf-protection=full",
	"-O2 -fno-jump-tables -fno-reorder-blocks",
	"-O2 -maccumulate-outgoing-args",
	"-O2 -march=skylake-avx512",
	"-O2 -fno-shrink-wrap",
	"-O1 -fno-omit-frame-pointer -fstack-check",
	"-O2 -mindirect-branch=thunk -fcf-protection=none", // which Ubuntu's gcc has, and the two exclude each other
	"-O2 -fpatchable-function-entry=4",
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
			}
		})
	}
}

// TestReadFrameWrapped: registers that some paths save, by stores, and others do not, with calls
// among them that do not return. The rows are those of gcc's own table.
func TestReadFrameWrapped(t *testing.T) {
	c := processor.Compare(t, compileFile(t, "testdata/wrapped.s"), 0)
	t.Log(c)
	if c.Wrong+c.Rules+c.WrongEpilogue+c.Unlike > 0 || c.Sure < c.Total || c.Total < 300 {
		t.Error("something is wrong, or not known for certain")
	}
}

// TestReadFrameOfSystem does the same for large programs of others. The handful
// of rows in libc that differ are those of setcontext, swapcontext, longjmp and
// clone, whose tables speak of another frame than the one that is running, or
// name registers as unchanged that are not.
//
// SFWALK_SOAK adds gdb, with 18,000 functions.
func TestReadFrameOfSystem(t *testing.T) {
	files := []string{"/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/bash", "/lib/x86_64-linux-gnu/libstdc++.so.6"}
	if os.Getenv("SFWALK_SOAK") != "" {
		files = append(files, "/usr/bin/gdb")
	}
	for _, file := range files {
		c := processor.Compare(t, gdbtest.File(t, file), 0)
		t.Logf("%s: %s", file, c)
		if c.Wrong*10000 > c.Sure || c.Rules*1000 > c.Sure { // 0.01 % and 0.1 %
			t.Errorf("%s: %d of %d rows are wrong, %d rules of other registers", file, c.Wrong, c.Sure, c.Rules)
		}
		if c.WrongGuess*100 > 2*c.Total {
			t.Errorf("%s: %d of %d guesses are wrong", file, c.WrongGuess, c.Guess)
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
			if pc < f.Lo || pc >= f.Hi || !strings.HasPrefix(text[pc], "call") || i+1 == len(pcs) {
				continue
			}
			calls++
			want, _, why := Machine.ReadFrame(code, f.Lo, pc)
			if why != "" {
				t.Fatalf("%#x: %s", pc, why)
			}
			for at := pc; at < pcs[i+1] && at < f.Hi; at++ {
				got, _, why := Machine.ReadFrame(code, f.Lo, at)
				if got.Lo != pc || uint64(got.Len) != pcs[i+1]-pc || got.CFA != want.CFA || got.FP != want.FP || why != "" {
					t.Errorf("%#x inside %#x: %s %q, at the start %s", at, pc, got.Format(Arch.RegName), why, want.Format(Arch.RegName))
				}
			}
		}
	}
	if calls < 40 {
		t.Errorf("only %d calls", calls)
	}
}

// TestInPrologue: without optimisation every function has a frame pointer, so
// that the table's rows tell set-up and teardown (CFA from rsp) from the body.
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
			if pc < f.Lo || pc >= f.Hi {
				continue
			}
			row, _, why := Machine.ReadFrame(code, f.Lo, pc)
			if why != "" {
				t.Fatalf("%#x: %s", pc, why)
			}
			in := row.Flags&trad.InPrologue != 0
			switch cfa := f.At(pc).CFA; {
			case strings.HasPrefix(cfa, "rsp"):
				if before++; !in {
					t.Errorf("%#x: %s: not in the prologue, with the CFA at %s", pc, text[pc], cfa)
				}
			case strings.HasPrefix(text[pc], "call"):
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

func TestReadFrameDeclines(t *testing.T) {
	code := []byte{0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3}
	for _, pc := range []uint64{0xfff, 0x1006, 1 << 63, 0} {
		if row, _, why := Machine.ReadFrame(code, 0x1000, pc); why == "" {
			t.Errorf("pc %#x: %s", pc, row.Format(Arch.RegName))
		}
	}
	if _, _, why := Machine.ReadFrame(nil, 0, 0); why == "" {
		t.Error("a row without code")
	}
	// xor %ebp,%ebp; pop %rsi; and $-16,%rsp; call: _start has no return address.
	start := []byte{0x31, 0xed, 0x5e, 0x48, 0x83, 0xe4, 0xf0, 0xe8, 0, 1, 0, 0, 0xf4}
	if row, _, why := Machine.ReadFrame(start, 0x1000, 0x1007); why == "" {
		t.Errorf("_start: %s", row.Format(Arch.RegName))
	}
}

// TestReadFrameChkstk: the size of a large frame lives through the call of the
// routine that touches its pages.
func TestReadFrameChkstk(t *testing.T) {
	// push %rbx; mov $0x12340,%eax; call +0x100; sub %rax,%rsp; nop; ret
	code := []byte{0x53, 0xb8, 0x40, 0x23, 0x01, 0x00, 0xe8, 0, 1, 0, 0, 0x48, 0x29, 0xc4, 0x90, 0xc3}
	row, _, why := Machine.ReadFrame(code, 0x1000, 0x100e)
	if want := (trad.Rule{Kind: trad.InReg, Reg: RSP, Off: 0x12340 + 16}); row.CFA != want || why != "" {
		t.Errorf("%s %q, want CFA=rsp+%d", row.Format(Arch.RegName), why, want.Off)
	}
}
