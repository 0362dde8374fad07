package arch

import (
	"debug/elf"
	"encoding/binary"

	"github.com/sfwalk/sfwalk/trad"
)

// Word returns the word that p, of at least PtrSize bytes, begins with: as wide as an address, in
// the target's byte order.
func (a *Arch) Word(p []byte) uint64 {
	if a.PtrSize == 4 {
		return uint64(a.Order.Uint32(p))
	}
	return a.Order.Uint64(p)
}

// PutWord writes the low PtrSize bytes of v to the beginning of p, as Word reads them.
func (a *Arch) PutWord(p []byte, v uint64) {
	if a.PtrSize == 4 {
		a.Order.PutUint32(p, uint32(v))
		return
	}
	a.Order.PutUint64(p, v)
}

// AppendWord appends v to p, as Word reads it.
func (a *Arch) AppendWord(p []byte, v uint64) []byte {
	var word [8]byte
	a.PutWord(word[:], v)
	return append(p, word[:a.PtrSize]...)
}

// TwoWords reports whether register r has two words: where it is saved, a call preserves both.
func (a *Arch) TwoWords(r trad.Reg) bool { return a.PtrSize == 4 && a.wide(r) }

// wide reports whether register r has more bits than a word.
func (a *Arch) wide(r trad.Reg) bool {
	i := a.Index(r)
	return i >= 0 && a.Regs[i].Bits > 8*a.PtrSize
}

// Join returns the value of a register of two words of 4 bytes: in memory, first stands before
// second.
func (a *Arch) Join(first, second uint64) uint64 {
	if a.bigEndian() {
		first, second = second, first
	}
	return first | second<<32
}

// Wrap returns the result v of arithmetic with addresses as the processor has it: without the bits
// that no address has.
func (a *Arch) Wrap(v uint64) uint64 {
	if a.PtrSize == 4 {
		return uint64(uint32(v))
	}
	return v
}

// Class returns the class of the ELF files of the architecture's processes.
func (a *Arch) Class() elf.Class {
	if a.PtrSize == 4 {
		return elf.ELFCLASS32
	}
	return elf.ELFCLASS64
}

func (a *Arch) bigEndian() bool { return a.Order == binary.ByteOrder(binary.BigEndian) }
