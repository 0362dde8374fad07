package i386

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/trad"
)

const frames = "../testdata/frames.c"

var builds = []string{
	"-O0",
	"-O1",
	"-O2",
	"-Os",
	"-O2 -fno-omit-frame-pointer",
	"-O0 -fomit-frame-pointer",
	"-O2 -fno-pic",
	"-O3 -mavx2 -ftree-vectorize -mstackrealign",
	"-O2 -fstack-clash-protection",
	"-O2 -fstack-protector-all",
	"-O2 -fcf-protection=full",
	"-O2 -maccumulate-outgoing-args",
	"-O2 -mregparm=2",
	"-O2 -mpreferred-stack-boundary=2",
	"-O1 -fno-omit-frame-pointer -fstack-check",
}

func TestReadFrame(t *testing.T) { processor.Builds(t, frames, builds, nil) }

// TestReadFrameStdcall: where functions pop their own arguments, the code that goes on tells how
// many only where it returns, or calls again with a stack that would not be aligned.
func TestReadFrameStdcall(t *testing.T) {
	c := processor.Compare(t, processor.Compile(t, frames, "-O2", "-mrtd"), 0)
	t.Log(c)
	if c.Wrong*50 > c.Total || c.Rules+c.WrongEpilogue+c.Unlike+c.None > 0 || c.Sure*100 < 85*c.Total {
		t.Error("too much is wrong, or not known")
	}
}

// TestReadFrameOfSystem: the rows that differ belong, but for a few, to glibc's functions in
// assembler, with tables that name another frame than the one that is running (strcmp, memcpy and
// others with tables of jumps, setcontext, longjmp), or registers as unchanged that are not
// (strcpy, the system calls).
func TestReadFrameOfSystem(t *testing.T) {
	for variant, tt := range []struct {
		file                          string
		rowIn, ruleIn, noneIn, pastIn int // one in so many rows may be wrong, and so on
	}{
		{"libc.so.6", 1500, 2500, 200, 100}, // glibc 2.41 has more of them than 2.36
		{"ld-linux.so.2", 2000, 2000, 1000, 1000},
		{"libstdc++.so.6", 10000, 10000, 300, 1000},
	} {
		t.Run(tt.file, func(t *testing.T) {
			gdbtest.Share(t, variant)
			c := processor.Compare(t, gdbtest.File(t, "/usr/i686-linux-gnu/lib/"+tt.file), 0)
			t.Logf("%s: %s", tt.file, c)
			if c.Wrong*tt.rowIn > c.Sure || c.Rules*tt.ruleIn > c.Sure || c.None*tt.noneIn > c.Total || c.WrongEpilogue*tt.pastIn > c.Epilogues {
				t.Errorf("%s: %d rows are wrong, %d rules of other registers, %d epilogues; %d instructions have no row", tt.file, c.Wrong, c.Rules, c.WrongEpilogue, c.None)
			}
			if c.WrongGuess*100 > c.Total || c.SeenReturns != c.Returns {
				t.Errorf("%s: %d guesses are wrong, %d of %d returns seen", tt.file, c.WrongGuess, c.SeenReturns, c.Returns)
			}
		})
	}
}

func TestReadFrameInside(t *testing.T) { processor.Inside(t, processor.Compile(t, frames, "-O2")) }

func TestInPrologue(t *testing.T) { processor.InPrologue(t, processor.Compile(t, frames, "-O0")) }

func TestReadFrameDeclines(t *testing.T) {
	code := []byte{0x55, 0x89, 0xe5, 0x5d, 0xc3}
	for _, pc := range []uint64{0xfff, 0x1005, 1 << 63, 0} {
		if row, _, why := Machine.ReadFrame(code, 0x1000, pc); why == "" {
			t.Errorf("pc %#x: %s", pc, row.Format(Arch.RegName))
		}
	}
	if _, _, why := Machine.ReadFrame(nil, 0, 0); why == "" {
		t.Error("a row without code")
	}
	// xor %ebp,%ebp; pop %esi; and $-16,%esp; call: _start has no return address.
	start := []byte{0x31, 0xed, 0x5e, 0x83, 0xe4, 0xf0, 0xe8, 0, 1, 0, 0, 0xf4}
	if row, _, why := Machine.ReadFrame(start, 0x1000, 0x1006); why == "" {
		t.Errorf("_start: %s", row.Format(Arch.RegName))
	}
}

// TestReadFrameChkstk: the size of a large frame lives through the call of the
// routine that touches its pages.
func TestReadFrameChkstk(t *testing.T) {
	// push %ebx; mov $0x12340,%eax; call +0x100; sub %eax,%esp; nop; ret
	code := []byte{0x53, 0xb8, 0x40, 0x23, 0x01, 0x00, 0xe8, 0, 1, 0, 0, 0x29, 0xc4, 0x90, 0xc3}
	row, _, why := Machine.ReadFrame(code, 0x1000, 0x100d)
	if want := (trad.Rule{Kind: trad.InReg, Reg: ESP, Off: 0x12340 + 8}); row.CFA != want || why != "" {
		t.Errorf("%s %q, want CFA=esp+%d", row.Format(Arch.RegName), why, want.Off)
	}
}
