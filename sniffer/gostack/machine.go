package gostack

import (
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/trad"
)

// machines are the processors, by their names.
var machines = map[string]*machine{"amd64": x86, "arm64": arm, "s390x": z}

var x86 = &machine{
	decode: decodeX86,
	regs:   int(scratch) + 1,
	sp:     amd64.RSP, fp: amd64.RBP, ra: amd64.RIP, pushed: 8,
	kept:          []trad.Reg{amd64.RBX, amd64.R12, amd64.R13, amd64.R14, amd64.R15},
	gosave:        []trad.Reg{amd64.R9},
	inTail:        none,
	g:             none,
	threadPointer: amd64.FSBase,
	frames:        framesAMD64,
}

var arm = &machine{
	decode: decodeARM,
	regs:   int(scratchARM) + 1,
	sp:     arm64.SP, fp: arm64.X29, ra: arm64.X30,
	kept: []trad.Reg{
		19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
		arm64.D8, arm64.D8 + 1, arm64.D8 + 2, arm64.D8 + 3, arm64.D8 + 4, arm64.D8 + 5, arm64.D8 + 6, arm64.D15,
	},
	gosave: []trad.Reg{0, 27, arm64.X30},
	inTail: 3,
	g:      28, callSize: 4,
	frames:  framesARM64,
	injects: 16,
}

var z = &machine{
	decode: decodeZ,
	regs:   int(s390x.F15) + 1,
	sp:     s390x.R15, fp: s390x.R11, ra: s390x.R14,
	kept: []trad.Reg{
		s390x.R6, s390x.R7, s390x.R8, s390x.R9, s390x.R10, s390x.R12, s390x.R13,
		s390x.F8, s390x.F10, s390x.F12, s390x.F14, s390x.F9, s390x.F11, s390x.F13, s390x.F15,
	},
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
		m.rest = &trad.Rest{Unlisted: trad.Same}
		for _, r := range m.kept {
			if r == m.g {
				continue // the same on all of a stack
			}
			m.rest.Regs = append(m.rest.Regs, trad.RegRule{Reg: r, Rule: trad.Rule{Kind: trad.Undefined}})
		}
		m.rest.Regs = m.stackPointer(m.rest.Regs)
	}
}

// stackPointer returns regs with what SP is in PREVIOUS, where C's functions have more of
// a stack at the CFA than Go's.
func (m *machine) stackPointer(regs []trad.RegRule) []trad.RegRule {
	if m != z {
		return regs
	}
	return insert(regs, trad.RegRule{Reg: m.sp, Rule: trad.Rule{Kind: trad.Value}})
}
