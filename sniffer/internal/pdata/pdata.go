// Package pdata is the sniffer that reads the unwind tables of Windows' programs for amd64 (.pdata
// and .xdata), from the PE file or from memory.
//
// All code that changes rsp, or calls, has an entry there. So code without one is of a leaf
// function: its return address is at rsp.
package pdata

import (
	format "github.com/sfwalk/sfwalk/format/pdata"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/unwindtables"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the sniffer; it keeps no state.
type Sniffer struct{}

func (*Sniffer) Name() string { return "pdata" }

const (
	noModule  = frame.Answer("no module is mapped at PC")
	noTable   = frame.Answer("the module has no .pdata of amd64 that can be read")
	noEntry   = frame.Answer("no entry of .pdata covers PC")
	notCode   = frame.Answer("PC is in no code of the module")
	malformed = frame.Answer("the unwind codes cannot be read, or do not tell the frame at PC")
)

func (*Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.Module == nil {
		return trad.Row{}, noModule
	}
	t := unwindtables.FunctionsOf(q.Module)
	if t == nil {
		return trad.Row{}, noTable
	}
	base := q.Module.Base()
	rva, ok := t.RVA(base, q.AddressInBlock)
	if !ok {
		return trad.Row{}, notCode
	}
	f, ok := t.Find(rva)
	if !ok {
		return leaf(q, t, rva)
	}
	row, err := t.Row(f, rva, q.Innermost())
	if err != nil {
		return trad.Row{}, malformed
	}
	row.Lo += base
	return row, frame.Claimed
}

// leaf answers for a PC without an entry.
func leaf(q *frame.Query, t *unwindtables.Functions, rva uint32) (trad.Row, frame.Answer) {
	if !q.Innermost() {
		return trad.Row{}, noEntry // a function that calls has one
	}
	if s := t.Image.Section(rva); s == nil || !s.Code {
		return trad.Row{}, notCode
	}
	row := format.Leaf(rva)
	row.Lo = q.PC
	return row, frame.Claimed
}

// FunctionStart returns where the function begins that q.AddressInBlock is in.
func (s *Sniffer) FunctionStart(q *frame.Query) (addr uint64, ok bool) {
	lo, _, ok := s.FunctionBounds(q)
	return lo, ok
}

// FunctionBounds returns the code of the entry that covers q.AddressInBlock; if that is a part of a
// function, the code is said to begin where the function does, and to end where the part does, if
// the part comes later.
func (*Sniffer) FunctionBounds(q *frame.Query) (lo, hi uint64, ok bool) {
	if q.Module == nil {
		return 0, 0, false
	}
	t := unwindtables.FunctionsOf(q.Module)
	if t == nil {
		return 0, 0, false
	}
	base := q.Module.Base()
	rva, ok := t.RVA(base, q.AddressInBlock)
	if !ok {
		return 0, 0, false
	}
	f, ok := t.Find(rva)
	if !ok {
		return 0, 0, false
	}
	own, err := t.Primary(f)
	if err != nil {
		own = f
	}
	return base + uint64(own.Begin), base + uint64(max(own.End, f.End)), true
}
