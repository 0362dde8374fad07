package arm64

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/bounds"
	"github.com/sfwalk/sfwalk/trad"
)

// Real code, as gcc 12 made it.
var fuzzSeeds = [][]byte{
	insns(paciasp, stpFP, movFP, strX19, movX19X0, blNext, ldrX19, ldpFP, autiasp, ret),
	// A large frame, page by page: sub x12, sp, #0x11000; sub sp, sp, #0x1000; str xzr, [sp, #1024]; cmp sp, x12; b.ne.
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

func checkRow(t *testing.T, row trad.Row, pc, start, end uint64) {
	t.Helper()
	if !row.Contains(pc) || row.Lo < start || row.Lo+uint64(row.Len) > end || row.Len != size {
		t.Errorf("pc %#x in [%#x,%#x): row of [%#x,+%d)", pc, start, end, row.Lo, row.Len)
	}
	if row.CFA.Kind != trad.InReg || row.RA.Kind == trad.NotTracked || row.More == nil {
		t.Errorf("pc %#x: row %s", pc, row.Format(Arch.RegName))
	}
	for i := 1; i < len(row.More.Regs); i++ {
		if row.More.Regs[i-1].Reg >= row.More.Regs[i].Reg {
			t.Errorf("registers out of order: %v", row.More.Regs)
		}
	}
}

func FuzzReadFrame(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s, uint16(len(s)-size))
	}
	f.Fuzz(func(t *testing.T, code []byte, off uint16) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			const start = 0x1000
			pc := start + uint64(off)
			if row, _, why := Machine.ReadFrame(code, start, pc); why == "" {
				checkRow(t, row, pc, start, start+uint64(len(code)))
			}
		})
	})
}

// FuzzReadSplit puts the second half of the code elsewhere.
func FuzzReadSplit(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s, uint16(len(s)/2), int32(1<<20))
	}
	f.Fuzz(func(t *testing.T, code []byte, off uint16, apart int32) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			const start = 1 << 40
			half := len(code) / 2 &^ 3
			elsewhere := start + uint64(int64(apart))
			split := arch.NewSplit(code[:half], start, code[half:], elsewhere)
			pc := elsewhere + uint64(off)
			if row, _, why := Machine.ReadSplit(split, pc); why == "" && row.Lo-start >= uint64(half) {
				checkRow(t, row, pc, elsewhere, elsewhere+uint64(len(code)-half))
			}
		})
	})
}

func FuzzReadEpilogue(f *testing.F) {
	for _, s := range fuzzSeeds {
		for i := 0; i < len(s); i += size {
			f.Add(s[i:])
		}
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			row, ok := Machine.ReadEpilogue(code, 0x1000)
			if after, also := Machine.ReadReturn(code, 0x1000); ok && (!also || after.CFA != row.CFA || after.RA != row.RA) {
				t.Fatalf("%x: an epilogue %s, and on the way to a return %s", code, row.Format(Arch.RegName), after.Format(Arch.RegName))
			}
			if ok {
				checkRow(t, row, 0x1000, 0x1000, 0x1000+uint64(len(code)))
			}
		})
	})
}

func FuzzSkipPrologue(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			if end := Machine.SkipPrologue(code, 0x1000); end < 0x1000 || end > 0x1000+uint64(len(code)) {
				t.Errorf("the end is %#x, of %d bytes", end, len(code))
			}
		})
	})
}

func FuzzStubFrame(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s, uint8(0))
		f.Add(s, uint8(8))
	}
	f.Fuzz(func(t *testing.T, code []byte, off uint8) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			n, ok := stubFrame(code, 0x1000, 0x1000+uint64(off))
			if ok && (n != 0 && n != 16 || int(off) >= len(code)) {
				t.Errorf("%d at offset %d of %d", n, off, len(code))
			}
		})
	})
}

func FuzzAfterCall(f *testing.F) {
	for _, s := range fuzzSeeds {
		for i := 0; i <= len(s); i += size {
			f.Add(s[:i])
		}
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		bounds.Hold(t, 64<<10, func() {
			got := afterCall(code)
			if tail := code[max(0, len(code)-size):]; got != afterCall(tail) {
				t.Errorf("% x: %v, its last instruction says otherwise", code, got)
			}
		})
	})
}

// TestHostileCode: the bounds hold on code made to be slow.
func TestHostileCode(t *testing.T) {
	const n = 256 << 10
	for _, unit := range [][]uint32{
		{stpFP}, {0x54080001, stpFP}, {0x54f80001, stpFP}, {0x54080001, 0x54f80000, subSP, 0x94000010},
		{subSP, blNext, 0x54ffff81, strX19}, {0xcb3063ff, stpFP, 0x54000201, strX19}, {ret}, {0}, {0xffffffff}, {0x14000001},
	} {
		var code []byte
		for len(code) < n {
			code = append(code, insns(unit...)...)
		}
		a := Machine.Analyse(code[:64<<10], nil, false)
		if steps, insts, guesses := a.Cost(); steps > 1<<18+1 || insts > 1<<16 || guesses > 1<<16 {
			t.Errorf("%x: %d steps, %d instructions", unit, steps, insts)
		}
		if row, _, why := Machine.ReadFrame(code, 0x1000, 0x1000+n-64); why == "" {
			checkRow(t, row, 0x1000+n-64, 0x1000, 0x1000+uint64(len(code)))
		}
	}
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
