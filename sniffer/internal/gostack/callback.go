package gostack

import (
	"github.com/sfwalk/sfwalk/format/gopclntab"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/trad"
)

// verdict says whether what cgocallback has left on the thread's own stack still counts.
type verdict int

const (
	unknown verdict = iota
	counts
	givenUp
)

// fromCallback returns the row of cgocallback while it runs Go. Its frame on the thread's own stack
// leads to C. But a panic, or runtime.Goexit, gives up the C functions before it runs the deferred
// functions of their callers: other functions use that part of the thread's own stack then, and the
// goroutine may even be on another thread. What is left is on the goroutine's stack: cgocallback
// has a frame there as well, whose return address is where the goroutine has called C.
func (p *program) fromCallback(f gopclntab.Func, q *frame.Query, a goruntime.Previous) trad.Row {
	if a.Row.CFA.Kind == trad.NotTracked {
		return p.fromScheduled(f, q, a)
	}
	base := q.This.Register(a.Row.CFA.Reg)
	if a.Row.CFA.Kind != trad.InReg || !base.Known() {
		return a.Row
	}
	cfa := a.Row.CFA.At(base.Bits)
	row := a.Row
	row.Flags |= trad.Once
	own := cfa + uint64(a.Callback.SP)
	switch p.judge(q, a.Callback, func(sp uint64) bool { return sp == own }) {
	case counts:
		return row
	case unknown:
		if p.returnsToCode(q, cfa, &a.Row) {
			return row
		}
	}
	if there, ok := p.onGoroutine(f, q); ok {
		return there
	}
	return row
}

// fromScheduled is fromCallback where no register leads to the thread's own stack: the stack
// pointer in g0.sched.sp does. It belongs to the frame that THIS has there if both have the same
// arguments: C has passed the address of its own.
func (p *program) fromScheduled(f gopclntab.Func, q *frame.Query, a goruntime.Previous) trad.Row {
	cfa := uint64(0)
	verdict := p.judge(q, a.Callback, func(sp uint64) bool {
		cfa = sp - uint64(a.Callback.SP)
		return p.sameArguments(q, a.Callback, cfa)
	})
	if there, ok := p.onGoroutine(f, q); verdict == givenUp && ok {
		return there
	}
	if verdict != counts {
		return p.lost(q)
	}
	row := a.Row
	row.Flags |= trad.Once
	row.CFA = trad.Rule{Kind: trad.ValExpr, Off: int32(len(row.Others.Exprs))}
	others := *row.Others
	others.Exprs = append(others.Exprs[:len(others.Exprs):len(others.Exprs)], trad.Constant(cfa))
	row.Others = &others
	return row
}

// sameArguments reports whether the arguments that cgocallback has copied to the goroutine's stack
// equal the arguments of a frame on the thread's own stack, with the given CFA.
func (p *program) sameArguments(q *frame.Query, c *goruntime.Callback, cfa uint64) bool {
	sp := q.This.Register(p.m.Arch.SP)
	for _, w := range c.Copied {
		own, ok1 := q.Word(cfa + uint64(w.Own))
		now, ok2 := q.Word(sp.Bits + uint64(w.Now))
		if !ok1 || !ok2 || own != now {
			return false
		}
	}
	return sp.Known()
}

// onGoroutine returns the row of the frame that cgocallback has on the goroutine's stack. ok is
// false if it has none yet.
func (p *program) onGoroutine(f gopclntab.Func, q *frame.Query) (row trad.Row, ok bool) {
	delta, _, _, ok := f.SPDelta(q.AddressInBlock - p.Bias)
	if !ok || delta <= 0 {
		return row, false
	}
	row = trad.Row{
		Lo: q.AddressInBlock, Len: 1, Flags: trad.Once,
		CFA:    trad.Rule{Kind: trad.InReg, Reg: p.m.Arch.SP, Off: delta - p.m.Pushed},
		RA:     trad.Rule{Kind: trad.Saved, Off: p.m.Pushed},
		FP:     trad.Rule{Kind: trad.Undefined}, // not stored there in all releases
		Others: p.m.rest,
	}
	if p.m.Pushed == 0 {
		row.RA.Off = -delta
	}
	return row, true
}

