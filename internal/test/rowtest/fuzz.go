package rowtest

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/trad"
)

// check checks a row as every row must be that is read from code at [start, end).
func (p *Processor) check(t *testing.T, row trad.Row, pc, start, end uint64) {
	t.Helper()
	if !row.Contains(pc) || row.Lo < start || row.Lo+uint64(row.Len) > end || row.Len == 0 || row.Len > uint32(p.Machine.MaxLen) {
		t.Errorf("pc %#x in [%#x,%#x): row of [%#x,+%d)", pc, start, end, row.Lo, row.Len)
	}
	cfa := row.CFA.Kind == trad.InReg || row.CFA.Kind == trad.SavedAt || row.CFA.Kind == trad.ValExpr
	if !cfa || row.RA.Kind == trad.NotTracked || row.FP.Kind == trad.NotTracked && p.Machine.Lost != trad.NotTracked || row.Others == nil {
		t.Errorf("pc %#x: row %s", pc, row.Format(p.Arch.RegName))
	}
	for i := 1; i < len(row.Others.Regs); i++ {
		if row.Others.Regs[i-1].Reg >= row.Others.Regs[i].Reg {
			t.Errorf("registers out of order: %v", row.Others.Regs)
		}
	}
}

// align is the distance of places in the code at which fuzz tests begin.
func (p *Processor) align() int { return int(p.Machine.Align) }

// FuzzReadFrame fuzzes Machine.ReadFrame.
func (p *Processor) FuzzReadFrame(f *testing.F, seeds [][]byte) {
	for _, s := range seeds {
		f.Add(s, uint16(len(s)-p.align()))
	}
	f.Fuzz(func(t *testing.T, code []byte, off uint16) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			const start = 0x1000
			pc := start + uint64(off)
			if row, _, why := p.Machine.ReadFrame(code, start, pc); why == "" {
				p.check(t, row, pc, start, start+uint64(len(code)))
			}
			p.Machine.JumpsAway(code, start)
			p.Machine.GoesOn(code, start, pc, func(uint64) bool { return true })
			if row, align, _ := p.Machine.ReadRounded(code, start, pc); align != 0 {
				p.check(t, row, pc, start, start+uint64(len(code)))
			}
		})
	})
}

// FuzzReadSplit fuzzes Machine.ReadSplit: it puts the second half of the code elsewhere.
func (p *Processor) FuzzReadSplit(f *testing.F, seeds [][]byte) {
	for _, s := range seeds {
		f.Add(s, uint16(len(s)/2), int32(1<<20))
	}
	f.Fuzz(func(t *testing.T, code []byte, off uint16, apart int32) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			const start = 1 << 40
			half := len(code) / 2 / p.align() * p.align()
			elsewhere := start + uint64(int64(apart))
			split := arch.NewSplitFunction(code[:half], start, code[half:], elsewhere)
			pc := elsewhere + uint64(off)
			if row, _, why := p.Machine.ReadSplit(split, pc); why == "" && row.Lo-start >= uint64(half) {
				p.check(t, row, pc, elsewhere, elsewhere+uint64(len(code)-half))
			}
		})
	})
}

// FuzzReadEpilogue fuzzes Machine.ReadEpilogue.
func (p *Processor) FuzzReadEpilogue(f *testing.F, seeds [][]byte) {
	for _, s := range seeds {
		for i := 0; i < len(s); i += p.align() {
			f.Add(s[i:])
		}
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			row, out := p.Machine.ReadEpilogue(code, 0x1000)
			switch {
			case out&arch.Leaves != 0:
				p.check(t, row, 0x1000, 0x1000, 0x1000+uint64(len(code)))
			case out != 0 || row != trad.Row{}:
				t.Errorf("%x: %b, %s, for code that does not leave", code, out, row.Format(p.Arch.RegName))
			}
		})
	})
}

// FuzzInEpilogue fuzzes Machine.InEpilogue, which must say yes wherever ReadEpilogue finds that an
// epilogue begins.
func (p *Processor) FuzzInEpilogue(f *testing.F, seeds [][]byte) {
	for _, s := range seeds {
		f.Add(s, uint16(len(s)-1))
	}
	f.Fuzz(func(t *testing.T, code []byte, off uint16) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			const start = 0x1000
			got, want := p.Machine.InEpilogue(code, start, start+uint64(off)), false
			if int(off) < len(code) {
				_, out := p.Machine.ReadEpilogue(code[off:], start+uint64(off))
				want = out&arch.TearsDown != 0
			}
			if want && !got || got && int(off) >= len(code) {
				t.Errorf("%v at %#x of %d bytes, want %v", got, off, len(code), want)
			}
		})
	})
}

