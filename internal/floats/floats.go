// Package floats reads, writes and prints floating-point numbers of any binary format.
//
// Bytes and a format go in, in little-endian order; a number comes out, and the other way round.
package floats

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// Format is a binary format of floating-point numbers.
type Format struct {
	Exponent, Fraction int  // bits
	Whole              bool // the bit before the fraction is stored
}

// The formats of IEEE 754, of the x87, and of machine learning.
var (
	Half     = Format{5, 10, false}
	BFloat16 = Format{8, 7, false}
	Single   = Format{8, 23, false}
	Double   = Format{11, 52, false}
	X87      = Format{15, 63, true}
	Quad     = Format{15, 112, false}
)

// Precision returns how many bits of a number count.
func (f Format) Precision() uint { return uint(f.Fraction + 1) }

// Digits returns how many decimal digits tell a number from all others.
func (f Format) Digits() int {
	return int(math.Ceil(1 + float64(f.Precision())*math.Log10(2)))
}

// Number is a floating-point number: in F, or more exactly in Wide if that is not nil.
type Number struct {
	F    float64
	Wide *big.Float
}

// maxPrecision is the precision of the widest format, in bits.
const maxPrecision = 113

// Big returns the number; nil if it is infinite or none.
func (x Number) Big() *big.Float {
	switch {
	case x.Wide != nil:
		return x.Wide
	case math.IsNaN(x.F), math.IsInf(x.F, 0):
		return nil
	}
	return new(big.Float).SetPrec(maxPrecision).SetFloat64(x.F)
}

// Near returns the number as near as 64 bits come.
func (x Number) Near() float64 {
	if x.Wide != nil {
		f, _ := x.Wide.Float64()
		return f
	}
	return x.F
}

// Unpack reads a number whose bytes are in little-endian order.
func (f Format) Unpack(b []byte) Number {
	switch {
	case f.Fraction == 23 && len(b) == 4:
		return Number{F: float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))}
	case f.Fraction == 52 && len(b) == 8:
		return Number{F: math.Float64frombits(binary.LittleEndian.Uint64(b))}
	}
	negative, exponent, mantissa := f.fields(b)
	if exponent == f.most() {
		x := math.Inf(1)
		if low(mantissa, f.Fraction).Sign() != 0 {
			x = math.NaN()
		}
		if negative {
			x = -x
		}
		return Number{F: x}
	}
	if !f.Whole && exponent > 0 {
		mantissa.SetBit(mantissa, f.Fraction, 1)
	}
	x := new(big.Float).SetPrec(maxPrecision).SetInt(mantissa)
	x.SetMantExp(x, max(exponent, 1)-f.most()/2-f.Fraction)
	if negative {
		x.Neg(x)
	}
	return Number{Wide: x}
}

// stored returns how many bits of a mantissa are stored.
func (f Format) stored() int {
	if f.Whole {
		return f.Fraction + 1
	}
	return f.Fraction
}

// most returns the exponent of what is infinite or no number. Half of it is the bias of exponents.
func (f Format) most() int { return 1<<f.Exponent - 1 }

// fields returns the parts of a number whose bytes are in little-endian order: the sign, the
// exponent with its bias, and the mantissa as it is stored.
func (f Format) fields(b []byte) (negative bool, exponent int, mantissa *big.Int) {
	all := integer(b)
	bits := f.stored()
	exponent = int(low(new(big.Int).Rsh(all, uint(bits)), f.Exponent).Int64())
	return all.Bit(bits+f.Exponent) == 1, exponent, low(all, bits)
}

// low returns the low n bits of an integer.
func low(i *big.Int, n int) *big.Int {
	mask := new(big.Int).Lsh(big.NewInt(1), uint(n))
	return mask.And(i, mask.Sub(mask, big.NewInt(1)))
}

// Pack writes a number into n bytes in little-endian order.
func (f Format) Pack(x Number, n int) []byte {
	b := make([]byte, n)
	bits, most := f.stored(), f.most()
	all := new(big.Int)
	sign := x.Wide != nil && x.Wide.Signbit() || x.Wide == nil && math.Signbit(x.F)
	switch v := x.Big(); {
	case v == nil:
		all.Lsh(big.NewInt(int64(most)), uint(bits))
		if f.Whole {
			all.SetBit(all, bits-1, 1)
		}
		if math.IsNaN(x.F) {
			all.SetBit(all, f.Fraction-1, 1)
		}
	case v.Sign() != 0:
		precision := f.Fraction + 1
		rounded := new(big.Float).SetPrec(uint(precision)).SetMode(big.ToNearestEven).Set(v)
		mantissa := new(big.Float)
		exponent := rounded.MantExp(mantissa) - 1 + most/2
		if exponent <= 0 { // no normal number: its lowest bits are lost
			precision += exponent - 1
			exponent = 0
			if precision <= 0 {
				break
			}
			rounded = new(big.Float).SetPrec(uint(precision)).SetMode(big.ToNearestEven).Set(v)
			rounded.MantExp(mantissa)
		}
		if exponent >= most {
			return f.Pack(Number{F: math.Inf(1 - 2*map[bool]int{true: 1}[sign])}, n)
		}
		whole, _ := new(big.Float).SetMantExp(mantissa.Abs(mantissa), precision).Int(nil)
		if !f.Whole && exponent > 0 {
			whole.SetBit(whole, f.Fraction, 0)
		}
		all.Or(whole, new(big.Int).Lsh(big.NewInt(int64(exponent)), uint(bits)))
	}
	if sign {
		all.SetBit(all, bits+f.Exponent, 1)
	}
	raw := all.Bytes()
	slices.Reverse(raw)
	copy(b, raw)
	return b
}

// Text writes a number whose bytes are in little-endian order.
func (f Format) Text(b []byte) string {
	negative, exponent, mantissa := f.fields(b)
	sign := ""
	if negative {
		sign = "-"
	}
	if exponent == f.most() && (!f.Whole || mantissa.Bit(f.Fraction) == 1) {
		if low(mantissa, f.Fraction).Sign() == 0 {
			return sign + "inf"
		}
		// GDB writes the last digits in groups of eight: the digits of a signalling NaN may have
		// zeros before them.
		grouped := (f.stored() - 1) / 32 * 32
		text := new(big.Int).Rsh(mantissa, uint(grouped)).Text(16)
		if grouped > 0 {
			text += fmt.Sprintf("%0*x", grouped/4, low(mantissa, grouped))
		}
		return sign + "nan(0x" + text + ")"
	}
	if f.Whole && (exponent == 0) != (mantissa.Bit(f.Fraction) == 0) {
		return "<invalid float value>" // no x87 makes such a number
	}
	if !f.Whole && exponent > 0 {
		mantissa.SetBit(mantissa, f.Fraction, 1)
	}
	if mantissa.Sign() == 0 {
		return sign + "0"
	}
	x := new(big.Float).SetPrec(uint(f.stored() + 8)).SetInt(mantissa)
	x.SetMantExp(x, max(exponent, 1)-f.most()/2-f.Fraction)
	return sign + x.Text('g', f.Digits())
}

// integer returns the integer that bytes in little-endian order are.
func integer(b []byte) *big.Int {
	b = slices.Clone(b)
	slices.Reverse(b)
	return new(big.Int).SetBytes(b)
}
