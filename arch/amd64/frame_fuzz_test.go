package amd64

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/bounds"
	"github.com/sfwalk/sfwalk/trad"
)

// Real code, as gcc 12 made it.
var fuzzSeeds = [][]byte{
	// A frame pointer, a call, leave.
	[]byte("\x55\x48\x89\xe5\x48\x83\xec\x10\x89\x7d\xfc\xe8\x00\x01\x00\x00\xc9\xc3"),
	// Pushes, an early return, pops.
	[]byte("\x48\x85\xff\x74\x1d\x41\x54\x55\x53\x48\x83\xec\x10\xe8\x00\x10\x00\x00\x48\x83\xc4\x10\x5b\x5d\x41\x5c\xc3\x66\x0f\x1f\x44\x00\x00\x31\xc0\xc3"),
	// Realigned, the arguments through r10.
	[]byte("\x4c\x8d\x54\x24\x08\x48\x83\xe4\xe0\x41\xff\x72\xf8\x55\x48\x89\xe5\x41\x52\x48\x83\xec\x78\xe8\x00\x01\x00\x00\x48\x83\xc4\x78\x41\x5a\x5d\x49\x8d\x62\xf8\xc3"),
	// A large frame, page by page.
	[]byte("\x4c\x8d\x9c\x24\x00\xf0\xfe\xff\x48\x81\xec\x00\x10\x00\x00\x48\x83\x0c\x24\x00\x4c\x39\xdc\x75\xef\x48\x81\xec\x00\x01\x00\x00\xc3"),
	// A call that does not return, then another path.
	[]byte("\x53\x85\xff\x74\x06\x50\xe8\x00\x01\x00\x00\x5b\xc3"),
	// Linkage stubs.
	[]byte("\xff\x35\xe2\x2f\x00\x00\xff\x25\xe4\x2f\x00\x00\x0f\x1f\x40\x00"),
	[]byte("\xff\x25\xe2\x2f\x00\x00\x68\x00\x00\x00\x00\xe9\xe0\xff\xff\xff"),
	[]byte("\xf3\x0f\x1e\xfa\x68\x00\x00\x00\x00\xf2\xe9\xe1\xff\xff\xff\x90"),
	// vzeroupper and a vector move before the end.
	[]byte("\xc5\xf8\x77\xc5\xfe\x6f\x06\x62\xf1\xfe\x48\x6f\x06\xc3"),
	[]byte("\xff\x94\x24\x00\x01\x00\x00"),
}

func checkRow(t *testing.T, row trad.Row, pc, start, end uint64) {
	t.Helper()
	if !row.Contains(pc) || row.Lo < start || row.Lo+uint64(row.Len) > end || row.Len == 0 || row.Len > 15 {
		t.Errorf("pc %#x in [%#x,%#x): row of [%#x,+%d)", pc, start, end, row.Lo, row.Len)
	}
	if row.CFA.Kind != trad.InReg && row.CFA.Kind != trad.SavedAt || row.RA.Kind == trad.NotTracked || row.FP.Kind == trad.NotTracked || row.More == nil {
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
			if ok && (n < 8 || n > 8+8*maxStub || n%8 != 0 || int(off) >= len(code)) {
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
		"\x55",                                 // push %rbp
		"\x0f\x84\x00\x10\x00\x00",             // branches forward
		"\x0f\x85\x00\xf0\xff\xff",             // and back
		"\x53\x74\x80\x75\x7f",                 // at every depth
		"\x50\xe8\x00\x01\x00\x00\x74\xf0",     // calls to blame
		"\x48\x83\xe4\xe0\x55\x74\x10\x41\x54", // names upon names
		"\xc3",
		"\xe8\x00\x00\x00\x00\x5b\xc3",
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
