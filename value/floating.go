package value

import (
	"math"
	"math/big"
	"slices"
)

// floating is a floating-point number: in f, or more exactly in wide if that is not nil.
type floating struct {
	f    float64
	wide *big.Float
}

// maxPrecision is that of the widest format, in bits.
const maxPrecision = 113

// big returns the number; nil if it is infinite or none.
func (x floating) big() *big.Float {
	switch {
	case x.wide != nil:
		return x.wide
	case math.IsNaN(x.f), math.IsInf(x.f, 0):
		return nil
	}
	return new(big.Float).SetPrec(maxPrecision).SetFloat64(x.f)
}

// near returns the number as near as 64 bits come.
func (x floating) near() float64 {
	if x.wide != nil {
		f, _ := x.wide.Float64()
		return f
	}
	return x.f
}

// unpack reads a number whose bytes are in little-endian order.
func (f format) unpack(b []byte) floating {
	switch {
	case f.fraction == 23 && len(b) == 4:
		return floating{f: float64(math.Float32frombits(uint32(number(b, false))))}
	case f.fraction == 52 && len(b) == 8:
		return floating{f: math.Float64frombits(number(b, false))}
	}
	all := bigNumber(b, false, false)
	bits := f.fraction
	if f.whole {
		bits++
	}
	mask := func(n int) *big.Int { return new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(n)), big.NewInt(1)) }
	mantissa := new(big.Int).And(all, mask(bits))
	exponent := int(new(big.Int).And(new(big.Int).Rsh(all, uint(bits)), mask(f.exponent)).Int64())
	sign := all.Bit(bits+f.exponent) == 1
	most := 1<<f.exponent - 1
	if exponent == most {
		x := math.Inf(1)
		if new(big.Int).And(mantissa, mask(f.fraction)).Sign() != 0 {
			x = math.NaN()
		}
		if sign {
			x = -x
		}
		return floating{f: x}
	}
	if !f.whole && exponent > 0 {
		mantissa.SetBit(mantissa, f.fraction, 1)
	}
	x := new(big.Float).SetPrec(maxPrecision).SetInt(mantissa)
	x.SetMantExp(x, max(exponent, 1)-most/2-f.fraction)
	if sign {
		x.Neg(x)
	}
	return floating{wide: x}
}

// pack writes a number into n bytes in little-endian order.
func (f format) pack(x floating, n int) []byte {
	b := make([]byte, n)
	bits := f.fraction
	if f.whole {
		bits++
	}
	most := 1<<f.exponent - 1
	all := new(big.Int)
	sign := x.wide != nil && x.wide.Signbit() || x.wide == nil && math.Signbit(x.f)
	switch v := x.big(); {
	case v == nil:
		all.Lsh(big.NewInt(int64(most)), uint(bits))
		if f.whole {
			all.SetBit(all, bits-1, 1)
		}
		if math.IsNaN(x.f) {
			all.SetBit(all, f.fraction-1, 1)
		}
	case v.Sign() != 0:
		precision := f.fraction + 1
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
			return f.pack(floating{f: math.Inf(1 - 2*map[bool]int{true: 1}[sign])}, n)
		}
		whole, _ := new(big.Float).SetMantExp(mantissa.Abs(mantissa), precision).Int(nil)
		if !f.whole && exponent > 0 {
			whole.SetBit(whole, f.fraction, 0)
		}
		all.Or(whole, new(big.Int).Lsh(big.NewInt(int64(exponent)), uint(bits)))
	}
	if sign {
		all.SetBit(all, bits+f.exponent, 1)
	}
	raw := all.Bytes()
	slices.Reverse(raw)
	copy(b, raw)
	return b
}

// floating returns a number of a floating-point type.
func (v *Value) floating() (x floating, ok bool, err error) {
	t := v.Type.Strip()
	if t.Kind != Float || t.Encoding == 0x0f {
		return x, false, nil
	}
	b, err := v.Bytes()
	if err != nil {
		return x, false, err
	}
	f, ok := t.formatOf(uint64(len(b)))
	if !ok {
		return x, false, nil
	}
	b = slices.Clone(b)
	if t.order() == bigEndian {
		slices.Reverse(b)
	}
	return f.unpack(b), true, nil
}

// fromFloat returns a number as a value of a floating-point type.
func (e *evaluation) fromFloat(t *Type, x floating) Value {
	s := t.Strip()
	v := Value{Type: t, read: true, mem: e.c.mem, frame: e.c}
	size := int(s.Size)
	f, ok := s.formatOf(s.Size)
	if !ok || size > 16 || s.Encoding == 0x0f {
		v.err = ErrUnavailable
		return v
	}
	switch size {
	case 4:
		v.bytes = make([]byte, 4)
		put(v.bytes, uint64(math.Float32bits(float32(x.near()))), 0, false)
	case 8:
		v.bytes = make([]byte, 8)
		put(v.bytes, math.Float64bits(x.near()), 0, false)
	default:
		v.bytes = f.pack(x, size)
	}
	if t.order() == bigEndian {
		slices.Reverse(v.bytes)
	}
	return v
}
