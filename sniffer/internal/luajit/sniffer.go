package luajit

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/luajit"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the sniffer; it keeps no state of its own.
type Sniffer struct{}

func (*Sniffer) Name() string { return "luajit" }

const (
	unknown   = frame.Answer("LuaJIT's frames on this architecture are not known")
	noMachine = frame.Answer("PC is in code of a file, and not of LuaJIT's virtual machine")
	noLuaJIT  = frame.Answer("the process has no LuaJIT")
	noState   = frame.Answer("no state of Lua has a frame here")
	otherCode = frame.Answer("PC is in no memory for the code of LuaJIT's compiler")
	coming    = frame.Answer("the code of LuaJIT's virtual machine is just making its frame, or taking it down")
)

// memory is the memory of a frame's process as package luajit reads it.
type memory struct{ q *frame.Query }

func (m memory) Uint(addr uint64, size int) uint64 {
	b := m.q.Read(addr, size)
	if len(b) < size {
		return 0
	}
	v := uint64(0)
	for i := size - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

// Sniff implements [frame.Sniffer].
func (*Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.Arch.LuaJIT == nil {
		return trad.Row{}, unknown
	}
	compiled := true
	if q.Module != nil {
		_, _, err := q.Module.PeekImage()
		compiled = err != nil
	}
	var machine *luajit.Machine
	if compiled {
		if machine = luajit.MachineOf(q.Modules, q.Arch); machine == nil {
			return trad.Row{}, noLuaJIT
		}
	} else if machine = luajit.MachineIn(q.Module, q.Arch); machine == nil || !machine.Has(q.AddressInBlock) {
		return trad.Row{}, noMachine
	}
	row := machine.Row
	row.Lo, row.Len, row.Flags = q.PC, 1, row.Flags|trad.Once
	r := memory{q}
	base := q.This.Register(row.CFA.Reg)
	var f luajit.Frame
	ok := base.Known()
	inward := row.CFA.Reg == q.Arch.SP && (compiled || machine.Leaves(q.PC))
	switch sp := row.CFA.At(base.Bits) - q.Arch.LuaJIT.Size; {
	case inward && ok:
		if f, ok = luajit.FrameFrom(r, q.Arch.LuaJIT, sp); ok {
			row.CFA.Off += int32(f.At - sp)
			row.Others = withRules(row.Others, q.Arch.LuaJIT.Saved)
		}
	case compiled && ok:
		f, ok = luajit.FrameAt(r, q.Arch.LuaJIT, sp)
	case q.Contradicted(&row):
		return trad.Row{}, coming
	}
	if !ok {
		return trad.Row{}, noState
	}
	if compiled {
		if c, ok := luajit.CompilerOf(r, f.Global); !ok || !c.Has(q.AddressInBlock) {
			return trad.Row{}, otherCode
		}
	}
	return row, frame.Claimed
}

// withRules returns rules with more of them.
func withRules(rules *trad.OtherRules, more []trad.RegRule) *trad.OtherRules {
	all := trad.OtherRules{}
	if rules != nil {
		all = *rules
	}
	all.Regs = slices.Concat(all.Regs, more)
	slices.SortFunc(all.Regs, func(a, b trad.RegRule) int { return cmp.Compare(a.Reg, b.Reg) })
	return &all
}

// FunctionStart implements [frame.FunctionSniffer].
func (s *Sniffer) FunctionStart(q *frame.Query) (addr uint64, ok bool) {
	lo, _, ok := s.FunctionBounds(q)
	return lo, ok
}

// FunctionBounds implements [frame.BoundsSniffer]: the machine is one function. Of traces it says
// nothing: they come and go.
func (*Sniffer) FunctionBounds(q *frame.Query) (lo, hi uint64, ok bool) {
	if q.Module == nil || q.Arch.LuaJIT == nil {
		return 0, 0, false
	}
	m := luajit.MachineIn(q.Module, q.Arch)
	if m == nil || !m.Has(q.AddressInBlock) {
		return 0, 0, false
	}
	return m.Lo, m.Hi, true
}
