package calling

import (
	"encoding/binary"
	"math"
)

// C's long double is the x87's number of 80 bits on amd64, IEEE 754's binary128 elsewhere. Here it is
// as precise as a double.

const (
	wideBias = 16383 // of the exponents of both
	wideBits = 15
)

// split returns the sign, the biased exponent and the fraction (its 52 bits on top of 64) of a number; whole is the bit
// before the fraction.
func split(v float64) (negative bool, exponent uint16, fraction uint64, whole bool) {
	if negative = math.Signbit(v); negative {
		v = -v
	}
	switch {
	case v == 0:
		return negative, 0, 0, false
	case math.IsInf(v, 0):
		return negative, 1<<wideBits - 1, 0, true
	case math.IsNaN(v):
		return negative, 1<<wideBits - 1, 1 << 63, true
	}
	f, e := math.Frexp(v) // f is in [1/2, 1)
	bits := math.Float64bits(f)
	return negative, uint16(e - 1 + wideBias), bits << 12, true
}

// join is the inverse of split, for a fraction of 64 bits behind a whole 1 or 0.
func join(negative bool, exponent uint16, fraction uint64, whole bool) float64 {
	var v float64
	switch {
	case exponent == 1<<wideBits-1 && fraction != 0:
		v = math.NaN()
	case exponent == 1<<wideBits-1:
		v = math.Inf(1)
	default:
		if whole {
			v = 1
		}
		v = math.Ldexp(v+math.Ldexp(float64(fraction), -64), int(exponent)-wideBias)
	}
	if negative {
		v = -v
	}
	return v
}

func toX87(v float64) []byte {
	negative, exponent, fraction, whole := split(v)
	mantissa := fraction >> 1
	if whole {
		mantissa |= 1 << 63
	}
	if negative {
		exponent |= 1 << 15
	}
	b := make([]byte, 16)
	binary.LittleEndian.PutUint64(b, mantissa)
	binary.LittleEndian.PutUint16(b[8:], exponent)
	return b
}

func fromX87(b []byte) float64 {
	mantissa, exponent := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint16(b[8:])
	return join(exponent>>15 != 0, exponent&0x7fff, mantissa<<1, mantissa>>63 != 0)
}

func toQuad(v float64, order binary.ByteOrder) []byte {
	negative, exponent, fraction, _ := split(v)
	upper, lower := uint64(exponent)<<48|fraction>>16, fraction<<48
	if negative {
		upper |= 1 << 63
	}
	b := make([]byte, 16)
	if order == binary.ByteOrder(binary.BigEndian) {
		order.PutUint64(b, upper)
		order.PutUint64(b[8:], lower)
	} else {
		order.PutUint64(b, lower)
		order.PutUint64(b[8:], upper)
	}
	return b
}

func fromQuad(b []byte, order binary.ByteOrder) float64 {
	upper, lower := order.Uint64(b[8:]), order.Uint64(b)
	if order == binary.ByteOrder(binary.BigEndian) {
		upper, lower = lower, upper
	}
	exponent := uint16(upper>>48) & 0x7fff
	return join(upper>>63 != 0, exponent, upper<<16|lower>>48, exponent != 0)
}
