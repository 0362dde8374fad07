package arch

import (
	"slices"

	"github.com/sfwalk/sfwalk/trad"
)

// WideReg is a register that is wider than 64 bits, or a mask of such registers. It may share its
// number with a register of [Arch.Regs], which is a part of it then (s390x's f0 is a part of v0).
type WideReg struct {
	Num  trad.Reg
	Name string // GDB's: "zmm0", "v0"
	// Narrower are GDB's names of its first bytes, the fewest first: of "zmm0", "xmm0" and "ymm0".
	Narrower []NarrowReg
	// Parts say where the kernel's register sets have it: the first part has the register's first
	// bytes as it lies in memory. A thread may lack the sets of the last parts: then its register
	// is narrower.
	Parts []WidePart
	// Also says, part for part, where another set has the same bytes: some debuggers' core files
	// have that set alone. Size is 0 if there is no such set.
	Also []WidePart
}

// NarrowReg is a name of the first bytes of a register that is wider.
type NarrowReg struct {
	Name string
	Size int // bytes
}

// Size returns how many bytes the register has, on a processor that has all its parts.
func (w *WideReg) Size() (n int) {
	for _, p := range w.Parts {
		n += p.Size
	}
	return n
}

// WideRegs returns the registers that are wider than 64 bits. The table is made when it is first
// asked for.
func (a *Arch) WideRegs() []WideReg {
	if a.WideTable == nil {
		return nil
	}
	return a.WideTable()
}

// Wide returns the description of a wide register, nil if r is none.
func (a *Arch) Wide(r trad.Reg) *WideReg {
	regs := a.WideRegs()
	for i := range regs {
		if regs[i].Num == r {
			return &regs[i]
		}
	}
	return nil
}

// IsX87 reports whether r is a register of the x87, which holds numbers of 80 bits alone.
func (a *Arch) IsX87(r trad.Reg) bool {
	const bytes = 10
	w := a.Wide(r)
	return w != nil && w.Size() == bytes
}

// Following returns the register that holds the rest of a value which is wider than r, where the
// debug information names r alone, as GDB has it. ok is false if there is none, or if r is wider
// than 64 bits.
func (a *Arch) Following(r trad.Reg) (next trad.Reg, ok bool) {
	if a.Continued != nil {
		i := slices.Index(a.Continued, r)
		if i < 0 || i+1 == len(a.Continued) {
			return 0, false
		}
		return a.Continued[i+1], true
	}
	i := a.Index(r)
	if i < 0 || a.Wide(r) != nil || i+1 == len(a.Regs) {
		return 0, false
	}
	return a.Regs[i+1].Num, true
}
