package gostack

import (
	"github.com/sfwalk/sfwalk/format/gopclntab"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// clone returns the row of runtime.clone, which makes a thread. The new thread comes from the
// system call with a result of 0, on a stack of its own without a return address: it is the
// outermost frame there, and never returns. The old thread returns.
func (p *program) clone(f gopclntab.Func, q *frame.Query) (trad.Row, frame.Answer) {
	code := p.Code(f)
	if at := q.PC - p.Bias - f.Lo; q.Arch.Exits != nil && at < uint64(len(code)) && q.Arch.Exits(code, int(at)) == 0 {
		return p.outermost(f, q), frame.Claimed
	}
	row, ok := p.assembly(f, q)
	if !ok {
		row = p.lost(q)
	}
	result := q.This.Register(q.Arch.SystemResult)
	if !q.Innermost() || !result.Known() || result.Bits != 0 {
		return row, frame.Claimed
	}
	if c, ok := q.Apply(&row); ok && p.called(q, c.PC.Bits) {
		return row, frame.Claimed
	}
	row = p.outermost(f, q)
	row.Flags |= trad.Once
	return row, frame.Claimed
}

// called reports whether pc follows a call in the program's Go code.
func (p *program) called(q *frame.Query, pc uint64) bool {
	_, ok := p.Table.Find(pc - 1 - p.Bias)
	return ok && q.MayFollowCall(pc)
}
