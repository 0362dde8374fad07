package gostack

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/gopclntab"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/trad"
)

// curg returns the address of the struct g of the goroutine that the thread runs, and the layout
// of structs g. g is 0 if the thread runs no goroutine. ok is false if these cannot be read.
func (p *program) curg(q *frame.Query) (g uint64, l goruntime.Layout, ok bool) {
	own, l, ok := p.ownG(q)
	if !ok {
		return 0, l, false
	}
	m, ok1 := q.Word(own + uint64(l.M))
	g, ok2 := q.Word(m + uint64(l.Curg))
	return g, l, ok1 && ok2
}

// ownG returns the address of the struct g that the thread has as its own: the struct g of the
// stack that it is on. ok is false if that is not known.
func (p *program) ownG(q *frame.Query) (g uint64, l goruntime.Layout, ok bool) {
	if l, ok = p.Layout(); !ok {
		return 0, l, false
	}
	if p.m.G != arch.NoReg {
		own := q.This.Register(p.m.G)
		return own.Bits, l, own.Known()
	}
	own := q.This.Register(p.m.ThreadBase)
	if !own.Known() {
		return 0, l, false
	}
	at := own.Bits + uint64(l.G)
	if l.GBase != 0 {
		offset, read := q.Word(l.GBase + p.Bias)
		if !read {
			return 0, l, false
		}
		at += offset
	}
	g, ok = q.Word(at)
	return g, l, ok
}

// fromGoroutine returns the row of a function whose caller's registers are in the struct g
// of the goroutine that the thread runs. If the thread runs none any more, or another one, the
// function is the outermost of its stack.
func (p *program) fromGoroutine(q *frame.Query, f gopclntab.Func, a goruntime.Previous) trad.Row {
	end := p.outermost(f, q)
	end.Flags |= trad.Once
	morestack := goruntime.Base(f.Name()) == goruntime.Morestack
	if !morestack && p.putAside(q) {
		return end // all idle threads end so: no memory of theirs has to be read but their stacks
	}
	g, l, ok := p.curg(q)
	switch {
	case !ok && morestack:
		return p.lost(q)
	case !ok || g == 0 || morestack && p.putAside(q):
		return end
	}
	word := func(at int64) uint64 {
		v, read := q.Word(g + uint64(at))
		ok = ok && read
		return v
	}
	at := *a.Saved
	if at.SP == 0 {
		at.SP = l.SP
	}
	lo, hi, sp := word(goruntime.StackLo), word(goruntime.StackHi), word(at.SP)
	if !ok || sp < lo || sp > hi {
		return p.lost(q) // the runtime is about to move the stack
	}
	more := &trad.OtherRules{Default: trad.Same, Regs: p.m.rest.Regs}
	value := func(v uint64) trad.Rule {
		more.Exprs = append(more.Exprs, trad.Constant(v))
		return trad.Rule{Kind: trad.ValExpr, Off: int32(len(more.Exprs) - 1)}
	}
	row := a.Row
	row.Flags = trad.Once | trad.OtherStack
	row.CFA = value(sp + uint64(at.FromSP))
	if at.RA != 0 {
		row.RA = value(word(at.RA))
	}
	if at.FP != 0 {
		row.FP = value(word(at.FP))
	}
	if at.InTail != 0 {
		more.Regs = insert(more.Regs, trad.RegRule{Reg: p.m.InTail, Rule: value(word(at.InTail))})
	}
	if p.m.G != arch.NoReg {
		more.Regs = insert(more.Regs, trad.RegRule{Reg: p.m.G, Rule: value(g)})
	}
	row.Others = more
	if !ok {
		return p.lost(q)
	}
	return row
}

// fromSystemstack returns the row of systemstack by the stack pointer that it has left in
// the goroutine's struct g; ok is false if that cannot be read.
func (p *program) fromSystemstack(q *frame.Query, a goruntime.Previous) (row trad.Row, ok bool) {
	g, l, ok := p.curg(q)
	if !ok || g == 0 {
		return row, false
	}
	lo, ok1 := q.Word(g + goruntime.StackLo)
	hi, ok2 := q.Word(g + goruntime.StackHi)
	sp, ok3 := q.Word(g + uint64(l.SP))
	pc, ok4 := q.Word(g + uint64(l.PC))
	if !ok1 || !ok2 || !ok3 || !ok4 || sp < lo || sp >= hi || goruntime.Base(p.Name(pc-p.Bias)) != "runtime.systemstack_switch" {
		return row, false
	}
	row = a.Row
	row.Flags |= trad.Once
	more := &trad.OtherRules{Default: row.Others.Default, Regs: row.Others.Regs, Exprs: []trad.Expression{trad.Constant(sp + uint64(a.Left)), trad.Constant(g)}}
	row.CFA = trad.Rule{Kind: trad.ValExpr}
	if p.m.G != arch.NoReg {
		more.Regs = insert(more.Regs, trad.RegRule{Reg: p.m.G, Rule: trad.Rule{Kind: trad.ValExpr, Off: 1}})
	}
	row.Others = more
	return row, true
}

// insert returns a copy of regs, which are in ascending order, with x in its place. x replaces a
// rule of its register.
func insert(regs []trad.RegRule, x trad.RegRule) []trad.RegRule {
	list := make([]trad.RegRule, 0, len(regs)+1)
	for i, r := range regs {
		if r.Reg >= x.Reg {
			list = append(list, x)
			if r.Reg == x.Reg {
				i++
			}
			return append(list, regs[i:]...)
		}
		list = append(list, r)
	}
	return append(list, x)
}

// maxScheduler bounds the scheduler's frames on the thread's own stack.
const maxScheduler = 64

// putAside reports whether the thread has gone on to look for another goroutine. curg of its struct
// m is then not the goroutine that left its stack for THIS.
func (p *program) putAside(q *frame.Query) bool {
	f := q.This
	for range maxScheduler {
		if f = f.Next(); f == nil || f.Level < 0 {
			return false
		}
		if f.Type() != frame.Normal {
			return false
		}
		if fn, ok := p.Table.Find(f.AddressInBlock() - p.Bias); ok && fn.Name() == "runtime.schedule" {
			return true
		}
	}
	return true
}
