package arch

import (
	"encoding/binary"
	"math/bits"

	"github.com/sfwalk/sfwalk/trad"
)

// MaxReg is one more than the largest DWARF register number that a register
// file holds, on any architecture.
const MaxReg = 96

// RegSet is a set of registers with numbers below [MaxReg].
type RegSet [2]uint64

// Has reports whether r is in the set.
func (s *RegSet) Has(r trad.Reg) bool { return r < MaxReg && s[r>>6]&(1<<(r&63)) != 0 }

// Add puts r, which is below MaxReg, into the set.
func (s *RegSet) Add(r trad.Reg) { s[r>>6] |= 1 << (r & 63) }

// Remove takes r, which is below MaxReg, out of the set.
func (s *RegSet) Remove(r trad.Reg) { s[r>>6] &^= 1 << (r & 63) }

// Len returns how many registers the set has.
func (s *RegSet) Len() int { return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) }

// Set returns the set of the given registers, all below MaxReg.
func Set(regs ...trad.Reg) (s RegSet) {
	for _, r := range regs {
		s.Add(r)
	}
	return s
}

// Registers is the register file of one thread: the low 64 bits of each
// register, by DWARF number. The zero Registers knows none.
type Registers struct {
	Known RegSet
	Value [MaxReg]uint64
}

// Get returns register r's value; ok is false where it is not known.
func (f *Registers) Get(r trad.Reg) (v uint64, ok bool) {
	if !f.Known.Has(r) {
		return 0, false
	}
	return f.Value[r], true
}

// Set makes register r, which is below MaxReg, known.
func (f *Registers) Set(r trad.Reg, v uint64) {
	f.Known.Add(r)
	f.Value[r] = v
}

// RegisterBytes returns the value v of register r, of 64 bits or less, as the register would lie in
// memory.
func (a *Arch) RegisterBytes(r trad.Reg, v uint64) []byte {
	width := 64
	if i := a.Index(r); i >= 0 {
		width = a.Regs[i].Bits
	}
	if a.Order == binary.ByteOrder(binary.BigEndian) {
		v <<= 64 - width
	}
	b := make([]byte, 8)
	a.Order.PutUint64(b, v)
	return b[:width/8]
}
