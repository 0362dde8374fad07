package sframe

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/sframe"
	"github.com/sfwalk/sfwalk/trad"
)

// mayCount reports whether a row has the CFA's offset that GCC gives in thunks: two words. behindThunk, which
// allocates, need not be asked about other rows.
func mayCount(q *frame.Query, row *trad.Row) bool {
	return q.Arch.ThunkBegins != nil && row.CFA.Kind == trad.InReg && row.CFA.Off == 2*int32(q.Arch.PtrSize)
}

// behindThunk reports whether a row's function has a thunk at row or before it, and the table says that the CFA's
// offset is two words there. GCC says so of each thunk in a function, and goes on as if it had not said so; see
// cfi.Options.Thunk. A row of this table does not tell what is right: that is in the call frame information.
func (s *Section) behindThunk(q *frame.Query, row *trad.Row) bool {
	const call, half = 5 + 2, 16 // bytes of a thunk's call with its loop; of code on both sides
	f, err := s.FindFDE(row.Lo - s.Bias)
	if err != nil || f.PCType == sframe.PCMask {
		return false
	}
	last, start, lo, off := uint32(0), f.Start+s.Bias, row.Lo, row.CFA.Off
	for fre, err := range s.partOf(&f).FREs(f) {
		at := start + uint64(fre.Offset)
		if err != nil || at > lo {
			return false
		}
		if fre.Offset-last >= call && fre.CFA.Kind == sframe.RuleInReg && fre.CFA.Off == off {
			code := q.Read(at-half, 2*half)
			if len(code) > half && q.Arch.ThunkBegins(code[:half], code[half:]) {
				return true
			}
		}
		last = fre.Offset
	}
	return false
}
