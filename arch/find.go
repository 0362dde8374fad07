package arch

import (
	"debug/elf"
	"encoding/binary"
	"slices"
)

var registered []*Arch

// Register makes a descriptor known to [ByName], [ByMachine] and [BySFrameABI].
// It is called by the descriptors' packages when they are initialised, and at
// no other time.
func Register(a *Arch) {
	for i, r := range a.Regs {
		a.index[r.Num] = int8(i + 1)
		if r.Bits < 64 {
			a.spare[r.Num] = uint8(64 - r.Bits)
			a.NarrowRegs = append(a.NarrowRegs, r.Num)
		}
		if a.CalleeSaved.Has(r.Num) && r.Num != a.PC && r.Num != a.SP && r.Num != a.FP && r.Num != a.RA && len(a.OtherCalleeSaved) < MaxOtherCalleeSaved {
			a.OtherCalleeSaved = append(a.OtherCalleeSaved, r.Num)
			a.kept[r.Num] = int8(len(a.OtherCalleeSaved))
		}
	}
	registered = append(registered, a)
}

// ByName returns the descriptor with that GOARCH name, or with that alias; or nil.
func ByName(name string) *Arch {
	return find(func(a *Arch) bool { return a.Name == name || slices.Contains(a.Aliases, name) })
}

// Of32Bits returns the descriptor of the 32-bit programs that a kernel of the architecture runs: its own where it
// has 32 bits; nil if it runs none, or if nothing is known of them.
func (a *Arch) Of32Bits() *Arch {
	switch {
	case a == nil:
		return nil
	case a.PtrSize == 4:
		return a
	}
	return ByName(a.Programs32)
}

// ByMachine returns the descriptor of an ELF machine and byte order, or nil.
func ByMachine(m elf.Machine, order binary.ByteOrder) *Arch {
	return find(func(a *Arch) bool { return a.Machine == m && a.Order == order })
}

// BySFrameABI returns the descriptor of an SFrame ABI/arch identifier (SFrame
// V3, section 2.2.1), or nil.
func BySFrameABI(abi uint8) *Arch {
	return find(func(a *Arch) bool { return slices.Contains(a.SFrameABI, abi) })
}

func find(is func(*Arch) bool) *Arch {
	if i := slices.IndexFunc(registered, is); i >= 0 {
		return registered[i]
	}
	return nil
}
