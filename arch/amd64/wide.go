package amd64

import (
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/trad"
)

// ntXState is NT_X86_XSTATE: XSAVE's area in its standard form, whose beginning is user_fpregs_struct.
const ntXState = control.NTXState

// wideRegs are the x87's and the vector registers. NT_PRFPREG is struct user_fpregs_struct: st0 at 32,
// xmm0 at 160. The upper half of ymm0 is at 576 of NT_X86_XSTATE (Intel SDM volume 1,
// 13.4), and in use if bit 2 of XSTATE_BV, at 512, is set.
func wideRegs() (regs []arch.WideReg) {
	for i := range 16 {
		regs = append(regs, arch.WideReg{Num: XMM0 + trad.Reg(i), Name: fmt.Sprintf("ymm%d", i), Parts: []arch.WidePart{
			{Note: arch.NTFPRegs, Off: 160 + 16*i, Size: 16}, {Note: ntXState, Off: 576 + 16*i, Size: 16, InUse: 512, Bits: 4},
		}, Also: []arch.WidePart{{Note: ntXState, Off: 160 + 16*i, Size: 16}}})
	}
	for i := range 8 {
		regs = append(regs, arch.WideReg{Num: ST0 + trad.Reg(i), Name: fmt.Sprintf("st%d", i), Parts: []arch.WidePart{
			{Note: arch.NTFPRegs, Off: 32 + 16*i, Size: 10},
		}, Also: []arch.WidePart{{Note: ntXState, Off: 32 + 16*i, Size: 10}}})
	}
	return regs
}
