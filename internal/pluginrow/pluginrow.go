// Package pluginrow makes rows of the protocol's messages. It checks nothing: sniffer/external
// holds a message against the process before it uses the row, and 'sfwalk plugin run' shows what a
// plug-in has said, right or wrong.
package pluginrow

import (
	"cmp"
	"math"
	"slices"

	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/trad"
)

// Row returns the row of m, without m's range: that may not fit a row.
func Row(m *protocol.Row) trad.Row {
	row := trad.Row{Flags: flags(m.Type, m.Kind, m.Outermost, m.Guess)}
	if m.Once {
		row.Flags |= trad.Once
	}
	var more trad.OtherRules
	row.CFA, row.RA, row.FP = rule(m.Cfa, &more), rule(m.Ra, &more), rule(m.Fp, &more)
	if m.OthersSame {
		more.Default = trad.Same
	}
	others(m.Others, &more)
	return with(row, more)
}

// Frame returns the row of m, which is for one frame alone, without its range, and the rule for
// PREVIOUS's SP, which m may leave out. The row has More in any case.
func Frame(m *protocol.Frame) (row trad.Row, sp trad.Rule) {
	row = trad.Row{Flags: trad.Once | flags(m.Type, m.Kind, m.Outermost, m.Guess)}
	var more trad.OtherRules
	row.CFA = rule(&protocol.Rule{Kind: protocol.Rule_VALUE_IS, Address: m.Cfa}, &more)
	row.RA, row.FP, sp = rule(m.Pc, &more), rule(m.Fp, &more), rule(m.Sp, &more)
	others(m.Others, &more)
	return with(row, more), sp
}

// with adds more to row, if there is any.
func with(row trad.Row, more trad.OtherRules) trad.Row {
	if len(more.Regs)+len(more.Exprs) > 0 || more.Default != trad.NotTracked {
		row.Others = &more
	}
	return row
}

// others adds the rules of list to more, in ascending order of registers.
func others(list []*protocol.RegisterRule, more *trad.OtherRules) {
	for _, m := range list {
		more.Regs = append(more.Regs, trad.RegRule{Reg: register(m.GetRegister()), Rule: rule(m.GetRule(), more)})
	}
	slices.SortStableFunc(more.Regs, func(a, b trad.RegRule) int { return cmp.Compare(a.Reg, b.Reg) })
}

// rule returns the rule of m. The address of an absolute rule goes to more, as an expression.
func rule(m *protocol.Rule, more *trad.OtherRules) trad.Rule {
	kind := trad.Kind(math.MaxUint8) // no kind
	switch k := m.GetKind(); k {
	case protocol.Rule_SAVED_AT_IS, protocol.Rule_VALUE_IS:
		more.Exprs = append(more.Exprs, trad.Constant(m.Address))
		if kind = trad.Expr; k == protocol.Rule_VALUE_IS {
			kind = trad.ValExpr
		}
		return trad.Rule{Kind: kind, Off: int32(len(more.Exprs) - 1)}
	case protocol.Rule_NOT_TRACKED, protocol.Rule_SAME, protocol.Rule_UNDEFINED:
		return trad.Rule{Kind: trad.Kind(k)}
	case protocol.Rule_SAVED, protocol.Rule_VALUE:
		return trad.Rule{Kind: trad.Kind(k), Off: m.Offset}
	default:
		if k > 0 && k < math.MaxUint8 {
			kind = trad.Kind(k)
		}
		return trad.Rule{Kind: kind, Reg: register(m.Register), Off: m.Offset}
	}
}

func register(n uint32) trad.Reg { return trad.Reg(min(n, math.MaxUint16)) }

func flags(t protocol.FrameType, kind protocol.FrameKind, outermost, guess bool) (f trad.Flags) {
	switch t {
	case protocol.FrameType_SIGNAL:
		f = trad.Signal
	case protocol.FrameType_OTHER_STACK:
		f = trad.OtherStack
	}
	switch kind {
	case protocol.FrameKind_DUMMY:
		f = trad.Dummy // and not a signal's
	case protocol.FrameKind_INJECTED:
		f = trad.Injected
	case protocol.FrameKind_INLINE:
		f |= trad.Inline
	case protocol.FrameKind_TAIL_CALL:
		f |= trad.TailCall
	}
	if outermost {
		f |= trad.Outermost
	}
	if guess {
		f |= trad.Guess
	}
	return f
}
