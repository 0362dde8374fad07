package gostack

import (
	"strings"

	"github.com/sfwalk/sfwalk/format/gopclntab"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	switches    = frame.Answer("the function changes stacks: a sniffer of its own knows how")
	noDelta     = frame.Answer("the table has no stack pointer delta for PC")
	notFollowed = frame.Answer("the function's code does not tell where its frame is")
	notSwitch   = frame.Answer("the function at PC is another one")
)

// Sniffer is the sniffer of Go functions. It keeps no state of its own.
type Sniffer struct{}

func (*Sniffer) Name() string { return "go" }

func (*Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	p, why := programOf(q)
	if why != frame.Claimed {
		return trad.Row{}, why
	}
	f, ok := p.function(q)
	if !ok {
		return p.crosscall1(q)
	}
	name := goruntime.Base(f.Name())
	switch {
	case name == "runtime.mstart":
		return p.threadStart(f, q)
	case name == "runtime.clone":
		return p.clone(f, q)
	case isSwitch(name):
		return trad.Row{}, switches
	case isOutermost(f, name):
		return p.outermost(f, q), frame.Claimed
	case f.Flags&gopclntab.SPWrite != 0 || goruntime.CalledByC[name] || goruntime.Injected[name] || strings.HasPrefix(name, goruntime.Morestack):
		if row, ok := p.assembly(f, q); ok {
			if goruntime.Injected[name] {
				p.inject(&row)
			}
			return row, frame.Claimed
		}
		if f.Flags&gopclntab.SPWrite != 0 {
			return p.lost(q), frame.Claimed
		}
	}
	row, why := p.ordinary(f, q)
	if why == frame.Claimed && goruntime.Injected[name] {
		p.inject(&row)
	}
	return row, why
}

// FunctionStart returns where the function that q.AddressInBlock is in begins.
func (*Sniffer) FunctionStart(q *frame.Query) (uint64, bool) {
	p, why := programOf(q)
	if why != frame.Claimed {
		return 0, false
	}
	f, ok := p.function(q)
	return f.Lo + p.Bias, ok
}

// isOutermost reports whether a function is the first of its stack. The table says so about
// runtime.sigtramp, too, for the runtime's own unwinder. But the kernel has called sigtramp.
func isOutermost(f gopclntab.Func, name string) bool {
	switch name {
	case "runtime.goexit", "runtime.rt0_go":
		return true
	}
	return f.Flags&gopclntab.TopFrame != 0 && !goruntime.CalledByC[name]
}

// ordinary returns the row of a function whose frame the assembler has made.
func (p *program) ordinary(f gopclntab.Func, q *frame.Query) (trad.Row, frame.Answer) {
	m, pc := p.m, q.AddressInBlock-p.Bias
	delta, lo, hi, ok := f.SPDelta(pc)
	if !ok {
		return trad.Row{}, noDelta
	}
	where := span{lo, hi}
	row := trad.Row{CFA: trad.Rule{Kind: trad.InReg, Reg: m.Arch.SP}, Others: m.rest}
	if !m.frames(p, &row, &where, f, pc, delta, !q.Innermost()) {
		if row, ok := p.assembly(f, q); ok {
			return row, frame.Claimed
		}
		row.FP = trad.Rule{Kind: trad.Undefined}
		where = span{pc, pc + 1}
		if row.RA.Kind == trad.NotTracked {
			return trad.Row{}, notFollowed
		}
	}
	row.Lo, row.Len = where.lo+p.Bias, uint32(where.hi-where.lo)
	return row, frame.Claimed
}

// assembly returns the row that the function's code tells.
func (p *program) assembly(f gopclntab.Func, q *frame.Query) (trad.Row, bool) {
	a, ok := p.previous(f, q)
	return a.Row, ok && a.Saved == nil && a.Row.CFA.Kind != trad.NotTracked
}

// inject changes a row to the row of a function that PREVIOUS has not called.
func (p *program) inject(row *trad.Row) {
	row.Flags |= trad.Injected
	if p.m.Injected != 0 {
		x := *row.Others
		x.Regs = insert(x.Regs, trad.RegRule{Reg: p.m.Arch.RA, Rule: trad.Rule{Kind: trad.Saved}})
		x.Regs = insert(x.Regs, trad.RegRule{Reg: p.m.Arch.SP, Rule: trad.Rule{Kind: trad.Value, Off: p.m.Injected}})
		row.Others = &x
	}
}

// outermost returns the row of a function that no other has called.
func (p *program) outermost(f gopclntab.Func, q *frame.Query) trad.Row {
	delta, _, _, _ := f.SPDelta(q.AddressInBlock - p.Bias)
	return trad.Row{
		Lo: q.AddressInBlock, Len: 1, Flags: trad.Outermost,
		CFA: trad.Rule{Kind: trad.InReg, Reg: p.m.Arch.SP, Off: delta - p.m.Pushed}, Others: p.m.rest,
	}
}

// threadStart returns the row of runtime.mstart, with which the runtime's threads begin. If C has
// made the thread, a function of C has called mstart.
func (p *program) threadStart(f gopclntab.Func, q *frame.Query) (trad.Row, frame.Answer) {
	end := p.outermost(f, q)
	end.Flags |= trad.Once
	row, ok := p.assembly(f, q)
	if !ok || row.CFA.Kind != trad.InReg {
		return end, frame.Claimed
	}
	var ra uint64
	switch base := q.This.Register(row.CFA.Reg); {
	case !base.Known():
		return end, frame.Claimed
	case row.RA.Kind == trad.Saved:
		ra, _ = q.Word(row.RA.At(row.CFA.At(base.Bits)))
	case row.RA.Kind == trad.Same:
		ra = q.This.Register(p.m.Arch.RA).Bits
	}
	ra = q.Arch.CodeAddress(ra)
	if _, isGo := p.Table.Find(ra - 1 - p.Bias); isGo || ra == 0 || !q.Modules.IsCode(ra-1) {
		return end, frame.Claimed
	}
	row.Flags |= trad.Once
	return row, frame.Claimed
}

// lost returns the row of a function that has left its caller's stack, if that stack cannot be
// found.
func (p *program) lost(q *frame.Query) trad.Row {
	gone := trad.Rule{Kind: trad.Undefined}
	return trad.Row{
		Lo: q.AddressInBlock, Len: 1, Flags: trad.OtherStack | trad.Once,
		CFA: trad.Rule{Kind: trad.InReg, Reg: p.m.Arch.SP}, RA: gone, FP: gone, Others: p.m.rest,
	}
}
