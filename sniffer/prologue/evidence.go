package prologue

import (
	"bytes"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// A lead is what a row's return address is worth as evidence for the row.
type lead uint8

const (
	nowhere lead = iota // it is no code, or nothing can have returned there
	untold              // it is 0: who has made the frame must say what that means
	caller              // a call stands before it, or it is where no call is expected, or it cannot be read
)

// leads tells where a row leads from THIS frame.
func leads(q *frame.Query, row *trad.Row) lead {
	if row.Flags&trad.Outermost != 0 {
		return caller
	}
	c, ok := q.Apply(row)
	switch {
	case ok && c.PC.Bits == 0:
		return untold
	case !ok || returnsTo(q, c.PC.Bits):
		return caller
	}
	return nowhere
}

// returnsTo reports whether a function may return to pc: it is code, and a call stands
// before it, or a signal's trampoline, or the beginning of a function, which run-time
// systems plant as the outermost return address, stands there.
func returnsTo(q *frame.Query, pc uint64) bool {
	if !q.Modules.IsCode(pc-1) && !q.Modules.IsCode(pc) {
		return false
	}
	code := q.Read(pc-arch.MaxCall, arch.MaxCall)
	if len(code) < arch.MaxCall || q.Arch.AfterCall == nil || q.Arch.AfterCall(code) {
		return true
	}
	if q.FunctionBegins(pc) {
		return true
	}
	code = q.Read(pc, maxInstruction)
	for i := range q.Arch.Trampolines {
		if bytes.HasPrefix(code, q.Arch.Trampolines[i].Code) {
			return true
		}
	}
	return false
}

// entered returns the beginning of the function that was called where ra is the return
// address, 0 where the call does not tell; ok is false where PC is too far from there to be
// in that function.
func entered(q *frame.Query, ra uint64) (start uint64, ok bool) {
	code := q.Read(ra-arch.MaxCall, arch.MaxCall)
	if len(code) < arch.MaxCall || q.Arch.CallTarget == nil {
		return 0, false
	}
	if start, ok = q.Arch.CallTarget(code, ra); !ok {
		return 0, false
	}
	return start, q.AddressInBlock >= start && q.AddressInBlock-start <= maxFunction
}

// maxFrame bounds the frame of a function that no table describes, in bytes.
const maxFrame = 1 << 24

// fits returns where a row leads from THIS frame, if that is outward on the stack to what
// a function may return to: a call stands before it, or it is code that belongs to no file
// and the caller's frame record is good.
func (s *Sniffer) fits(q *frame.Query, row *trad.Row) (cfa, ra uint64, ok bool) {
	a := q.Arch
	if !q.Innermost() && a.RA != a.PC && row.RA.Kind == trad.Same {
		return 0, 0, false // what THIS has called has put its own there
	}
	sp := q.This.Register(a.SP)
	c, ok := q.Apply(row)
	if !ok || !sp.Known() {
		return 0, 0, false
	}
	prev := c.CFA + uint64(a.SPFromCFA)
	if a.InnerThan(prev, sp.Bits) || a.RAOffset != 0 && prev == sp.Bits || prev-sp.Bits > maxFrame {
		return 0, 0, false
	}
	ra = c.PC.Bits
	ok = returnsTo(q, ra) || s.Records != nil && q.Modules.IsCode(ra-1) && q.Modules.Find(ra-1) == nil &&
		c.FP.Known() && s.Records(q, c.FP.Bits, prev)
	return c.CFA, ra, ok
}

// aligned reports whether a CFA is where the ABI has a caller's stack pointer at a call.
func aligned(q *frame.Query, cfa uint64) bool {
	return q.Arch.FrameAlign(cfa) == cfa
}
