package goruntime

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/trad"
)

// None stands for no register.
const None trad.Reg = 0xffff

// Machine describes a processor, and the conventions of Go's runtime on it.
type Machine struct {
	*dataflow.Machine
	Arch *arch.Arch
	// InTail is the register that has a function's return address while the function's last
	// instructions call morestack; None where the stack has it.
	InTail trad.Reg
	// G is the register that has the struct g of what runs; None where the thread's own
	// storage has it, at a distance from ThreadPointer.
	G, ThreadPointer trad.Reg
	// InGo is the register that has the struct g while a goroutine runs code of Go: functions of assembly and of C may use it for
	// something else, where it is not G.
	InGo trad.Reg
	NoFP bool // Go has no frame pointer there, and uses the register for something else

	// gosave are the registers that gosave_systemstack_switch changes, tls those that save_g and load_g do.
	gosave, tls []trad.Reg

	regs   int // all registers have numbers below regs
	sp, fp trad.Reg
	ra     trad.Reg   // the link register; the return address column where a call pushes it
	pushed int64      // bytes that a call pushes
	kept   []trad.Reg // registers that functions of C preserve, without SP and FP; ascending
}

// The processors.
var (
	AMD64 = newMachine(Machine{
		Machine: amd64.Machine, Arch: amd64.Arch,
		gosave:        []trad.Reg{amd64.R9},
		InTail:        None,
		G:             None,
		InGo:          amd64.R14,
		ThreadPointer: amd64.FSBase,
	})
	ARM64 = newMachine(Machine{
		Machine: arm64.Machine, Arch: arm64.Arch,
		gosave: []trad.Reg{0, 27, arm64.X30},
		tls:    []trad.Reg{0, 27, arm64.X30},
		InTail: 3,
		G:      28,
		InGo:   28,
	})
	S390X = newMachine(Machine{
		Machine: s390x.Machine, Arch: s390x.Arch,
		gosave: []trad.Reg{s390x.R1, s390x.R14},
		tls:    []trad.Reg{s390x.R10, s390x.R11, s390x.R14},
		InTail: s390x.R5,
		G:      s390x.R13,
		InGo:   s390x.R13,
		NoFP:   true,
	})
)

// machines are the processors, by their names.
var machines = map[string]*Machine{"amd64": AMD64, "arm64": ARM64, "s390x": S390X}

// MachineOf describes a processor; nil if Go's conventions on it are not known here.
func MachineOf(a *arch.Arch) *Machine { return machines[a.Name] }

func newMachine(m Machine) *Machine {
	m.regs = int(m.DWARF(dataflow.Reg(m.Regs-1))) + 1
	m.sp, m.fp, m.ra, m.pushed = m.Arch.SP, m.Arch.FP, m.Arch.RA, int64(-m.Pushed)
	for r := range dataflow.Reg(m.Regs) {
		if m.Preserved.Has(r) && r != m.SP && r != m.FP {
			m.kept = append(m.kept, m.DWARF(r))
		}
	}
	return &m
}