// returnsToCode reports whether a row whose CFA is cfa leads to code, or to what cannot be read.
func (p *program) returnsToCode(q *frame.Query, cfa uint64, row *trad.Row) bool {
	ra, ok := q.Word(row.RA.At(cfa))
	return !ok || q.Modules.IsCode(q.Arch.CodeAddress(ra)-1)
}

// judge says whether the frame that cgocallback has on the thread's own stack still counts. If so,
// its stack pointer is in g0.sched.sp: own reports whether that is so. There are as many such
// frames as C is above Go: each has put what was in g0.sched.sp before on its stack.
func (p *program) judge(q *frame.Query, c *goruntime.Callback, own func(sp uint64) bool) verdict {
	var at uint64
	if inner := p.innerCallback(q); inner != nil {
		cfa, _ := inner.CFA()
		at = cfa + uint64(c.Saved)
	} else {
		m, l, ok := p.threadOf(q)
		if !ok {
			return unknown
		}
		if m == 0 {
			return givenUp // any thread may run the goroutine: it has no part on a thread's stack
		}
		g0, ok := q.Word(m + uint64(c.G0))
		if !ok {
			return unknown
		}
		at = g0 + uint64(l.SP)
	}
	switch sp, ok := q.Word(at); {
	case !ok:
		return unknown
	case own(sp):
		return counts
	}
	return givenUp
}

// maxInner bounds the frames among which innerCallback looks.
const maxInner = 1 << 14

// innerCallback returns the nearest inner frame of cgocallback that leads to C; nil if there is
// none.
func (p *program) innerCallback(q *frame.Query) *frame.Frame {
	f := q.This
	for range maxInner {
		if f = f.Next(); f == nil || f.Level < 0 {
			return nil
		}
		if f.Type() != frame.OtherStack || f.Module() != q.Module {
			continue
		}
		if fn, ok := p.Table.Find(f.AddressInBlock() - p.Bias); ok && goruntime.Base(fn.Name()) == goruntime.Cgocallback {
			return f
		}
	}
	return nil
}

// threadOf returns the struct m of the thread that runs the goroutine on whose stack THIS is. If
// the goroutine is parked, the thread is the only one that may run it. m is 0 if any thread may.
func (p *program) threadOf(q *frame.Query) (m uint64, l goruntime.Layout, ok bool) {
	l, ok = p.Layout()
	if !ok {
		return 0, l, false
	}
	g, ok := p.innermostG(q)
	if !ok || !p.onStackOf(q, g) {
		g, _, ok = p.ownG(q) // curg would need its struct m, which it has no more when the runtime puts it aside
	}
	if !ok || !p.onStackOf(q, g) {
		g, _, ok = p.curg(q)
	}
	if !ok || !p.onStackOf(q, g) {
		return 0, l, false
	}
	if m, ok = q.Word(g + uint64(l.M)); !ok || m != 0 {
		return m, l, ok
	}
	locked, known := p.Locked()
	if !known {
		return 0, l, false
	}
	m, ok = q.Word(g + uint64(locked))
	return m, l, ok
}

// onStackOf reports whether THIS is on the stack of a struct g.
func (p *program) onStackOf(q *frame.Query, g uint64) bool {
	sp := q.This.Register(p.m.Arch.SP)
	lo, ok1 := q.Word(g + goruntime.StackLo)
	hi, ok2 := q.Word(g + goruntime.StackHi)
	return ok1 && ok2 && sp.Known() && sp.Bits >= lo && sp.Bits < hi
}

// innermostG returns the struct g that frame 0 has in the register for it, if it is in Go code. A
// parked goroutine has no other sign of its struct g.
func (p *program) innermostG(q *frame.Query) (g uint64, ok bool) {
	f := q.This
	for range maxInner {
		if f.Level == 0 {
			v := f.Register(p.m.InGo)
			return v.Bits, v.Known() && f.Module() == q.Module
		}
		if f = f.Next(); f == nil {
			break
		}
	}
	return 0, false
}
