package expr

import (
	"encoding/binary"
	"math"
	"math/big"

	"github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/internal/floats"
)

// wideNumber returns the value of a float of any size.
func (v operand) wideNumber() floats.Number {
	if !v.t.wide() {
		return floats.Number{F: v.number()}
	}
	b := binary.LittleEndian.AppendUint64(nil, v.bits)
	b = binary.LittleEndian.AppendUint64(b, v.high)
	return v.t.format().Unpack(b[:v.t.Size])
}

// wideReal returns x as a value of the float type t.
func wideReal(x floats.Number, t Type) operand {
	if !t.wide() {
		return real(x.Near(), t)
	}
	var b [16]byte
	copy(b[:], t.format().Pack(x, t.Size))
	return operand{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:]), t}
}

// convertWide returns v as a value of another type, where one of the two is a float of 12 or 16
// bytes.
func (e *evaluation) convertWide(v operand, to Type) operand {
	switch {
	case v.t == to:
		return v
	case v.t.float() && to.float():
		return wideReal(v.wideNumber(), to)
	case to.float():
		x := new(big.Float).SetPrec(128).SetInt(v.integer(e.word))
		return wideReal(floats.Number{Wide: x}, to)
	}
	x := v.wideNumber().Big()
	if x == nil {
		return operand{t: to}
	}
	n, _ := x.Int(nil)
	whole := fromInteger(n, to)
	if !to.wide() {
		whole.high = 0
		whole.bits &= mask(to.width(e.word))
	}
	return whole
}

// wideFloatUnary computes abs or neg of a float of 12 or 16 bytes.
func (e *evaluation) wideFloatUnary(op byte, v operand) {
	sign := uint64(1) << (v.t.signBit() - 64)
	switch op {
	case dwarf.OpAbs:
		v.high &^= sign
	case dwarf.OpNeg:
		v.high ^= sign
	default:
		e.fail(malformed("a float has no complement"))
	}
	e.pushOperand(v)
}

// signBit returns which bit of a float of 12 or 16 bytes is its sign.
func (t Type) signBit() int {
	f := t.format()
	n := f.Fraction + f.Exponent
	if f.Whole {
		n++
	}
	return n
}

// wideFloats computes a op b. Both are floats of 12 or 16 bytes.
func (e *evaluation) wideFloats(op byte, a, b operand) {
	x, y := a.wideNumber(), b.wideNumber()
	p, q := x.Big(), y.Big()
	finite := p != nil && q != nil
	if is, ok := compare(op, x.Near(), y.Near()); ok {
		if finite {
			is, _ = compare(op, p.Cmp(q), 0)
		}
		e.push(truth(is))
		return
	}
	r := floats.Number{Wide: new(big.Float).SetPrec(a.t.format().Precision())}
	switch op {
	case dwarf.OpPlus:
		if r.F = x.Near() + y.Near(); finite {
			r.Wide.Add(p, q)
		}
	case dwarf.OpMinus:
		if r.F = x.Near() - y.Near(); finite {
			r.Wide.Sub(p, q)
		}
	case dwarf.OpMul:
		if r.F = x.Near() * y.Near(); finite {
			r.Wide.Mul(p, q)
		}
	case dwarf.OpDiv:
		r.F = divided(x, y)
		if finite = finite && q.Sign() != 0; finite {
			r.Wide.Quo(p, q)
		}
	default:
		e.fail(malformed("floats have no such operation"))
		return
	}
	if !finite {
		r.Wide = nil
	}
	e.pushOperand(wideReal(r, a.t))
}

// divided returns the infinity or the NaN that a division by zero, or of numbers that are not
// finite, gives.
func divided(x, y floats.Number) float64 {
	if q := y.Big(); q != nil && q.Sign() != 0 && x.Big() == nil {
		return x.F * math.Copysign(1, float64(q.Sign()))
	}
	return x.Near() / y.Near()
}
