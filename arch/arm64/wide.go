package arm64

import (
	"strconv"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// wideRegs are the vector registers, in struct user_fpsimd_state.
func wideRegs() (regs []arch.WideReg) {
	for i := range 32 {
		regs = append(regs, arch.WideReg{Num: V0 + trad.Reg(i), Name: "v" + strconv.Itoa(i), Parts: []arch.WidePart{
			{Note: arch.NTFPRegs, Off: 16 * i, Size: 16},
		}})
	}
	return regs
}
