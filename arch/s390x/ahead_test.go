package s390x

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/bounds"
	"github.com/sfwalk/sfwalk/trad"
)

func FuzzReadAhead(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s, uint16(0))
		f.Add(s, uint16(len(s)/2))
	}
	f.Fuzz(func(t *testing.T, code []byte, off uint16) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			const start = 0x1000
			pc := start + uint64(off)
			last := 0
			readAhead(code, start, pc, func(row trad.Row, calls int) bool {
				if row.Lo != pc || row.Len == 0 || row.Len > 15 || calls < last {
					t.Errorf("pc %#x: %d calls, after %d: row of [%#x,+%d)", pc, calls, last, row.Lo, row.Len)
				}
				if row.Flags&trad.Outermost == 0 && (row.CFA.Kind == trad.NotTracked || row.RA.Kind == trad.NotTracked || row.FP.Kind == trad.NotTracked || row.More == nil) {
					t.Errorf("pc %#x: row %s", pc, row.Format(Arch.RegName))
				}
				last = calls
				return true
			})
		})
	})
}

func FuzzCallTarget(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			if _, ok := callTarget(code, 0x1000); ok && !afterCall(code) {
				t.Errorf("% x is a call, and is not", code)
			}
		})
	})
}
