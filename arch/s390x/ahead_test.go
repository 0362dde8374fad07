package s390x

import (
	"slices"
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
			kept, _ := search.Preserves(code, start, start, pc)
			for _, r := range kept {
				if Arch.CalleeSaved.Has(r) || r == Arch.SP || r == Arch.RA {
					t.Errorf("pc %#x: %s is kept", pc, Arch.RegName(r))
				}
			}
			last := 0
			away := func(addr uint64) ([]byte, uint64) { // the same, over and over
				at := addr % uint64(len(code))
				return code[at:], addr
			}
			search.ReadAhead(code, start, pc, away, func(row trad.Row, calls int) bool {
				if row.Lo != pc || row.Len == 0 || row.Len > 15 || calls < last {
					t.Errorf("pc %#x: %d calls, after %d: row of [%#x,+%d)", pc, calls, last, row.Lo, row.Len)
				}
				if row.Flags&trad.Outermost == 0 && (row.CFA.Kind == trad.NotTracked || row.RA.Kind == trad.NotTracked || row.FP.Kind == trad.NotTracked || row.Others == nil) {
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

// What the ways out of pieces of code say, by the manual (z/Architecture Principles of Operation, chapter 7).
func TestReadAhead(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		want       []string
	}{
		{"kept by a function that is called", // brasl %r14,1f; lgr %r15,%r2; lg %r14,112(%r15); br %r14; 1: lhi %r3,0; br %r14
			"\xc0\xe5\x00\x00\x00\x09\xb9\x04\x00\xf2\xe3\xe0\xf0\x70\x00\x04\x07\xfe\xa7\x38\x00\x00\x07\xfe",
			[]string{"CFA=r2+160 RA=[CFA-48] FP=same"}},
		{"changed by a function that is called", // 1: lhi %r2,0; br %r14
			"\xc0\xe5\x00\x00\x00\x09\xb9\x04\x00\xf2\xe3\xe0\xf0\x70\x00\x04\x07\xfe\xa7\x28\x00\x00\x07\xfe", nil},
		{"changed by a function that nobody knows", // basr %r14,%r1; lgr %r15,%r2; lg %r14,112(%r15); br %r14
			"\x0d\xe1\xb9\x04\x00\xf2\xe3\xe0\xf0\x70\x00\x04\x07\xfe", nil},
	} {
		var got []string
		search.ReadAhead([]byte(tt.code), 0x1000, 0x1000, nil, func(row trad.Row, _ int) bool {
			got = append(got, row.Format(Arch.RegName))
			return true
		})
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What the ways out say that a jump leads to another place of, by the manual (the z/Architecture Principles of Operation, chapter 7: BRCL, LMG, BCR).
func TestReadAway(t *testing.T) {
	for _, tt := range []struct {
		name, code, away string
		want             []string
	}{
		{"one way out for many", "\xc0\xf4\x00\x00\x10\x00", "\xeb\xef\xf1\x10\x00\x04\x07\xfe", // jg away; away: lmg r14,r15,272(r15); br r14
			[]string{"CFA=r15+160 RA=same FP=same guess", "CFA=*(r15+280)+160 RA=[r15+272] FP=same"}},
	} {
		var got []string
		away := func(addr uint64) ([]byte, uint64) {
			if addr != 0x3000 {
				t.Errorf("%s: code at %#x is asked for", tt.name, addr)
			}
			return []byte(tt.away), 0x3000
		}
		search.ReadAhead([]byte(tt.code), 0x1000, 0x1000, away, func(row trad.Row, _ int) bool {
			got = append(got, row.Format(Arch.RegName))
			return true
		})
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
