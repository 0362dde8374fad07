package dataflow

import (
	"math"
	"math/bits"
)

// A Reg is the number that a machine gives to one of its registers, below MaxRegs.
type Reg uint8

// MaxRegs is how many registers a machine may have.
const MaxRegs = 64

const (
	None   Reg = 0xff // no register, or one that is not followed
	Temp   Reg = 0xfe // no register: it holds a value within one instruction
	PC     Reg = 0xfd // the address of the instruction
	Thread Reg = 0xfc // the thread pointer, where it is none of the machine's registers
)

// A Set is a set of registers.
type Set uint64

// Bit returns the set of r alone; it is empty for what is no register.
func (r Reg) Bit() Set {
	if r >= MaxRegs {
		return 0
	}
	return 1 << r
}

// Has reports whether r is in the set.
func (s Set) Has(r Reg) bool { return s&r.Bit() != 0 }

// first returns the lowest register of a set that is not empty.
func (s Set) first() Reg { return Reg(bits.TrailingZeros64(uint64(s))) }

// A Value is what a register or a word of the stack holds: base+off, where base says of
// what. Values are the same exactly if base and off are. The zero Value is not known.
type Value struct{ base, off int32 }

const (
	unknown  = 0               // not followed; off is 0
	constant = 1               // the number off
	cfa      = 2               // CFA+off
	behind   = 3               // the address behind the call at offset off of the code
	entry    = 16              // entry+r: the value of register r on entry
	fresh    = entry + MaxRegs // fresh+i: the stack pointer as the instruction at offset i left it

	deepest = -1 << 30 // depth at which following the stack ends
)

// OnEntry returns the value that register r had on entry.
func OnEntry(r Reg) Value { return Value{base: entry + int32(r)} }

// FromCFA returns the address at a distance from the CFA.
func FromCFA(off int32) Value { return Value{cfa, off} }

// Known reports whether the value is known.
func (v Value) Known() bool { return v.base != unknown }

// Number returns the number that a constant is.
func (v Value) Number() (n int32, ok bool) { return v.off, v.base == constant }

// Distance returns the distance from the CFA; ok is false where it is not known.
func (v Value) Distance() (off int32, ok bool) { return v.off, v.base == cfa }

// onStack reports whether the value is an address in the frame.
func (v Value) onStack() bool { return v.base == cfa || v.base >= fresh }

// Plus returns v+n.
func (v Value) Plus(n int32) Value {
	if n == 0 {
		return v
	}
	if sum := int64(v.off) + int64(n); v.base != unknown && v.base != behind && sum >= deepest && sum <= math.MaxInt32 {
		return Value{v.base, int32(sum)}
	}
	return Value{}
}

// Sum returns v+w. One of them must be a constant.
func (v Value) Sum(w Value) Value {
	switch {
	case w.base == constant:
		return v.Plus(w.off)
	case v.base == constant:
		return w.Plus(v.off)
	}
	return Value{}
}

// Minus returns v-w, where w must be a constant.
func (v Value) Minus(w Value) Value {
	if w.base != constant || w.off == math.MinInt32 {
		return Value{}
	}
	return v.Plus(-w.off)
}

// isEntry reports whether v is the value on entry of one of the registers in set.
func (v Value) isEntry(set Set) bool {
	r := v.base - entry
	return v.off == 0 && r >= 0 && r < MaxRegs && set&(1<<r) != 0
}
