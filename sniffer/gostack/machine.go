package gostack

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/arch/values"
	"github.com/sfwalk/sfwalk/trad"
)

// none stands for no register.
const none trad.Reg = 0xffff

// machine is what must be known of a processor and of Go's conventions on it.
type machine struct {
	*values.Machine
	arch *arch.Arch
	// gosave is what the runtime's gosave_systemstack_switch changes, and save_g and load_g.
	gosave []trad.Reg
	// inTail is the register that has the return address of a function whose last
	// instructions call morestack; none where it is on the stack.
	inTail trad.Reg
	// g is the register that has the struct g of what runs; none where the thread's own
	// storage must be asked, at threadPointer.
	g, threadPointer trad.Reg
	callSize         uint64 // bytes of a direct call, where inTail is a register
	noFP             bool   // Go has no frame pointer there, and uses the register
	frames           frames
	// injects is how many bytes the runtime's sighandler pushes, with the link register at their
	// inner end, where it makes a function call another; 0 where it pushes a return address alone.
	injects int32

	regs   int // registers have numbers below it
	sp, fp trad.Reg
	ra     trad.Reg         // the link register; the return address column where a call pushes it
	pushed int64            // bytes that a call pushes
	kept   []trad.Reg       // by functions of C, but SP and FP; ascending
	rest   *trad.OtherRules // of an ordinary function
}

// machines are the processors, by their names.
var machines = map[string]*machine{"amd64": x86, "arm64": arm, "s390x": z}

var x86 = &machine{
	Machine: amd64.Machine, arch: amd64.Arch,
	gosave:        []trad.Reg{amd64.R9},
	inTail:        none,
	g:             none,
	threadPointer: amd64.FSBase,
	frames:        framesAMD64,
}

var arm = &machine{
	Machine: arm64.Machine, arch: arm64.Arch,
	gosave:   []trad.Reg{0, 27, arm64.X30},
	inTail:   3,
	g:        28,
	callSize: 4,
	frames:   framesARM64,
	injects:  16,
}

var z = &machine{
	Machine: s390x.Machine, arch: s390x.Arch,
	gosave:   []trad.Reg{s390x.R1, s390x.R10, s390x.R11, s390x.R14},
	inTail:   s390x.R5,
	g:        s390x.R13,
	callSize: 6,
	noFP:     true,
	frames:   framesS390X,
	injects:  8,
}

func init() {
	for _, m := range machines {
		m.regs = int(m.DWARF(values.Reg(m.Regs-1))) + 1
		m.sp, m.fp, m.ra, m.pushed = m.arch.SP, m.arch.FP, m.arch.RA, int64(-m.Pushed)
		m.rest = &trad.OtherRules{Default: trad.Same}
		for r := range values.Reg(m.Regs) {
			if !m.Preserved.Has(r) || r == m.SP || r == m.FP {
				continue
			}
			m.kept = append(m.kept, m.DWARF(r))
			if m.DWARF(r) != m.g { // which is the same on all of a stack
				m.rest.Regs = append(m.rest.Regs, trad.RegRule{Reg: m.DWARF(r), Rule: trad.Rule{Kind: trad.Undefined}})
			}
		}
		m.rest.Regs = m.stackPointer(m.rest.Regs)
	}
}

// stackPointer returns regs with what SP is in PREVIOUS, where C's functions have more of
// a stack at the CFA than Go's.
func (m *machine) stackPointer(regs []trad.RegRule) []trad.RegRule {
	if m.arch.SPFromCFA == 0 {
		return regs
	}
	return insert(regs, trad.RegRule{Reg: m.sp, Rule: trad.Rule{Kind: trad.Value}})
}
