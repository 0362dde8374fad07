package gostack

import (
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/trad"
)

// machine describes Go's frames on a processor.
type machine struct {
	*goruntime.Machine
	frames frames
	rest   *trad.OtherRules // of an ordinary function
}

// machines are the machines that were made, by the runtime's.
var machines sync.Map

// machineOf describes Go's frames on a processor; nil if Go's conventions there are not known.
func machineOf(a *arch.Arch) *machine {
	of := goruntime.MachineOf(a)
	if of == nil {
		return nil
	}
	m, ok := machines.Load(of)
	if !ok {
		m, _ = machines.LoadOrStore(of, newMachine(of))
	}
	return m.(*machine)
}

func newMachine(of *goruntime.Machine) *machine {
	m := &machine{Machine: of, frames: framesLinked, rest: &trad.OtherRules{Default: trad.Same}}
	switch {
	case m.InTail == arch.NoReg:
		m.frames = framesPushed
	case m.NoFP:
		m.frames = framesWithoutFP
	}
	for r := range dataflow.Reg(m.Regs) {
		rule := trad.Rule{Kind: trad.Undefined}
		switch {
		case r == m.SP && m.Arch.SPFromCFA != 0: // C's functions have more of a stack at the CFA than Go's
			rule.Kind = trad.Value
		case !m.Preserved.Has(r) || r == m.SP || r == m.FP || m.DWARF(r) == m.G: // G is the same on all of a stack
			continue
		}
		m.rest.Regs = append(m.rest.Regs, trad.RegRule{Reg: m.DWARF(r), Rule: rule})
	}
	return m
}
