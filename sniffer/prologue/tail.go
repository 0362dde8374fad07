package prologue

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// tail answers for code that nothing else is known of, if straight code leads from PC to a jump
// and the stack is as on entry. It may be a trampoline that a run-time system has made, which
// jumps to a function. The return address must follow a call, and the CFA be aligned as the
// ABI has it. The row is a guess nevertheless.
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
	// If the link register is not saved, it may be of a call that THIS has made.
	near := ra-q.PC < maxFunction || q.PC-ra < maxFunction
	return row, row.RA.Kind != trad.Same || !near
}
