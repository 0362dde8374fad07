package rowtest

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/trad"
)

// ReadAhead demands the rows of the ways out of code at 0x1000, from an offset. away, if any, is
// the only code elsewhere, at 0x3000.
func (p *Processor) ReadAhead(t *testing.T, name, code string, off uint64, away *string, want []string) {
	t.Helper()
	var elsewhere func(addr uint64) ([]byte, uint64)
	if away != nil {
		elsewhere = func(addr uint64) ([]byte, uint64) {
			if addr != 0x3000 {
				t.Errorf("%s: code at %#x is asked for", name, addr)
			}
			return []byte(*away), 0x3000
		}
	}
	var got []string
	p.Arch.ReadAhead([]byte(code), 0x1000, 0x1000+off, elsewhere, func(row trad.Row, _ int) bool {
		got = append(got, row.Format(p.Arch.RegName))
		return true
	})
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", name, got, want)
	}
}

// FuzzReadAhead fuzzes Arch.ReadAhead, Arch.FindsFrame and Arch.Preserves: rows are of one
// instruction, and whole, and rows of fewer calls come first.
func (p *Processor) FuzzReadAhead(f *testing.F, seeds [][]byte) {
	for _, s := range seeds {
		f.Add(s, uint16(0))
		f.Add(s, uint16(len(s)/2))
	}
	f.Fuzz(func(t *testing.T, code []byte, off uint16) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			const start = 0x1000
			pc := start + uint64(off)
			kept, _ := p.Arch.Preserves(code, start, start, pc)
			for _, r := range kept {
				if p.Arch.CalleeSaved.Has(r) || r == p.Arch.SP || r == p.Arch.RA {
					t.Errorf("pc %#x: %s is kept", pc, p.Arch.RegName(r))
				}
			}
			last := 0
			away := func(addr uint64) ([]byte, uint64) { // the same, over and over
				at := addr % uint64(len(code))
				return code[at:], addr
			}
			if p.Arch.FindsFrame != nil {
				if _, steps := p.Arch.FindsFrame(code, start, pc, away); steps > 1<<10 {
					t.Errorf("pc %#x: %d instructions were followed", pc, steps)
				}
			}
			p.Arch.ReadAhead(code, start, pc, away, func(row trad.Row, calls int) bool {
				if row.Lo != pc || row.Len == 0 || row.Len > 15 || calls < last {
					t.Errorf("pc %#x: %d calls, after %d: row of [%#x,+%d)", pc, calls, last, row.Lo, row.Len)
				}
				if row.Flags&trad.Outermost == 0 && (row.CFA.Kind == trad.NotTracked || row.RA.Kind == trad.NotTracked || row.FP.Kind == trad.NotTracked || row.Others == nil) {
					t.Errorf("pc %#x: row %s", pc, row.Format(p.Arch.RegName))
				}
				last = calls
				return true
			})
		})
	})
}

// FuzzCallTarget fuzzes Arch.CallTarget: only a call has a target.
func (p *Processor) FuzzCallTarget(f *testing.F, seeds [][]byte) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			if _, ok := p.Arch.CallTarget(code, 0x1000); ok && !p.Arch.AfterCall(code) {
				t.Errorf("% x is a call, and is not", code)
			}
		})
	})
}
