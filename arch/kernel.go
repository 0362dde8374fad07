package arch

import (
	"github.com/sfwalk/sfwalk/trad"
)

// KernelRegs is the layout of one of the Linux kernel's register sets: what
// PTRACE_GETREGSET gives for a note type, and what a core file's note of that
// type holds (NT_PRSTATUS's behind its header of [PRStatusHeader] bytes).
type KernelRegs struct {
	Note uint32 // NT_PRSTATUS, NT_PRFPREG, … (elf.h)
	Size int    // bytes of a whole set
	Regs []KernelReg
}

// KernelReg is the place of one register in a set.
type KernelReg struct {
	Reg  trad.Reg
	Off  int // bytes from the set's beginning
	Size int // 4 or 8 bytes
}

// Types of notes with register sets (elf.h).
const (
	NTPRStatus uint32 = 1
	NTFPRegs   uint32 = 2 // NT_PRFPREG, NT_FPREGSET
)

// PRStatusHeader is where a core file's NT_PRSTATUS has its registers
// (struct elf_prstatus.pr_reg) on 64-bit architectures, bytes.
const PRStatusHeader = 112

// Get fills in the registers that data, a set or as much of it as there is, has.
func (k *KernelRegs) Get(a *Arch, data []byte, to *Registers) {
	for _, r := range k.Regs {
		switch {
		case r.Off+r.Size > len(data):
		case r.Size == 4:
			to.Set(r.Reg, uint64(a.Order.Uint32(data[r.Off:])))
		default:
			to.Set(r.Reg, a.Order.Uint64(data[r.Off:]))
		}
	}
}

// Put writes the registers that are known into data, a set of Size bytes; what
// it has of others stays.
func (k *KernelRegs) Put(a *Arch, from *Registers, data []byte) {
	for _, r := range k.Regs {
		v, ok := from.Get(r.Reg)
		switch {
		case !ok:
		case r.Size == 4:
			a.Order.PutUint32(data[r.Off:], uint32(v))
		default:
			a.Order.PutUint64(data[r.Off:], v)
		}
	}
}
