package expr

import (
	"math"
	"math/big"

	"github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/internal/floats"
)

// Type is the base type of a value on the stack. The zero Type is the generic type: an integer of
// the size of an address, without a sign (DWARF 5, section 2.5.1).
type Type struct {
	// Size is in bytes: 1 to 8 or 16; of a float 2, 4, 8, 12 or 16, of a decimal one 4, 8 or 16; 0
	// of the generic type.
	Size     int
	Encoding Encoding
	X87      bool // a float of 12 or 16 bytes is the x87's number of 80 bits, and not one of IEEE 754
}

// Encoding is DW_AT_encoding of a base type, DWARF 5 table 7.11.
type Encoding uint8

const (
	Address      Encoding = dwarf.ATEAddress
	Boolean      Encoding = dwarf.ATEBoolean
	Float        Encoding = dwarf.ATEFloat
	Signed       Encoding = dwarf.ATESigned
	SignedChar   Encoding = dwarf.ATESignedChar
	Unsigned     Encoding = dwarf.ATEUnsigned
	UnsignedChar Encoding = dwarf.ATEUnsignedChar
	DecimalFloat Encoding = dwarf.ATEDecimalFloat
)

func (t Type) generic() bool { return t.Size == 0 }

// float reports whether values of the type are floating-point numbers that are computed with.
func (t Type) float() bool {
	switch t.Size {
	case 2, 4, 8, 16:
		return t.Encoding == Float
	case 12:
		return t.Encoding == Float && t.X87
	}
	return false
}

// wideFloat reports whether values of the type are numbers of more precision than a float64.
func (t Type) wideFloat() bool { return t.float() && t.wide() }

// format returns the format of a float of 12 or 16 bytes.
func (t Type) format() floats.Format {
	if t.X87 {
		return floats.X87
	}
	return floats.Quad
}
func (t Type) signed() bool {
	return t.Encoding == Signed || t.Encoding == SignedChar
}

// sign returns how integers of the type are computed with.
func (t Type) sign() sign {
	switch {
	case t.generic():
		return generic
	case t.signed():
		return signed
	}
	return unsigned
}

// like reports whether numbers of both types may be computed with each other. Compilers (clang) mix
// the generic type with integers of the same size, as GDB allows them to do.
func (t Type) like(other Type, addrSize int) bool {
	if t == other {
		return true
	}
	if t.width(addrSize) != other.width(addrSize) || t.float() || other.float() {
		return false
	}
	return t.generic() || other.generic() || t.signed() && other.signed()
}

// opaque reports whether values of the type are bytes that are not computed with: decimal floats.
func (t Type) opaque() bool {
	return t.Encoding == DecimalFloat && (t.Size == 4 || t.Size == 8 || t.Size == 16)
}

// notComputed says why an operation on an opaque value fails.
func notComputed() error { return unavailable("arithmetic of such floats") }

// valid reports whether the stack may have values of the type.
func (t Type) valid() bool {
	switch t.Encoding {
	case Float, DecimalFloat:
		return t.float() || t.opaque()
	case Address, Boolean, Signed, SignedChar, Unsigned, UnsignedChar:
		return t.Size >= 1 && t.Size <= 8 || t.Size == 16
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
	high uint64 // the upper 64 bits of a value of 16 bytes
	t    Type
}

// mask returns the bits of a number of 1 to 8 bytes.
func mask(bytes int) uint64 { return ^uint64(0) >> (64 - 8*bytes) }

func extend(v uint64, bytes int) int64 {
	by := 64 - 8*bytes
	return int64(v<<by) >> by
}

// number returns the value of a float.
func (v operand) number() float64 {
	switch v.t.Size {
	case 2:
		return fromHalf(uint16(v.bits))
	case 4:
		return float64(math.Float32frombits(uint32(v.bits)))
	}
	return math.Float64frombits(v.bits)
}

// real returns x as a value of the float type t.
func real(x float64, t Type) operand {
	switch t.Size {
	case 2:
		return operand{bits: uint64(toHalf(x)), t: t}
	case 4:
		return operand{bits: uint64(math.Float32bits(float32(x))), t: t}
	}
	return operand{bits: math.Float64bits(x), t: t}
}

// fromHalf returns the value of a number of binary16 (IEEE 754, section 3.4).
func fromHalf(bits uint16) float64 {
	sign, exponent, fraction := float64(1), int(bits>>10&31), float64(bits&1023)
	if bits>>15 != 0 {
		sign = -1
	}
	switch exponent {
	case 0:
		return math.Copysign(math.Ldexp(fraction, -24), sign)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// toHalf rounds a number to binary16, to the nearest, ties to even.
func toHalf(x float64) uint16 {
	const infinity, quiet = 31 << 10, 1 << 9
	var sign uint16
	if math.Signbit(x) {
		sign = 1 << 15
	}
	_, exponent := math.Frexp(x)
	exponent = max(exponent, -13) // the number is a multiple of 2^(exponent-11)
	n := math.RoundToEven(math.Ldexp(math.Abs(x), 11-exponent))
	switch {
	case math.IsNaN(x):
		return sign | infinity | quiet
	case math.IsInf(x, 0) || exponent > 16:
		return sign | infinity
	}
	return sign | uint16((exponent+13)<<10+int(n)) // the first bit of n, if it is there, counts the exponent up
}

// convert returns v as a value of another type, as C's cast does.
func (e *evaluation) convert(v operand, to Type) operand {
	from := v.t.width(e.word)
	size := to.width(e.word)
	switch {
	case v.t.opaque() || to.opaque():
		if v.t != to {
			e.fail(notComputed())
		}
		return v
	case v.t.wideFloat() || to.wideFloat():
		return e.convertWide(v, to)
	case v.t.float() && to.float():
		return real(v.number(), to)
	case v.t.float() && to.wide():
		return fromFloat(v.number(), to)
	case to.float() && v.t.wide():
		x, _ := new(big.Float).SetInt(v.integer(e.word)).Float64()
		return real(x, to)
	case to.wide():
		return fromInteger(v.integer(e.word), to)
	case v.t.wide():
		return operand{bits: v.bits & mask(size), t: to}
	case v.t.float():
		x := v.number()
		n := uint64(int64(x))
		if x >= 1<<63 {
			n = uint64(x)
		}
		return operand{bits: n & mask(size), t: to}
	case to.float() && v.t.signed():
		return real(float64(extend(v.bits, from)), to)
	case to.float():
		return real(float64(v.bits), to)
	case v.t.signed():
		return operand{bits: uint64(extend(v.bits, from)) & mask(size), t: to}
	}
	return operand{bits: v.bits & mask(size), t: to}
}
