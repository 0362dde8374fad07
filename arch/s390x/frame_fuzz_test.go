package s390x

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/bounds"
	"github.com/sfwalk/sfwalk/trad"
)

// Real code, as gcc 12 made it.
var fuzzSeeds = [][]byte{
	code(stmgR11, lay160, lgrFP, call, lmgByFP, br14),
	code(ldgr0R11, ldgr2R14, ldgr4R15, sgrR1, lgrFP, lgR14, lgdrR15, lgdrR14, lgdrR11, br14),
	// A path that does not return, then one that does.
	code(ltgrR2, "\xa7\x84\x00\x0b", stmgR11, lay160, call, br14),
	// A large frame, page by page.
	code("\xeb\xaf\xf0\x50\x00\x24\xe3\xe0\xf0\x00\xd0\x71\xe3\xf0\xf0\x00\xff\x71\xe3\x00\xff\xf8\x00\x20\xb9\x21\x00\xfe\xa7\x24\xff\xf8\xb9\x04\x00\xfe",
		"\xe3\xf0\xf2\x20\xff\x71\xeb\xaf\xfe\x30\x30\x04\x07\xfe"),
	// Taken down by a constant in memory.
	code(stmgR11, "\xc0\xd0\x00\x00\x01\x4d\xc2\xf4\x00\x2d\xc7\x60\xe3\xf0\xd0\x00\x00\x08\x1a\x2b\xeb\xbf\xf0\x58\x00\x04", br14),
	// The back chain; floating-point registers through another base; a loop.
	code("\xeb\x6f\xf0\x30\x00\x24\xb9\x04\x00\xef\xe3\xf0\xfd\xc8\xff\x71\xa7\xeb\xff\xd0\x60\x80\xe0\x00\xb9\x04\x00\x1f\xe3\x10\xf0\x00\x00\x24\xa7\xb7\xff\xf8\xd2\xff\x20\x01\x20\x00"),
	// Linkage stubs.
	code("\xc0\x10\x00\x00\x0d\x1c\xe3\x10\x10\x00\x00\x04\x07\xf1\x0d\x10\xe3\x10\x10\x0c\x00\x14\xc0\xf4\xff\xff\xff\xe5\x00\x00\x00\x00"),
	code("\xe3\x10\xf0\x38\x00\x24\xc0\x10\x00\x00\x0d\x09\xd2\x07\xf0\x30\x10\x08\xe3\x10\x10\x10\x00\x04\x07\xf1\x07\x00\x07\x00\x07\x00"),
	// Of the long tail.
	code("\xb2\x5e\x00\x12\xb9\x87\x00\x2c\xb3\x4a\x00\x80\xe7\x80\x00\x00\x08\x44\xed\x80\x10\x00\x00\x1a\x98\x6f\xf0\x18\xa8\x24\x00\x00"),
}

func checkRow(t *testing.T, row trad.Row, pc, start, end uint64) {
	t.Helper()
	if !row.Contains(pc) || row.Lo < start || row.Lo+uint64(row.Len) > end || row.Len == 0 || row.Len > 6 {
		t.Errorf("pc %#x in [%#x,%#x): row of [%#x,+%d)", pc, start, end, row.Lo, row.Len)
	}
	if row.CFA.Kind != trad.InReg && row.CFA.Kind != trad.ValExpr || row.RA.Kind == trad.NotTracked || row.FP.Kind == trad.NotTracked || row.More == nil {
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
		f.Add(s, uint16(len(s)-1))
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
		for i := range s {
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
		f.Add(s, uint8(6))
	}
	f.Fuzz(func(t *testing.T, code []byte, off uint8) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			n, ok := stubFrame(code, 0x1000, 0x1000+uint64(off))
			if ok && (n != 160 || int(off) >= len(code)) {
				t.Errorf("%d at offset %d of %d", n, off, len(code))
			}
		})
	})
}

func FuzzAfterCall(f *testing.F) {
	for _, s := range fuzzSeeds {
		for i := range s {
			f.Add(s[:i])
		}
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			got := afterCall(code)
			// Eight bytes are enough, and more change nothing.
			if tail := code[max(0, len(code)-8):]; got != afterCall(tail) {
				t.Errorf("% x: %v, its last eight bytes say otherwise", code, got)
			}
		})
	})
}

// TestHostileCode: the bounds hold on code made to be slow.
func TestHostileCode(t *testing.T) {
	const n = 256 << 10
	fill := func(unit string) []byte {
		code := make([]byte, 0, n)
		for len(code) < n {
			code = append(code, unit...)
		}
		return code
	}
	for _, unit := range []string{
		stmgR11,
		"\xa7\x84\x08\x00", // branches forward
		"\xa7\x84\xf8\x00", // and back
		"\xeb\x6f\xf0\x30\x00\x24\xa7\x84\x80\x00\xa7\x74\x00\x7f\xa7\xfb\xff\xf8", // at every depth
		lay160 + call + "\xa7\x84\xff\xf0",                                         // calls to blame
		sgrR1 + stmgR11 + "\xa7\x84\x00\x10" + "\x60\x80\xf0\x10",                  // names upon names
		br14,
		"\xa7\xe5\x00\x02" + br14,
		"\x0d\xe1" + br14 + "\xa7\x84\x00\x01",
		"\xe7\x80\x00\x00\x08\x44", // only the library knows it
		"\x00",
		"\xff",
	} {
		code := fill(unit)
		a := Machine.Analyse(code[:64<<10], nil, false)
		steps, insts, guesses := a.Cost()
		if steps > 1<<18+1 || insts > 1<<16 || guesses > 1<<16 {
			t.Errorf("% x: %d steps, %d instructions", unit, steps, insts)
		}
		t.Logf("% x: %d steps, %d instructions, %d guesses", unit, steps, insts, guesses)
		if row, _, why := Machine.ReadFrame(code, 0x1000, 0x1000+n-64); why == "" {
			checkRow(t, row, 0x1000+n-64, 0x1000, 0x1000+uint64(len(code)))
		}
	}
}
