package arch

import "github.com/sfwalk/sfwalk/trad"

// WideReg is a register that is wider than 64 bits. It may share its number with a register of
// [Arch.Regs], which is a part of it then (s390x's f0 is a part of v0).
type WideReg struct {
	Num  trad.Reg
	Name string // GDB's: "xmm0", "v0"
	// Parts say where the kernel's register sets have it: the first part has the register's first
	// bytes as it lies in memory. A thread may lack the sets of the last parts: then its register is
	// narrower.
	Parts []WidePart
}

// WidePart is the place of a part of a register in one of the kernel's register sets.
type WidePart struct {
	Note uint32 // NT_PRFPREG, …
	Off  int    // bytes from the set's beginning
	Size int    // bytes
	// InUse is where the set says, by the bits Bits of a byte, that the part is not zero: who writes the
	// part sets them. Bits is 0 where it need not be said.
	InUse int
	Bits  byte
}

// Size returns how many bytes the register has, on a processor that has all its parts.
func (w *WideReg) Size() (n int) {
	for _, p := range w.Parts {
		n += p.Size
	}
	return n
}

// Wide returns the description of a wide register, nil if r is none.
func (a *Arch) Wide(r trad.Reg) *WideReg {
	for i := range a.WideRegs {
		if a.WideRegs[i].Num == r {
			return &a.WideRegs[i]
		}
	}
	return nil
}
