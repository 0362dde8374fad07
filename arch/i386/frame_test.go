package i386

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/trad"
)

const frames = "../testdata/frames.c"

var builds = []string{
	"-O0",
	"-O1",
	"-O2",
	"-O3",
	"-Os",
	"-Og",
	"-O2 -fno-omit-frame-pointer",
	"-O0 -fomit-frame-pointer",
	"-O0 -fomit-frame-pointer -mno-accumulate-outgoing-args",
	"-O2 -fno-pic",
	"-O2 -mavx2",
	"-O3 -mavx2 -ftree-vectorize -mstackrealign",
	"-O2 -fstack-clash-protection",
	"-O0 -fstack-clash-protection",
	"-O2 -fstack-protector-all",
	"-O2 -fcf-protection=full",
	"-O2 -fno-jump-tables -fno-reorder-blocks",
	"-O2 -maccumulate-outgoing-args",
	"-O2 -mregparm=3",
	"-O2 -mrtd",
	"-O2 -mpreferred-stack-boundary=2",
	"-O2 -march=pentium4 -msse2 -mfpmath=sse",
	"-O2 -fno-shrink-wrap",
	"-O1 -fno-omit-frame-pointer -fstack-check",
	"-O2 -fpatchable-function-entry=4",
}

func TestReadFrame(t *testing.T) { processor.Builds(t, frames, builds, nil) }

func TestReadFrameOfSystem(t *testing.T) {
	for _, file := range []string{"/usr/i686-linux-gnu/lib/libc.so.6", "/usr/i686-linux-gnu/lib/ld-linux.so.2", "/usr/i686-linux-gnu/lib/libstdc++.so.6"} {
		processor.System(t, gdbtest.File(t, file), 1000)
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
	// xor %ebp,%ebp; pop %esi; mov %esp,%ecx; and $-16,%esp; call: _start has no return address.
	start := []byte{0x31, 0xed, 0x5e, 0x89, 0xe1, 0x83, 0xe4, 0xf0, 0xe8, 0, 1, 0, 0, 0xf4}
	if row, _, why := Machine.ReadFrame(start, 0x1000, 0x1008); why == "" {
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
