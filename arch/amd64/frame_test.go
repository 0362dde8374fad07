package amd64

import (
	"os"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
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

func TestReadFrame(t *testing.T) { processor.Builds(t, frames, builds, nil) }

// TestReadFrameWrapped: registers that some paths save, by stores, and others do not, with calls
// among them that do not return. The rows equal the rows of gcc's own table.
func TestReadFrameWrapped(t *testing.T) {
	c := processor.Compare(t, processor.Compile(t, "testdata/wrapped.s"), 0)
	t.Log(c)
	if c.Wrong+c.Rules+c.WrongEpilogue+c.Unlike > 0 || c.Sure < c.Total || c.Total < 300 {
		t.Error("something is wrong, or not known for certain")
	}
}

// TestReadFrameOfSystem: the handful of rows in libc that differ belong to setcontext, swapcontext,
// longjmp and clone, whose tables speak of another frame than the one that is running, or name
// registers as unchanged that are not.
//
// SFWALK_SOAK adds gdb, with 18,000 functions.
func TestReadFrameOfSystem(t *testing.T) {
	files := []string{"/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/bash", "/lib/x86_64-linux-gnu/libstdc++.so.6"}
	if os.Getenv("SFWALK_SOAK") != "" {
		files = append(files, "/usr/bin/gdb")
	}
	for variant, file := range files {
		t.Run(file, func(t *testing.T) {
			gdbtest.Share(t, variant)
			processor.System(t, gdbtest.File(t, file), 1000)
		})
	}
}

func TestReadFrameInside(t *testing.T) { processor.Inside(t, processor.Compile(t, frames, "-O2")) }

func TestInPrologue(t *testing.T) { processor.InPrologue(t, processor.Compile(t, frames, "-O0")) }

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
