package arch

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"
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

// ByUname returns the descriptor of a machine as uname(2) names it, or nil.
func ByUname(machine string) *Arch {
	return find(func(a *Arch) bool {
		return slices.ContainsFunc(a.Unames, func(name string) bool {
			prefix, open := strings.CutSuffix(name, "*")
			return machine == name || open && strings.HasPrefix(machine, prefix)
		})
	})
}

// ByPerfMask returns the descriptor whose registers perf_event_open(2) samples with a mask
// (sample_regs_user), or nil. If the mask has the registers of several, the one with the most
// registers counts.
func ByPerfMask(mask uint64, order binary.ByteOrder) (best *Arch) {
	for _, a := range registered {
		own := a.PerfMask()
		if a.Order == order && own != 0 && mask&own == own && (best == nil || len(a.PerfRegs) > len(best.PerfRegs)) {
			best = a
		}
	}
	return best
}

// Of32Bits returns the descriptor of the 32-bit programs that a kernel of the architecture runs:
// its own where it has 32 bits; nil if it runs none, or if nothing is known of them.
func (a *Arch) Of32Bits() *Arch {
	switch {
	case a == nil:
		return nil
	case a.PtrSize == 4:
		return a
	}
	return ByName(a.Programs32)
}

// ByMachine returns the descriptor of an ELF machine and byte order, or nil. An order of nil stands
// for any.
func ByMachine(m elf.Machine, order binary.ByteOrder) *Arch {
	return find(func(a *Arch) bool { return a.Machine == m && (order == nil || a.Order == order) })
}

// ByMinidump returns the descriptor of a processor's number in minidumps, or nil.
func ByMinidump(processor uint16) *Arch {
	return find(func(a *Arch) bool { return slices.Contains(a.Minidumps, processor) })
}

// BySFrameABI returns the descriptor of an SFrame ABI/arch identifier (SFrame
// V3, section 2.2.1), or nil.
func BySFrameABI(abi uint8) *Arch {
	return find(func(a *Arch) bool { return slices.Contains(a.SFrameABI, abi) })
}

// Same reports whether a and b describe one processor: targets may have descriptors with an address
// mask of their own.
func (a *Arch) Same(b *Arch) bool { return a.Name == b.Name }

func find(is func(*Arch) bool) *Arch {
	if i := slices.IndexFunc(registered, is); i >= 0 {
		return registered[i]
	}
	return nil
}
