package goruntime

import (
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/trad"
)

// Machine is a processor, with the conventions of Go's runtime on it.
type Machine struct {
	*dataflow.Machine
	*arch.GoRules
	Arch *arch.Arch

	regs   int // all registers have numbers below regs
	sp, fp trad.Reg
	ra     trad.Reg   // the link register; the return address column where a call pushes it
	pushed int64      // bytes that a call pushes
	kept   []trad.Reg // registers that functions of C preserve, without SP and FP; ascending
}

// machines are the machines that were made, by their conventions: a descriptor with another mask of
// addresses has the same.
var machines sync.Map

// MachineOf describes a processor; nil if Go's conventions on it are not known.
func MachineOf(a *arch.Arch) *Machine {
	if a == nil || a.Go == nil || dataflow.Of(a) == nil {
		return nil
	}
	m, ok := machines.Load(a.Go)
	if !ok {
		m, _ = machines.LoadOrStore(a.Go, newMachine(a))
	}
	return m.(*Machine)
}

func newMachine(a *arch.Arch) *Machine {
	m := &Machine{Machine: dataflow.Of(a), GoRules: a.Go, Arch: a}
	m.regs = int(m.DWARF(dataflow.Reg(m.Regs-1))) + 1
	m.sp, m.fp, m.ra, m.pushed = a.SP, a.FP, a.RA, int64(-m.Pushed)
	for r := range dataflow.Reg(m.Regs) {
		if m.Preserved.Has(r) && r != m.SP && r != m.FP {
			m.kept = append(m.kept, m.DWARF(r))
		}
	}
	return m
}
