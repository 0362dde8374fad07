package gostack

import (
	"bytes"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// crosscall1X86 is the code of runtime/cgo's crosscall1 around its call of runtime.mstart. No table
// describes the function, and a stripped program does not say where it begins.
//
//	call *%rbx; pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret
var crosscall1X86 = []byte{0xff, 0xd3, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3}

const crosscall1Call = 2 // bytes of the call

// crosscall1 returns the row of crosscall1, a function of C.
func (p *program) crosscall1(q *frame.Query) (trad.Row, frame.Answer) {
	if p.m != x86 || q.Innermost() || !bytes.Equal(q.Read(q.PC-crosscall1Call, len(crosscall1X86)), crosscall1X86) {
		return trad.Row{}, noFunction
	}
	saved := func(off int32) trad.Rule { return trad.Rule{Kind: trad.Saved, Off: off} }
	return trad.Row{
		Lo: q.AddressInBlock, Len: 1,
		CFA: trad.Rule{Kind: trad.InReg, Reg: amd64.RSP, Off: 56}, RA: saved(-8), FP: saved(-24),
		Others: &trad.OtherRules{Default: trad.Same, Regs: []trad.RegRule{
			{Reg: amd64.RBX, Rule: saved(-16)}, {Reg: amd64.R12, Rule: saved(-32)}, {Reg: amd64.R13, Rule: saved(-40)},
			{Reg: amd64.R14, Rule: saved(-48)}, {Reg: amd64.R15, Rule: saved(-56)},
		}},
	}, frame.Claimed
}
