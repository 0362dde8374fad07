package arm64

import "testing"

// Real code, as gcc 12 made it.
var fuzzSeeds = [][]byte{
	insns(paciasp, stpFP, movFP, strX19, movX19X0, blNext, ldrX19, ldpFP, autiasp, ret),
	// A large frame, page by page: sub x12, sp, #0x11000; sub sp, sp, #0x1000; str xzr, [sp,
	// #1024]; cmp sp, x12; b.ne.
	insns(stpFP, 0xd14047ec, 0xd14007ff, 0xf90203ff, 0xeb2c63ff, 0x54ffffa1, nop, 0x914047ff, ldpFP, ret),
	// mov x16, #0x4b50; movk x16, #0x4c, lsl #16; sub sp, sp, x16; add sp, sp, x16.
	insns(0xd2896a10, 0xf2a00990, 0xcb3063ff, stpFP, nop, ldpFP, 0x8b3063ff, ret),
	// alloca: sub sp, sp, x0; mov sp, x29.
	insns(stpFP, movFP, 0xcb2063ff, blNext, 0x910003bf, ldpFP, ret),
	// Linkage stubs.
	insns(0xd503245f, 0x90000110, 0xf947fa11, 0x913fc210, 0xd61f0220, nop),
	insns(0xa9bf7bf0, 0x90000110, 0xf947fe11, 0x913fe210, 0xd61f0220, nop, nop, nop),
	// A jump table, what does not return, traps.
	insns(0x10000060, 0x8b21c800, 0xd61f0000, blNext, 0xd4207d00, stpFP, ldpFP, ret),
	// Pairs of vectors, atomics, tags, SVE.
	insns(0x6dbd27e8, 0x6cc327e8, 0xf8210002, 0xd9bf0fff, 0x04bf5020, 0x043f57ff, ret),
}

func FuzzReadFrame(f *testing.F)    { processor.FuzzReadFrame(f, fuzzSeeds) }
func FuzzReadSplit(f *testing.F)    { processor.FuzzReadSplit(f, fuzzSeeds) }
func FuzzReadEpilogue(f *testing.F) { processor.FuzzReadEpilogue(f, fuzzSeeds) }
func FuzzInEpilogue(f *testing.F)   { processor.FuzzInEpilogue(f, fuzzSeeds) }
func FuzzSkipPrologue(f *testing.F) { processor.FuzzSkipPrologue(f, fuzzSeeds) }
func FuzzReferences(f *testing.F)   { processor.FuzzReferences(f, fuzzSeeds) }

func FuzzStubFrame(f *testing.F) {
	processor.FuzzStubFrame(f, fuzzSeeds, func(fromSP int32) bool { return fromSP == 0 || fromSP == 16 })
}

func FuzzAfterCall(f *testing.F) { processor.FuzzAfterCall(f, fuzzSeeds, size) }

// TestHostileCode: the bounds hold on code made to be slow.
func TestHostileCode(t *testing.T) {
	processor.Hostile(t,
		string(insns(stpFP)), string(insns(0x54080001, stpFP)), string(insns(0x54f80001, stpFP)),
		string(insns(0x54080001, 0x54f80000, subSP, 0x94000010)), string(insns(subSP, blNext, 0x54ffff81, strX19)),
		string(insns(0xcb3063ff, stpFP, 0x54000201, strX19)), string(insns(ret)), string(insns(0)), string(insns(0xffffffff)), string(insns(0x14000001)),
	)
}

func BenchmarkReadFrame(b *testing.B) {
	code := fuzzSeeds[0]
	b.ReportAllocs()
	for b.Loop() {
		if _, _, why := Machine.ReadFrame(code, 0x1000, 0x1014); why != "" {
			b.Fatal(why)
		}
	}
}
