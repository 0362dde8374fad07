package pluginhost

import (
	"math"

	"github.com/sfwalk/sfwalk/internal/command"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/trad"
)

// exchange is a question and its answer as the plug-in gave it: nothing of it is checked.
func exchange(x *external.Exchange) *command.Exchange {
	q, a := x.Question, x.Answer
	e := &command.Exchange{
		PC: q.GetPc(), AddressInBlock: q.GetBlock(), Level: int(q.GetLevel()), Module: q.GetModule().GetPath(),
		Declines: a.GetDeclines(), Requests: x.Requests, Took: x.Took, Err: x.Err,
	}
	switch {
	case a.GetRow() != nil:
		row := rowOf(a.Row)
		e.Row = &row
	case a.GetFrame() != nil:
		e.Row = rowOfFrame(a.Frame, e.AddressInBlock)
	case a != nil && e.Declines == "":
		e.Declines = "(it does not say why)"
	}
	for _, m := range a.GetRows() {
		e.Rows = append(e.Rows, rowOf(m))
	}
	for _, m := range a.GetNever() {
		e.Never = append(e.Never, command.Range{Lo: m.GetLo(), Hi: m.GetHi()})
	}
	for _, m := range a.GetSymbols() {
		e.Symbols = append(e.Symbols, symbolOf(m))
	}
	if a.GetName() != nil {
		s := symbolOf(a.Name)
		s.FrameOnly = true
		e.Name = &s
	}
	return e
}

func symbolOf(m *protocol.Symbol) command.Symbol {
	return command.Symbol{Range: command.Range{Lo: m.GetLo(), Hi: m.GetHi()}, Function: m.GetFunction(), File: m.GetFile(), Line: int(m.GetLine())}
}

// rules makes rules of a row, with room for its addresses.
type rules struct{ trad.Rest }

func (x *rules) rule(m *protocol.Rule) trad.Rule {
	to := trad.Rule{Kind: trad.Kind(min(m.GetKind(), math.MaxUint8)), Reg: reg(m.GetRegister()), Off: m.GetOffset()}
	switch m.GetKind() {
	case protocol.Rule_SAVED_AT_IS:
		to.Kind = trad.Expr
	case protocol.Rule_VALUE_IS:
		to.Kind = trad.ValExpr
	default:
		return to
	}
	to.Off = int32(len(x.Exprs))
	x.Exprs = append(x.Exprs, trad.Constant(m.Address))
	return to
}

func (x *rules) others(list []*protocol.RegisterRule) {
	for _, m := range list {
		x.Regs = append(x.Regs, trad.RegRule{Reg: reg(m.GetRegister()), Rule: x.rule(m.GetRule())})
	}
}

func reg(n uint32) trad.Reg { return trad.Reg(min(n, math.MaxUint16)) }

func rowOf(m *protocol.Row) command.Row {
	var x rules
	row := trad.Row{Flags: flags(m.Type, m.Outermost, m.Guess)}
	if m.Once {
		row.Flags |= trad.Once
	}
	row.CFA, row.RA, row.FP = x.rule(m.Cfa), x.rule(m.Ra), x.rule(m.Fp)
	x.others(m.Others)
	row.More = &x.Rest
	return command.Row{Range: command.Range{Lo: m.Lo, Hi: m.Hi}, Rules: row}
}

func rowOfFrame(m *protocol.Frame, block uint64) *command.Row {
	var x rules
	row := trad.Row{Flags: trad.Once | flags(m.Type, m.Outermost, m.Guess)}
	row.CFA = x.rule(&protocol.Rule{Kind: protocol.Rule_VALUE_IS, Address: m.Cfa})
	row.RA, row.FP = x.rule(m.Pc), x.rule(m.Fp)
	sp := x.rule(m.Sp)
	x.others(m.Others)
	row.More = &x.Rest
	return &command.Row{Range: command.Range{Lo: block, Hi: block + 1}, Rules: row, SP: sp}
}

func flags(t protocol.FrameType, outermost, guess bool) (f trad.Flags) {
	switch t {
	case protocol.FrameType_SIGNAL:
		f = trad.Signal
	case protocol.FrameType_OTHER_STACK:
		f = trad.OtherStack
	}
	if outermost {
		f |= trad.Outermost
	}
	if guess {
		f |= trad.Guess
	}
	return f
}
