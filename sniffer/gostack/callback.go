package gostack

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/gopclntab"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// verdict says whether what cgocallback has left on the thread's own stack still counts.
type verdict int

const (
	unknown verdict = iota
	counts
	givenUp
)

// fromCallback returns the row of cgocallback while it runs Go. Its frame on the thread's own stack leads
// to C. But a panic, or runtime.Goexit, gives up the C functions before it runs the deferred functions of
// their callers: other functions use that part of the thread's own stack then, and the goroutine may even be
// on another thread. What is left is on the goroutine's stack: cgocallback has a frame there as well, whose
// return address is where the goroutine has called C.
func (p *program) fromCallback(f gopclntab.Func, q *frame.Query, a goruntime.Previous) trad.Row {
	base := q.This.Register(a.Row.CFA.Reg)
	if a.Row.CFA.Kind != trad.InReg || !base.Known() {
		return a.Row
	}
	cfa := a.Row.CFA.At(base.Bits)
	row := a.Row
	row.Flags |= trad.Once
	switch p.judge(q, a.Callback, cfa) {
	case counts:
		return row
	case unknown:
		if p.returnsToCode(q, cfa, &a.Row) {
			return row
		}
	}
	delta, _, _, ok := f.SPDelta(q.AddressInBlock - p.Bias)
	if !ok || delta <= 0 {
		return row
	}
	row.Flags &^= trad.OtherStack
	row.CFA = trad.Rule{Kind: trad.InReg, Reg: p.m.Arch.SP, Off: delta - p.m.Pushed}
	row.RA = trad.Rule{Kind: trad.Saved, Off: p.m.Pushed}
	if p.m.Pushed == 0 {
		row.RA.Off = -delta
	}
	row.FP = trad.Rule{Kind: trad.Undefined} // not stored there in all releases
	row.Others = p.m.rest
	return row
}

// returnsToCode reports whether a row whose CFA is cfa leads to code, or to what cannot be read.
func (p *program) returnsToCode(q *frame.Query, cfa uint64, row *trad.Row) bool {
	ra, ok := q.Word(row.RA.At(cfa))
	return !ok || q.Modules.IsCode(q.Arch.CodeAddress(ra)-1)
}

// judge says whether the frame that cgocallback has on the thread's own stack, with the given CFA, still
// counts. If so, its stack pointer is in g0.sched.sp. There are as many such frames as C is above Go: each
// has put what was in g0.sched.sp before on its stack.
func (p *program) judge(q *frame.Query, c *goruntime.Callback, cfa uint64) verdict {
	own := cfa + uint64(c.SP)
	inner := p.innerCallback(q)
	if inner != nil {
		at, _ := inner.CFA()
		sp, ok := q.Word(at + uint64(c.Saved))
		switch {
		case !ok:
			return unknown
		case sp != own:
			return givenUp
		}
		return counts
	}
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
	sp, ok := q.Word(g0 + uint64(l.SP))
	switch {
	case !ok:
		return unknown
	case sp == own:
		return counts
	}
	if running, moves := q.Memory.(target.RunningMemory); moves && running.MovedOn(g0+uint64(l.SP), q.Arch.PtrSize) {
		return unknown
	}
	return givenUp
}

// maxInner bounds the frames among which innerCallback looks.
const maxInner = 1 << 14

// innerCallback returns the nearest inner frame of cgocallback that leads to C; nil if there is none.
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

// threadOf returns the struct m of the thread that runs the goroutine which THIS is on the stack of. If the
// goroutine is parked, it is that of the only thread that may run it. m is 0 if any thread may.
func (p *program) threadOf(q *frame.Query) (m uint64, l goruntime.Layout, ok bool) {
	l, ok = p.Layout()
	if !ok {
		return 0, l, false
	}
	g, ok := p.innermostG(q)
	if !ok || !p.onStackOf(q, g) {
		if g, _, ok = p.curg(q); !ok || !p.onStackOf(q, g) {
			return 0, l, false
		}
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

// innermostG returns the struct g that frame 0 has in the register for it, if it is in Go code. A parked
// goroutine has no other sign of its struct g.
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
