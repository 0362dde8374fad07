package gostack

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/gopclntab"
	"github.com/sfwalk/sfwalk/trad"
)

// layout is where a thread's goroutine is found, as the code of systemstack follows it.
type layout struct {
	g    value // the thread's current struct g
	m    int64 // in a struct g: its struct m
	curg int64 // in a struct m: the goroutine that the thread runs
	sp   int64 // in a struct g: the saved stack pointer
	ok   bool
}

// findLayout reads systemstack, which goes back from the thread's own stack to its
// goroutine's: SP = g.m.curg.sched.sp.
func (p *program) findLayout() layout {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.laidOut {
		return p.layout
	}
	p.laidOut = true
	for i := range p.table.Len() {
		f, ok := p.table.Func(i)
		if !ok || f.Flags&gopclntab.SPWrite == 0 || base(f.Name()) != Systemstack.function {
			continue
		}
		flow := p.follow(f)
		for _, s := range flow.at {
			sp := s.back
			if sp.kind != deref || sp.off != 0 {
				continue
			}
			curg := *sp.of
			if curg.kind != deref || curg.of.kind != deref {
				continue
			}
			p.layout = layout{g: *curg.of.of, m: curg.of.of.off, curg: curg.of.off, sp: curg.off, ok: true}
			p.layout.g.off = 0
			break
		}
	}
	return p.layout
}

// curg returns the address of the struct g of the goroutine that the thread runs, 0 if it
// runs none; ok is false where that cannot be had.
func (p *program) curg(q *frame.Query) (g uint64, ok bool) {
	l := p.findLayout()
	if !l.ok {
		return 0, false
	}
	ok = true
	read := func(addr uint64) uint64 {
		v, read := p.word(q, addr)
		ok = ok && read
		return v
	}
	own := frame.Value{}
	if p.m.g != none {
		own = q.This.Register(p.m.g)
		g = own.Bits
	} else {
		own = q.This.Register(p.m.threadPointer)
		offset := uint64(l.g.off)
		if at := l.g.of; at != nil && at.kind == deref && at.of.kind == address {
			offset = read(uint64(at.of.off)+p.bias) + uint64(at.off)
		} else if at != nil {
			offset = uint64(at.off)
		}
		g = read(own.Bits + offset)
	}
	if !own.Known() {
		return 0, false
	}
	m := read(g + uint64(l.m))
	curg := read(m + uint64(l.curg))
	return curg, ok
}

// fromGoroutine returns the row of a function whose caller's registers are in the struct g
// of the goroutine that the thread runs; where it runs none any more, or another, there is
// nothing to go back to.
func (p *program) fromGoroutine(q *frame.Query, f gopclntab.Func, a answer) trad.Row {
	end := p.outermost(f, q)
	end.Flags |= trad.Once
	morestack := base(f.Name()) == Morestack.function
	if !morestack && p.putAside(q) {
		return end // as of all idle threads: nothing has to be read of them but their stacks
	}
	g, ok := p.curg(q)
	switch {
	case !ok && morestack:
		return p.lost(q)
	case !ok || g == 0 || morestack && p.putAside(q):
		return end
	}
	word := func(at int64) uint64 {
		v, read := p.word(q, g+uint64(at))
		ok = ok && read
		return v
	}
	at := *a.saved
	if at.sp == 0 {
		at.sp = p.layout.sp
	}
	lo, hi, sp := word(stackLo), word(stackHi), word(at.sp)
	if !ok || sp < lo || sp > hi {
		return p.lost(q) // the runtime is about to move the stack
	}
	more := &trad.OtherRules{Default: trad.Same, Regs: p.m.rest.Regs}
	value := func(v uint64) trad.Rule {
		more.Exprs = append(more.Exprs, trad.Constant(v))
		return trad.Rule{Kind: trad.ValExpr, Off: int32(len(more.Exprs) - 1)}
	}
	row := a.row
	row.Lo, row.Len = q.AddressInBlock, 1
	row.Flags = trad.Once | trad.OtherStack
	row.CFA = value(sp + uint64(at.fromSP))
	if at.ra != 0 {
		row.RA = value(word(at.ra))
	}
	if at.fp != 0 {
		row.FP = value(word(at.fp))
	}
	if at.inTail != 0 {
		more.Regs = insert(more.Regs, trad.RegRule{Reg: p.m.inTail, Rule: value(word(at.inTail))})
	}
	if p.m.g != none {
		more.Regs = insert(more.Regs, trad.RegRule{Reg: p.m.g, Rule: value(g)})
	}
	row.Others = more
	if !ok {
		return p.lost(q)
	}
	return row
}

// fromSystemstack returns the row of systemstack by the stack pointer that it has left in
// the goroutine's struct g; ok is false where that is not to be had.
func (p *program) fromSystemstack(q *frame.Query, a answer) (row trad.Row, ok bool) {
	g, ok := p.curg(q)
	if !ok || g == 0 {
		return row, false
	}
	lo, ok1 := p.word(q, g+stackLo)
	hi, ok2 := p.word(q, g+stackHi)
	sp, ok3 := p.word(q, g+uint64(p.layout.sp))
	pc, ok4 := p.word(q, g+uint64(p.layout.sp)+8) // struct gobuf begins with sp, pc
	if !ok1 || !ok2 || !ok3 || !ok4 || sp < lo || sp >= hi || base(p.name(pc-p.bias)) != "runtime.systemstack_switch" {
		return row, false
	}
	row = a.row
	row.Lo, row.Len = q.AddressInBlock, 1
	row.Flags |= trad.Once
	more := &trad.OtherRules{Default: row.Others.Default, Regs: row.Others.Regs, Exprs: []trad.Expression{trad.Constant(sp + uint64(a.left)), trad.Constant(g)}}
	row.CFA = trad.Rule{Kind: trad.ValExpr}
	if p.m.g != none {
		more.Regs = insert(more.Regs, trad.RegRule{Reg: p.m.g, Rule: trad.Rule{Kind: trad.ValExpr, Off: 1}})
	}
	row.Others = more
	return row, true
}

// insert returns regs, which are in ascending order, with x among them.
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

// maxScheduler is how many frames the scheduler may have on the thread's own stack.
const maxScheduler = 64

// putAside reports whether the thread has gone on to look for another goroutine: what
// struct m calls the current one is then not the one that has left its stack for THIS.
func (p *program) putAside(q *frame.Query) bool {
	f := q.This
	for range maxScheduler {
		if f = f.Next(); f == nil || f.Level < 0 {
			return false
		}
		if f.Type() != frame.Normal {
			return false
		}
		if fn, ok := p.table.Find(f.AddressInBlock() - p.bias); ok && fn.Name() == "runtime.schedule" {
			return true
		}
	}
	return true
}