// FuzzSkipPrologue fuzzes Machine.SkipPrologue.
func (p *Processor) FuzzSkipPrologue(f *testing.F, seeds [][]byte) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			skips := []func([]byte, uint64) uint64{p.Machine.SkipPrologue}
			if p.Arch.AnalyzePrologue != nil {
				skips = append(skips, p.Arch.AnalyzePrologue)
			}
			for _, skip := range skips {
				if end := skip(code, 0x1000); end < 0x1000 || end > 0x1000+uint64(len(code)) {
					t.Errorf("the end is %#x, of %d bytes", end, len(code))
				}
			}
		})
	})
}

// FuzzReferences fuzzes Arch.References, in which each micro-operation refers to an address at
// most, and Machine.LoadsSP.
func (p *Processor) FuzzReferences(f *testing.F, seeds [][]byte) {
	const most = 32 // micro-operations of an instruction
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			p.Machine.LoadsSP(code)
			if list := p.Arch.References(code, 0x1000); len(list) > most*(len(code)/p.align()+1) {
				t.Errorf("%d bytes refer to %d addresses", len(code), len(list))
			}
		})
	})
}

// FuzzStubFrame fuzzes Arch.StubFrame, whose distances must be as sound allows, and Arch.StubSlot;
// and Arch.StubPath, Arch.ReturnPopped, ReturnPushed, ReturnReplaced and Arch.Thunk, if the
// processor has them.
func (p *Processor) FuzzStubFrame(f *testing.F, seeds [][]byte, sound func(fromSP int32) bool) {
	for _, s := range seeds {
		f.Add(s, uint8(0))
		f.Add(s, uint8(8))
	}
	f.Fuzz(func(t *testing.T, code []byte, off uint8) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			n, ok := p.Arch.StubFrame(code, 0x1000, 0x1000+uint64(off))
			if ok && (!sound(n) || int(off) >= len(code)) {
				t.Errorf("%d at offset %d of %d", n, off, len(code))
			}
			if _, length, ok := p.Arch.StubSlot(code, 0x1000, 0x3000); ok && (length <= 0 || length > len(code)) {
				t.Errorf("a stub of %d bytes in %d", length, len(code))
			}
			if a := p.Arch; a.StubPath != nil {
				read := func(addr uint64) []byte {
					at := min(addr-0x1000, uint64(len(code)))
					return code[at:min(at+16, uint64(len(code)))]
				}
				if n, ok := a.StubPath(0x1000, 0x1000+uint64(len(code)), 0x1000+uint64(off), read); ok && n < int32(a.PtrSize) {
					t.Errorf("%d at offset %d of a path", n, off)
				}
				at := min(int(off), len(code))
				a.ReturnPopped(code[at:], func() []byte { return code[:at] })
				if pushes, returns := a.ReturnPushed(code[at:]); returns && !pushes {
					t.Errorf("%x: at %#x, a return to an address that is not pushed", code, at)
				}
				a.ReturnReplaced(code[:at])
				_, _, in := a.Thunk(code, at)
				if begins := a.ThunkBegins(code[:at], code[at:]); in && !begins && code[at] != 0xe8 && code[at] != 0xc3 {
					t.Errorf("%x: a thunk is at %#x, where none begins", code, at)
				}
			}
		})
	})
}

// FuzzAfterCall fuzzes Arch.AfterCall: no more than the last bytes of the code, as many as the
// longest call has, may matter.
func (p *Processor) FuzzAfterCall(f *testing.F, seeds [][]byte, longest int) {
	for _, s := range seeds {
		for i := 0; i <= len(s); i += p.align() {
			f.Add(s[:i])
		}
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		bounds.Hold(t, 64<<10, func() {
			got := p.Arch.AfterCall(code)
			if tail := code[max(0, len(code)-longest):]; got != p.Arch.AfterCall(tail) {
				t.Errorf("% x: %v, its last %d bytes say otherwise", code, got, len(tail))
			}
		})
	})
}

// Hostile checks the bounds on code that is made to be slow: each unit over and over.
func (p *Processor) Hostile(t *testing.T, units ...string) {
	const n = 256 << 10
	for _, unit := range units {
		var code []byte
		for len(code) < n {
			code = append(code, unit...)
		}
		a := p.Machine.Analyse(code[:64<<10], nil, false)
		if steps, insts, guesses := a.Cost(); steps > 1<<18+1 || insts > 1<<16 || guesses > 1<<16 {
			t.Errorf("%x: %d steps, %d instructions", unit, steps, insts)
		}
		if row, _, why := p.Machine.ReadFrame(code, 0x1000, 0x1000+n-64); why == "" {
			p.check(t, row, 0x1000+n-64, 0x1000, 0x1000+uint64(len(code)))
		}
	}
}
