package sframe

import (
	"sync/atomic"

	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// mayCount reports whether a row has the CFA's offset that GCC gives in thunks: two words.
// behindThunk need not be asked about other rows.
func mayCount(q *frame.Query, row *trad.Row) bool {
	return q.Arch.ThunkBegins != nil && row.CFA.Kind == trad.InReg && row.CFA.Off == 2*int32(q.Arch.PtrSize)
}

// plainRows are the beginnings of rows, run-time addresses, that are known to be behind no thunk.
// Each has one place.
type plainRows [64]atomic.Uint64

func (p *plainRows) at(lo uint64) *atomic.Uint64 { return &p[(lo>>2^lo>>8)%uint64(len(p))] }

// behindThunk reports whether a row's function has a thunk at row or before it, and the table says
// that the CFA's offset is two words there. GCC says so of each thunk in a function, and goes on as
// if it had not said so; see cfi.Options.Thunk. A row of this table does not tell what is right:
// that is in the call frame information.
func (s *Section) behindThunk(q *frame.Query, row *trad.Row) bool {
	known := s.plain.at(row.Lo)
	if known.Load() == row.Lo {
		return false
	}
	is, sure := s.findThunk(q, row)
	if sure && !is {
		known.Store(row.Lo)
	}
	return is
}

// findThunk is behindThunk without what is known. sure is false if code cannot be read.
func (s *Section) findThunk(q *frame.Query, row *trad.Row) (is, sure bool) {
	const call, half = 5 + 2, 16 // bytes of a thunk's call with its loop; of code on both sides
	f, err := s.FindFDE(row.Lo - s.Bias)
	start, lo, off := f.Start+s.Bias, row.Lo, row.CFA.Off
	if err != nil || f.PCType == sframe.PCMask || lo-start < call {
		return false, true
	}
	last := uint32(0)
	sure = true
	for fre, err := range s.PartOf(&f).FREs(f) {
		at := start + uint64(fre.Offset)
		if err != nil || at > lo {
			break
		}
		if fre.Offset-last >= call && fre.CFA.Kind == sframe.RuleInReg && fre.CFA.Off == off {
			code := q.Read(at-half, 2*half)
			switch {
			case len(code) <= half:
				sure = false
			case q.Arch.ThunkBegins(code[:half], code[half:]):
				return true, true
			}
		}
		last = fre.Offset
	}
	return false, sure
}
