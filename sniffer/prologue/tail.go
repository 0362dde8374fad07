package prologue

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// tail answers for code of which nothing else is known, and from which straight code leads
// to a jump: where the stack is as on entry, it may jump to another function, as what a
// run-time system makes to get there does. The return address must follow a call, and the
// CFA be where the ABI has it; it is a guess nevertheless.
func (s *Sniffer) tail(q *frame.Query) (row trad.Row, ok bool) {
	a := q.Arch
	row, ok = a.ReadReturn(q.Read(q.PC, maxEpilogue), q.PC)
	if !ok || row.Flags&trad.Guess == 0 {
		return row, false
	}
	cfa, ra, ok := s.fits(q, &row)
	if !ok || !aligned(q, cfa) {
		return row, false
	}
	// A link register that has not been saved may be of a call that THIS has made.
	near := ra-q.PC < maxFunction || q.PC-ra < maxFunction
	return row, row.RA.Kind != trad.Same || !near
}
