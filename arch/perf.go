package arch

import (
	"math/bits"

	"github.com/sfwalk/sfwalk/trad"
)

// PerfReg is a register in the samples of perf_event_open(2): the kernel's number of it, which is
// its bit in sample_regs_user (asm/perf_regs.h).
type PerfReg struct {
	Bit uint8
	Reg trad.Reg
}

// PerfMask returns the bits of all registers that samples can have.
func (a *Arch) PerfMask() (mask uint64) {
	for _, r := range a.PerfRegs {
		mask |= 1 << r.Bit
	}
	return mask
}

// FromPerf fills in the registers of a sample. values has one for each bit of mask, the lowest bit
// first; if there are fewer, the others stay unknown.
func (a *Arch) FromPerf(mask uint64, values []uint64, to *Registers) {
	for _, r := range a.PerfRegs {
		if mask&(1<<r.Bit) == 0 {
			continue
		}
		if i := bits.OnesCount64(mask & (1<<r.Bit - 1)); i < len(values) {
			to.Set(r.Reg, a.Wrap(values[i]))
		}
	}
}

// PerfRun returns n registers whose numbers begin at reg, and whose bits begin at bit.
func PerfRun(bit uint8, reg trad.Reg, n int) (list []PerfReg) {
	for i := range n {
		list = append(list, PerfReg{Bit: bit + uint8(i), Reg: reg + trad.Reg(i)})
	}
	return list
}
