package prologue

import (
	"slices"

	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	// maxKept is how many different words of the stack are tried for a register.
	maxKept = 256
	// maxInner bounds the frames among which the stack's inner end is looked for.
	maxInner = 1 << 10
	// lowest is the lowest word that is taken for an address.
	lowest = 64 << 10
)

// fromMemory answers for code that has changed stacks, and has put the old stack pointer into
// memory. Run-time systems call the code that they have made in this way. way is the code's way
// out: it finds that memory by a register. The code counts on the register after a call. So the
// functions called preserve it, by a convention of their own if the ABI lets them change it: the
// innermost frame has it still, or a frame between has saved it on the stack. If no row tells
// where, fromMemory tries these words, the outermost first. One of them counts if it leads to a
// call that may have led to THIS. The row is a guess.
func fromMemory(q *frame.Query, way *trad.Row) (row trad.Row, ok bool) {
	if q.Innermost() || way.CFA.Kind != trad.ValExpr {
		return row, false
	}
	a := q.Arch
	at, is := way.Others.Exprs[way.CFA.Off].(dataflow.SavedSP)
	if !is || at.Reg == a.FP || at.Reg == a.SP {
		return row, false
	}
	inner, lo := innermost(q)
	sp := q.This.Register(a.SP)
	if inner == nil || !sp.Known() {
		return row, false
	}
	here := extent{lo, sp.Bits}
	if v := q.This.Register(at.Reg); v.Known() {
		row, _, ok = fromBase(q, way, at, v.Bits, here)
		return row, ok
	}
	stack := make([]byte, min(here.hi-here.lo, scanned))
	if n, _ := q.Memory.ReadMemory(here.hi-uint64(len(stack)), stack); n < len(stack) {
		return row, false
	}
	q.CountSearched(len(stack) / readTogether)
	tried := make([]uint64, 0, maxKept)
	for i := len(stack) - a.PtrSize; i >= 0 && len(tried) < maxKept; i -= a.PtrSize {
		base := a.Word(stack[i:])
		if base < lowest || base%uint64(a.PtrSize) != 0 || slices.Contains(tried, base) {
			continue
		}
		tried = append(tried, base)
		q.CountSearched(candidate)
		if row, ra, ok := fromBase(q, way, at, base, here); ok && q.MayHaveLedHere(ra) {
			return row, true
		}
	}
	if v := inner.Register(at.Reg); v.Known() && inner.Level == 0 {
		row, ra, ok := fromBase(q, way, at, v.Bits, here)
		return row, ok && q.MayHaveLedHere(ra)
	}
	return row, false
}

// An extent is a range [lo, hi) of addresses.
type extent struct{ lo, hi uint64 }

// innermost returns the innermost frame on the stack of THIS, and its stack pointer.
func innermost(q *frame.Query) (inner *frame.Frame, sp uint64) {
	a := q.Arch
	v := q.This.Register(a.SP)
	if !v.Known() {
		return nil, 0
	}
	sp = v.Bits
	f := q.This
	for range maxInner {
		if f = f.Next(); f == nil || f.Level < 0 || f.Type() == frame.OtherStack {
			break
		}
		v := f.Register(a.SP)
		if !v.Known() || a.InnerThan(sp, v.Bits) || sp-v.Bits > maxFrame {
			break
		}
		inner, sp = f, v.Bits
	}
	return inner, sp
}

// fromBase makes a row of a way out that finds the other stack by a register, whose value in THIS
// is base. here is where the stack of THIS is. ok is true if the row leads elsewhere, to a return
// address that follows a call, and if the frame pointer is 0 or leads outward from there.
func fromBase(
	q *frame.Query, way *trad.Row, at dataflow.SavedSP, base uint64, here extent,
) (row trad.Row, ra uint64, ok bool) {
	a := q.Arch
	var word [8]byte
	if n, _ := q.Memory.ReadMemory(base+uint64(int64(at.Off)), word[:a.PtrSize]); n < a.PtrSize {
		return row, 0, false
	}
	cfa := a.Word(word[:]) + uint64(int64(at.Add))
	if cfa < lowest || cfa%uint64(a.PtrSize) != 0 || cfa-here.lo < here.hi-here.lo {
		return row, 0, false
	}
	row = *way
	row.Flags |= trad.Guess | trad.Once | trad.OtherStack
	rest := &trad.OtherRules{Default: way.Others.Default, Exprs: []trad.Expression{trad.Constant(cfa)}}
	fixed := func(r trad.Rule) trad.Rule {
		if r.Kind != trad.SavedAt || r.Reg != at.Reg {
			return r
		}
		rest.Exprs = append(rest.Exprs, trad.Constant(r.At(base)))
		return trad.Rule{Kind: trad.Expr, Off: int32(len(rest.Exprs) - 1)}
	}
	row.CFA, row.RA, row.FP, row.Others = trad.Rule{Kind: trad.ValExpr}, fixed(way.RA), fixed(way.FP), rest
	for _, r := range way.Others.Regs {
		rest.Regs = append(rest.Regs, trad.RegRule{Reg: r.Reg, Rule: fixed(r.Rule)})
	}
	c, ok := q.Apply(&row)
	if !ok || q.OnStack(c.PC.Bits) || !followsCall(q, c.PC.Bits) {
		return row, 0, false
	}
	if fp := c.FP; fp.Known() && fp.Bits != 0 && fp.Bits-cfa > maxFrame {
		return row, 0, false
	}
	return row, c.PC.Bits, true
}
