package pluginhost

import (
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/pluginrow"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// exchange returns a question and its answer as the plug-in gave it, without checks.
func exchange(x *external.Exchange) *hosts.Exchange {
	q, a := x.Question, x.Answer
	e := &hosts.Exchange{
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
		e.Never = append(e.Never, hosts.Range{Lo: m.GetLo(), Hi: m.GetHi()})
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

func symbolOf(m *protocol.Symbol) hosts.Symbol {
	return hosts.Symbol{Range: hosts.Range{Lo: m.GetLo(), Hi: m.GetHi()}, Function: m.GetFunction(), File: m.GetFile(), Line: int(m.GetLine())}
}

func rowOf(m *protocol.Row) hosts.Row {
	return hosts.Row{Range: hosts.Range{Lo: m.Lo, Hi: m.Hi}, Rules: pluginrow.Row(m)}
}

func rowOfFrame(m *protocol.Frame, block uint64) *hosts.Row {
	row, sp := pluginrow.Frame(m)
	return &hosts.Row{Range: hosts.Range{Lo: block, Hi: block + 1}, Rules: row, SP: sp}
}
