package prologue

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	maxBegins = 64 // bytes of code that is read for the jump to a coroutine's first function
	nearBegin = 64 // bytes between that code and the code that ends the coroutine
)

// begins answers for code that jumps to the first function of a coroutine. No call has led there:
// a run-time system has planted the address to which that function is to return, of code nearby
// that never returns itself (as Boost's make_fcontext, which PHP's fibers have, too).
func begins(q *frame.Query) (row trad.Row, ok bool) {
	a := q.Arch
	if a.EntersFunction == nil || q.Module == nil {
		return row, false
	}
	to, ra, ok := a.EntersFunction(q.Read(q.PC, maxBegins))
	if !ok {
		return row, false
	}
	if first := q.This.Register(to); !first.Known() || !q.FunctionBegins(a.CodeAddress(first.Bits)) {
		return row, false
	}
	fromSP := -int32(a.SPFromCFA)
	if ra.Kind == trad.Saved {
		fromSP -= a.RAOffset
	}
	row = spRow(q, fromSP)
	row.RA, row.Flags = ra, row.Flags|trad.Once
	c, ok := q.Apply(&row)
	near := ok && (c.PC.Bits-q.PC < nearBegin || q.PC-c.PC.Bits < nearBegin)
	return row, near && q.MayBePlanted(c.PC.Bits)
}
