package s390x

import (
	"strconv"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/control"
)

// Notes of the vector registers: the low halves of v0 to v15, and v16 to v31.
const (
	ntVXRSLow  = control.NTVXRSLow
	ntVXRSHigh = control.NTVXRSHigh
)

// wideRegs are the vector registers. The high halves of v0 to v15 are f0 to f15, and have their
// numbers. The numbers of v16 to v31 are in the same order (s390x ELF ABI, table 1.17).
func wideRegs() (regs []arch.WideReg) {
	const v16 = 68
	for n, f := range fprs {
		regs = append(regs, arch.WideReg{Num: f, Name: "v" + strconv.Itoa(n), Parts: []arch.WidePart{
			{Note: arch.NTFPRegs, Off: 8 + 8*n, Size: 8}, {Note: ntVXRSLow, Off: 8 * n, Size: 8},
		}})
	}
	for n, f := range fprs {
		regs = append(regs, arch.WideReg{Num: v16 + f - F0, Name: "v" + strconv.Itoa(16+n), Parts: []arch.WidePart{
			{Note: ntVXRSHigh, Off: 16 * n, Size: 16},
		}})
	}
	return regs
}
