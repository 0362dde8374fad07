package luajit

import (
	"bytes"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/unwindtables"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// exported is a function that LuaJIT exports from 2.1 on.
var exported = elf.Seldom("luaJIT_profile_start")

// In reports whether a module has LuaJIT. A module that has it not costs next to nothing.
func In(m *target.Module) bool {
	im, _, err := m.PeekImage()
	return err == nil && im.MayHaveSymbol(exported) && len(im.Lookup(exported, 1)) > 0
}

// Machine is the code of the virtual machine, and the row of its frames.
type Machine struct {
	Lo, Hi uint64
	Row    trad.Row

	exit, exited uint64 // the code that leaves a trace
}

// Has reports whether the machine's code has an address.
func (m *Machine) Has(pc uint64) bool { return pc-m.Lo < m.Hi-m.Lo }

// Leaves reports whether the code at an address leaves a trace: the stack pointer is still where
// the trace has it.
func (m *Machine) Leaves(pc uint64) bool { return pc-m.exit < m.exited-m.exit }

type (
	ofModule  struct{}
	ofProcess struct{}
)

// How large the machine's code is, bytes.
const (
	leastMachine = 8 << 10
	mostMachine  = 1 << 20
)

// MachineIn returns the machine of a module, nil if that has none. The machine's table says of its
// whole code that the frame is set up. No compiler makes such a function of that size.
func MachineIn(m *target.Module, a *arch.Arch) *Machine {
	return m.Memo(ofModule{}, func() any {
		var found *Machine
		if a.LuaJIT == nil || !In(m) {
			return found
		}
		s := unwindtables.CFIOf(m, a)
		for _, section := range s.Sections {
			for f, err := range section.FDEs() {
				if err != nil || f.Len < leastMachine || found != nil && f.Len <= found.Hi-found.Lo {
					continue
				}
				row, lo, hi, _, err := section.RowAt(f.Start)
				if err != nil || lo != f.Start || hi-lo < f.Len || row.CFA != a.LuaJIT.CFA {
					continue
				}
				found = &Machine{Lo: f.Start + s.Bias, Hi: f.Start + f.Len + s.Bias, Row: row}
			}
		}
		if found != nil && found.Hi-found.Lo < mostMachine {
			found.findExit(m, a.LuaJIT)
		}
		return found
	}).(*Machine)
}

// MachineOf returns the machine of a process, nil if that has none.
func MachineOf(modules *target.Modules, a *arch.Arch) *Machine {
	return modules.Memo(ofProcess{}, func() any {
		for _, m := range modules.All() {
			if x := MachineIn(m, a); x != nil {
				return x
			}
		}
		return (*Machine)(nil)
	}).(*Machine)
}

// findExit finds the code that leaves a trace.
func (m *Machine) findExit(of *target.Module, rules *arch.LuaJITMachine) {
	im, bias, err := of.Image()
	if err != nil || rules.Exit == nil {
		return
	}
	code := make([]byte, m.Hi-m.Lo)
	code = code[:im.ReadLoaded(m.Lo-bias, code)]
	at := bytes.Index(code, rules.Exit)
	if at < 0 {
		return
	}
	if n := bytes.Index(code[at:], rules.Exited); n >= 0 {
		m.exit, m.exited = m.Lo+uint64(at), m.Lo+uint64(at+n+1)
	}
}
