package expr

import (
	"math"
	"math/big"

	"github.com/sfwalk/sfwalk/format/dwarf"
)

// wide reports whether values of the type have more bytes than a number of 64 bits holds.
func (t Type) wide() bool { return t.Size > 8 }

// modulus is one more than the largest integer of 16 bytes.
var modulus = new(big.Int).Lsh(big.NewInt(1), 128)

// integer returns the value of an integer, with its sign if its type has one.
func (v operand) integer(addrSize int) *big.Int {
	if !v.t.wide() {
		if v.t.signed() {
			return big.NewInt(extend(v.bits, v.t.width(addrSize)))
		}
		return new(big.Int).SetUint64(v.bits)
	}
	x := new(big.Int).SetUint64(v.high)
	x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(v.bits))
	if v.t.signed() && v.high>>63 != 0 {
		x.Sub(x, modulus)
	}
	return x
}

// fromInteger returns the lowest 16 bytes of x, as a value of the type t.
func fromInteger(x *big.Int, t Type) operand {
	x = new(big.Int).Mod(x, modulus)
	low := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	return operand{low, x.Rsh(x, 64).Uint64(), t}
}

// fromFloat returns the integer part of x; 0 if it is none.
func fromFloat(x float64, t Type) operand {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return operand{t: t}
	}
	n, _ := big.NewFloat(x).Int(nil)
	return fromInteger(n, t)
}

// wideUnary computes abs, neg or not of an integer of 16 bytes.
func (e *evaluation) wideUnary(op byte, v operand) {
	x := v.integer(e.word)
	switch op {
	case dwarf.OpNot:
		x.Not(x)
	case dwarf.OpNeg:
		x.Neg(x)
	case dwarf.OpAbs:
		x.Abs(x)
	}
	e.pushOperand(fromInteger(x, v.t))
}

// wideIntegers computes a op b, of which a has 16 bytes; b has, too, unless it is a number of bits
// to shift by.
func (e *evaluation) wideIntegers(op byte, a, b operand) {
	x, y := a.integer(e.word), b.integer(e.word)
	if is, ok := compare(op, x.Cmp(y), 0); ok {
		e.push(truth(is))
		return
	}
	by := uint(128) // bits to shift by: all if they are more
	if y.IsUint64() {
		by = uint(min(y.Uint64(), 128))
	}
	switch op {
	case dwarf.OpAnd:
		x.And(x, y)
	case dwarf.OpOr:
		x.Or(x, y)
	case dwarf.OpXor:
		x.Xor(x, y)
	case dwarf.OpPlus:
		x.Add(x, y)
	case dwarf.OpMinus:
		x.Sub(x, y)
	case dwarf.OpMul:
		x.Mul(x, y)
	case dwarf.OpShl:
		x.Lsh(x, by)
	case dwarf.OpShr:
		x.Mod(x, modulus).Rsh(x, by)
	case dwarf.OpShra:
		if !a.t.signed() && a.high>>63 != 0 {
			x.Sub(x, modulus)
		}
		x.Rsh(x, by)
	case dwarf.OpDiv, dwarf.OpMod:
		if y.Sign() == 0 {
			e.fail(malformed("divides by zero"))
			return
		}
		if op == dwarf.OpDiv {
			x.Quo(x, y)
		} else {
			x.Rem(x, y)
		}
	}
	e.pushOperand(fromInteger(x, a.t))
}
