package dwarfexpr

import "math"

// Type is the base type of a value on the stack. The zero Type is the generic type: an integer of the
// size of an address, without a sign (DWARF 5, section 2.5.1).
type Type struct {
	Size     int // in bytes: 1 to 8; 0 for the generic type
	Encoding Encoding
}

// Encoding is DW_AT_encoding of a base type, DWARF 5 table 7.11.
type Encoding uint8

const (
	Address      Encoding = 1
	Boolean      Encoding = 2
	Float        Encoding = 4
	Signed       Encoding = 5
	SignedChar   Encoding = 6
	Unsigned     Encoding = 7
	UnsignedChar Encoding = 8
)

func (t Type) generic() bool { return t.Size == 0 }
func (t Type) float() bool   { return t.Encoding == Float && (t.Size == 4 || t.Size == 8) }
func (t Type) signed() bool {
	return t.Encoding == Signed || t.Encoding == SignedChar
}

// valid reports whether values of the type can be computed with.
func (t Type) valid() bool {
	switch t.Encoding {
	case Float:
		return t.float()
	case Address, Boolean, Signed, SignedChar, Unsigned, UnsignedChar:
		return t.Size >= 1 && t.Size <= 8
	}
	return false
}

// width returns the bytes of a value of the type where an address has addrSize.
func (t Type) width(addrSize int) int {
	if t.generic() {
		return addrSize
	}
	return t.Size
}

// operand is one value on the stack. The bits above its width are zero.
type operand struct {
	bits uint64
	t    Type
}

func mask(bytes int) uint64 { return ^uint64(0) >> (64 - 8*bytes) }

func extend(v uint64, bytes int) int64 {
	by := 64 - 8*bytes
	return int64(v<<by) >> by
}

// number returns the value of a float.
func (v operand) number() float64 {
	if v.t.Size == 4 {
		return float64(math.Float32frombits(uint32(v.bits)))
	}
	return math.Float64frombits(v.bits)
}

// real returns x as a value of the float type t.
func real(x float64, t Type) operand {
	if t.Size == 4 {
		return operand{uint64(math.Float32bits(float32(x))), t}
	}
	return operand{math.Float64bits(x), t}
}

// convert returns v as a value of another type, as C's cast does.
func (e *evaluation) convert(v operand, to Type) operand {
	from := v.t.width(e.x.AddrSize)
	size := to.width(e.x.AddrSize)
	switch {
	case v.t.float() && to.float():
		return real(v.number(), to)
	case v.t.float():
		x := v.number()
		n := uint64(int64(x))
		if x >= 1<<63 {
			n = uint64(x)
		}
		return operand{n & mask(size), to}
	case to.float() && v.t.signed():
		return real(float64(extend(v.bits, from)), to)
	case to.float():
		return real(float64(v.bits), to)
	case v.t.signed():
		return operand{uint64(extend(v.bits, from)) & mask(size), to}
	}
	return operand{v.bits & mask(size), to}
}
