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
