package prologue

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// tail answers if nothing else is known about the code, straight code leads from PC to a jump, and
// the stack is as on entry. The code may be a trampoline that a run-time system has made, and that
// jumps to a function. The return address must follow a call, and the CFA must be aligned as the
// ABI requires. The row is a guess nevertheless.
func (s *Sniffer) tail(q *frame.Query) (row trad.Row, ok bool) {
	a := q.Arch
	row, out := a.ReadEpilogue(q.Read(q.PC, maxEpilogue), q.PC)
	if out&arch.ByJump == 0 {
		return row, false
	}
	row.Flags |= trad.Guess
	cfa, ra, ok := s.fits(q, &row)
	if !ok || !aligned(q, cfa) {
		return row, false
	}
	// A link register that is not saved may come from a call that THIS has made.
	near := ra-q.PC < maxFunction || q.PC-ra < maxFunction
	return row, row.RA.Kind != trad.Same || !near
}
