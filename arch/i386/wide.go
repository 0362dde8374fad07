package i386

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/arch/internal/x86"
	"github.com/sfwalk/sfwalk/trad"
)

// DWARF's numbers of the first of the x87's registers, of the vector registers, and of AVX-512's
// masks.
const (
	ST0  trad.Reg = 11
	XMM0 trad.Reg = 21
	K0   trad.Reg = 93
)

// wideRegs are the vector registers, the x87's, and AVX-512's masks. NT_PRFPREG is struct
// user_i387_struct, with st0 at 28; NT_PRXFPREG is struct user_fxsr_struct, with xmm0 at 160.
func wideRegs() (regs []arch.WideReg) {
	for i := range 8 {
		regs = append(regs, x86.Vector(XMM0, i, control.NTPRXFPReg))
	}
	for i := range 8 {
		regs = append(regs, x86.X87(ST0, i, arch.WidePart{Note: arch.NTFPRegs, Off: 28 + 10*i, Size: 10}))
	}
	for i := range 8 {
		regs = append(regs, x86.Mask(K0, i))
	}
	return regs
}

// parts are the vector registers, of gdb's features/i386/32bit-sse.xml, 32bit-avx.xml and
// 32bit-avx512.xml.
func parts() map[string][]string { return x86.Parts(wideRegs()) }
