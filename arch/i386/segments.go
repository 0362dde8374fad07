package i386

import "github.com/sfwalk/sfwalk/arch"

// segments is NT_386_TLS (elf.h): the three descriptors that a thread may set, each a struct
// user_desc (asm/ldt.h) of entry_number, base_addr, limit and flags, 4 bytes each.
var segments = arch.KernelRegs{
	Note: 0x200, Size: 3 * descriptorSize, ForValues: true,
	Read: func(a *arch.Arch, data []byte, to *arch.Registers) {
		entry, ok := threadEntry(to)
		for ; ok && len(data) >= descriptorSize; data = data[descriptorSize:] {
			if a.Order.Uint32(data) == entry {
				to.Set(GSBase, uint64(a.Order.Uint32(data[4:])))
			}
		}
	},
	Write: func(a *arch.Arch, from *arch.Registers, data []byte) bool {
		entry, ok := threadEntry(from)
		base, known := from.Get(GSBase)
		if !ok || !known {
			return false
		}
		a.Order.PutUint32(data, entry)
		a.Order.PutUint32(data[4:], uint32(base))
		a.Order.PutUint32(data[8:], 0xfffff) // all addresses
		a.Order.PutUint32(data[12:], 0x51)   // seg_32bit, limit_in_pages, useable
		return true
	},
}

const descriptorSize = 16

// threadEntry returns the number of the descriptor that GS selects in the global table, which has
// the descriptors of threads.
func threadEntry(regs *arch.Registers) (entry uint32, ok bool) {
	const local = 1 << 2 // the descriptor is one of the process's own table
	gs, ok := regs.Get(GS)
	return uint32(gs) >> 3, ok && gs&local == 0 && gs>>3 != 0
}
