package prologue

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// A lead says what kind of return address a row leads to. It is evidence for the row, or against
// it.
type lead uint8

const (
	nowhere lead = iota // it is no code, or no function can return there
	untold              // it is 0: the stack may end here, or the row is wrong
	caller              // a call stands before it, or no call is expected there, or it cannot be read
)

// leads returns where a row leads from THIS frame.
func leads(q *frame.Query, row *trad.Row) lead {
	if row.Flags&trad.Outermost != 0 {
		return caller
	}
	c, ok := q.Apply(row)
	switch {
	case ok && c.PC.Bits == 0:
		return untold
	case !ok && row.RA.Kind == trad.InReg && !q.Innermost() && !q.Arch.CalleeSaved.Has(row.RA.Reg):
		return nowhere // the call has changed the register
	case !ok || q.MayReturnTo(c.PC.Bits):
		return caller
	}
	return nowhere
}

// followsCall reports whether a call stands before pc, which is code, or that cannot be told.
func followsCall(q *frame.Query, pc uint64) bool {
	return q.Modules.IsCode(pc-1) && q.MayFollowCall(pc)
}

// entered returns the beginning of the function that the call before the return address ra calls,
// or 0 if the call does not tell. ok is false then, and if PC is before that function, or too far
// away to be in it.
func entered(q *frame.Query, ra uint64) (start uint64, ok bool) {
	if start, ok = q.CallTarget(ra); !ok {
		return 0, false
	}
	return start, q.AddressInBlock >= start && q.AddressInBlock-start <= maxFunction
}

// maxFrame bounds the frame of a function that no table describes, in bytes.
const maxFrame = 1 << 24

// fits returns the CFA and the return address that a row gives THIS frame. ok is true if the row
// leads outward on the stack, and to a good return address. A function may return there (see
// frame.Query.MayReturnTo), or it is in code that belongs to no file, and the caller's frame record
// leads on (see Sniffer.Records).
func (s *Sniffer) fits(q *frame.Query, row *trad.Row) (cfa, ra uint64, ok bool) {
	a := q.Arch
	if !q.Innermost() && a.RA != a.PC && row.RA.Kind == trad.Same {
		return 0, 0, false // the call that THIS has made has overwritten the link register
	}
	sp := q.This.Register(a.SP)
	c, ok := q.Apply(row)
	if !ok || !sp.Known() {
		return 0, 0, false
	}
	prev := c.CFA + uint64(a.SPFromCFA)
	pushed := a.RAOffset != 0 && row.RA.Kind == trad.Saved
	if a.InnerThan(prev, sp.Bits) || pushed && prev == sp.Bits || prev-sp.Bits > maxFrame {
		return 0, 0, false
	}
	if ra = c.PC.Bits; q.OnStack(ra) {
		return c.CFA, ra, false
	}
	ok = q.MayReturnTo(ra) || s.Records != nil && q.Modules.IsCode(ra-1) && q.Modules.Find(ra-1) == nil &&
		c.FP.Known() && s.Records(q, c.FP.Bits, prev)
	return c.CFA, ra, ok
}

// aligned reports whether a CFA is aligned as the ABI requires it of a caller's stack pointer at a
// call.
func aligned(q *frame.Query, cfa uint64) bool {
	return q.Arch.FrameAlign(cfa) == cfa
}
