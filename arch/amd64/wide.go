package amd64

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/internal/x86"
	"github.com/sfwalk/sfwalk/trad"
)

// The registers of AVX-512 (System V ABI, AMD64 supplement, figure 3.36): XMM17 to XMM31 follow
// XMM16, K1 to K7 follow K0.
const (
	XMM16 trad.Reg = 67
	K0    trad.Reg = 118
)

// wideRegs are the vector registers, the x87's, and AVX-512's masks. NT_PRFPREG is struct
// user_fpregs_struct, as which NT_X86_XSTATE begins: st0 at 32, xmm0 at 160.
func wideRegs() (regs []arch.WideReg) {
	for i := range 16 {
		regs = append(regs, x86.Vector(XMM0, i, arch.NTFPRegs))
	}
	for i := range 16 {
		regs = append(regs, x86.Vector16(XMM16, i))
	}
	for i := range 8 {
		regs = append(regs, x86.X87(ST0, i, arch.WidePart{Note: arch.NTFPRegs, Off: 32 + 16*i, Size: 10}))
	}
	for i := range 8 {
		regs = append(regs, x86.Mask(K0, i))
	}
	return regs
}

// parts are the vector registers, of gdb's features/i386/64bit-sse.xml, 64bit-avx.xml and
// 64bit-avx512.xml.
func parts() map[string][]string { return x86.Parts(wideRegs()) }
