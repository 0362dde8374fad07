package amd64

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// crosscall1 is the function's code around its call of runtime.mstart (runtime/cgo/gcc_amd64.S).
func crosscall1() *arch.Crosscall1 {
	saved := func(off int32) trad.Rule { return trad.Rule{Kind: trad.Saved, Off: off} }
	return &arch.Crosscall1{
		// call *%rbx; pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret
		Code: []byte{0xff, 0xd3, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3},
		Call: 2,
		Row: trad.Row{
			CFA: trad.Rule{Kind: trad.InReg, Reg: RSP, Off: 56}, RA: saved(-8), FP: saved(-24),
			Others: &trad.OtherRules{Default: trad.Same, Regs: []trad.RegRule{
				{Reg: RBX, Rule: saved(-16)}, {Reg: R12, Rule: saved(-32)}, {Reg: R13, Rule: saved(-40)},
				{Reg: R14, Rule: saved(-48)}, {Reg: R15, Rule: saved(-56)},
			}},
		},
	}
}
