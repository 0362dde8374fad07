package gostack

import (
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/trad"
)

// machine describes Go's frames on a processor.
type machine struct {
	*goruntime.Machine
	frames   frames
	callSize uint64 // bytes of a direct call, where InTail is a register
	// injects is the number of bytes that the runtime's sighandler pushes to make a function call
	// another one. The link register is at their inner end. 0: it pushes only a return address.
	injects int32

	rest *trad.OtherRules // of an ordinary function
}

// machines are the processors, by their names.
var machines = map[string]*machine{"amd64": x86, "arm64": arm, "s390x": z}

var (
	x86 = &machine{Machine: goruntime.AMD64, frames: framesAMD64}
	arm = &machine{Machine: goruntime.ARM64, frames: framesARM64, callSize: 4, injects: 16}
	z   = &machine{Machine: goruntime.S390X, frames: framesS390X, callSize: 6, injects: 8}
)

func init() {
	for _, m := range machines {
		m.rest = &trad.OtherRules{Default: trad.Same}
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
	}
}
