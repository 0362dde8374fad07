package i386

import (
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/trad"
)

// DWARF's numbers of the first of the x87's registers, and of the vector registers.
const (
	ST0  trad.Reg = 11
	XMM0 trad.Reg = 21
)

// wideRegs are the x87's and the vector registers. NT_PRFPREG is struct user_i387_struct, with st0 at
// 28; NT_PRXFPREG is struct user_fxsr_struct, with xmm0 at 160. The upper half of ymm0 is at 576 of
// NT_X86_XSTATE (Intel SDM volume 1, 13.4), and in use if bit 2 of XSTATE_BV, at 512, is set.
func wideRegs() (regs []arch.WideReg) {
	for i := range 8 {
		regs = append(regs, arch.WideReg{Num: XMM0 + trad.Reg(i), Name: fmt.Sprintf("ymm%d", i), Parts: []arch.WidePart{
			{Note: control.NTPRXFPReg, Off: 160 + 16*i, Size: 16}, {Note: control.NTXState, Off: 576 + 16*i, Size: 16, InUse: 512, Bits: 4},
		}, Also: []arch.WidePart{{Note: control.NTXState, Off: 160 + 16*i, Size: 16}}})
	}
	for i := range 8 {
		regs = append(regs, arch.WideReg{Num: ST0 + trad.Reg(i), Name: fmt.Sprintf("st%d", i), Parts: []arch.WidePart{
			{Note: arch.NTFPRegs, Off: 28 + 10*i, Size: 10},
		}, Also: []arch.WidePart{{Note: control.NTXState, Off: 32 + 16*i, Size: 10}}})
	}
	return regs
}
