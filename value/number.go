package value

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
)

// bigNumber returns an integer of any size.
func bigNumber(b []byte, order bool, signed bool) *big.Int {
	b = slices.Clone(b)
	if !order {
		slices.Reverse(b)
	}
	n := new(big.Int).SetBytes(b)
	if signed && len(b) > 0 && b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// format is a binary format of floating-point numbers.
type format struct {
	exponent, fraction int  // bits
	whole              bool // the bit before the fraction is stored
}

func (f format) digits() int {
	precision := f.fraction + 1
	return int(math.Ceil(1 + float64(precision)*math.Log10(2)))
}

// formatOf returns the format of a float of n bytes.
func (t *Type) formatOf(n uint64) (f format, ok bool) {
	switch n {
	case 2:
		if strings.Contains(t.Name, "bf16") || strings.Contains(t.Name, "bfloat16") {
			return format{8, 7, false}, true
		}
		return format{5, 10, false}, true
	case 4:
		return format{8, 23, false}, true
	case 8:
		return format{11, 52, false}, true
	case 10, 12, 16:
		if t.r.Arch.LongDouble == abi.X87 && !strings.Contains(t.Name, "loat128") {
			return format{15, 63, true}, true
		}
		if n == 16 {
			return format{15, 112, false}, true
		}
	}
	return format{}, false
}

// floatText writes a floating-point number with as many digits as tell it from all others.
func (t *Type) floatText(b []byte) string {
	if t.Encoding == 0x0f { // DW_ATE_decimal_float
		return t.decimalText(b)
	}
	f, ok := t.formatOf(uint64(len(b)))
	if !ok {
		return "<unknown type>"
	}
	b = slices.Clone(b)
	if t.order() == bigEndian {
		slices.Reverse(b)
	}
	return f.text(b)
}

// text writes a number whose bytes are in little-endian order.
func (f format) text(b []byte) string {
	all := bigNumber(b, false, false)
	fractionBits := f.fraction
	mantissaBits := fractionBits
	if f.whole {
		mantissaBits++
	}
	mask := func(n int) *big.Int { return new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(n)), big.NewInt(1)) }
	mantissa := new(big.Int).And(all, mask(mantissaBits))
	exponent := int(new(big.Int).And(new(big.Int).Rsh(all, uint(mantissaBits)), mask(f.exponent)).Int64())
	sign := ""
	if all.Bit(mantissaBits+f.exponent) == 1 {
		sign = "-"
	}
	max := 1<<f.exponent - 1
	fraction := new(big.Int).And(mantissa, mask(fractionBits))
	if exponent == max {
		if fraction.Sign() == 0 {
			return sign + "inf"
		}
		return sign + "nan(0x" + mantissa.Text(16) + ")"
	}
	bias := max / 2
	if !f.whole && exponent > 0 {
		mantissa.SetBit(mantissa, fractionBits, 1)
	}
	if exponent == 0 {
		exponent = 1
	}
	if mantissa.Sign() == 0 {
		return sign + "0"
	}
	x := new(big.Float).SetPrec(uint(mantissaBits + 8)).SetInt(mantissa)
	x.SetMantExp(x, exponent-bias-fractionBits)
	return sign + x.Text('g', f.digits())
}

// complex writes a complex number: 1 + 2i.
func (w *writer) complex(v *Value, t *Type, b []byte) {
	half := len(b) / 2
	parts := [2]string{}
	for i := range parts {
		part := b[i*half : (i+1)*half]
		parts[i] = t.floatText(part)
	}
	w.put(parts[0] + " + " + parts[1] + "i")
}

// decimalText writes a decimal floating-point number of IEEE 754 in its binary encoding, which all processors here but
// s390x have.
func (t *Type) decimalText(b []byte) string {
	b = slices.Clone(b)
	if t.order() == bigEndian {
		slices.Reverse(b)
	}
	all := bigNumber(b, false, false)
	var exponentBits, digits int
	switch len(b) {
	case 4:
		exponentBits, digits = 8, 7
	case 8:
		exponentBits, digits = 10, 16
	case 16:
		exponentBits, digits = 14, 34
	default:
		return "<unknown type>"
	}
	n := 8 * len(b)
	bit := func(i int) uint { return all.Bit(i) }
	sign := ""
	if bit(n-1) == 1 {
		sign = "-"
	}
	top := func(i int) bool { return bit(n-2-i) == 1 }
	if top(0) && top(1) && top(2) && top(3) {
		if !top(4) {
			return sign + "Infinity"
		}
		text := sign + "NaN"
		if top(5) {
			text = sign + "sNaN"
		}
		return text + payload(all, n-1-exponentBits-2, digits-1)
	}
	mask := func(bits int) *big.Int {
		return new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(bits)), big.NewInt(1))
	}
	var coefficient *big.Int
	var exponent int
	var shift int
	if top(0) && top(1) {
		shift = n - 3 - exponentBits
		coefficient = new(big.Int).And(all, mask(shift))
		coefficient.Or(coefficient, new(big.Int).Lsh(big.NewInt(1), uint(shift+2)))
	} else {
		shift = n - 1 - exponentBits
		coefficient = new(big.Int).And(all, mask(shift))
	}
	exponent = int(new(big.Int).And(new(big.Int).Rsh(all, uint(shift)), mask(exponentBits)).Int64())
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	if coefficient.Cmp(limit) >= 0 {
		coefficient.SetInt64(0)
	}
	bias := map[int]int{4: 101, 8: 398, 16: 6176}[len(b)]
	return sign + scientific(coefficient.String(), exponent-bias)
}

// scientific writes digits times a power of ten as the decimal arithmetic specification does (to-scientific-string).
func scientific(digits string, exponent int) string {
	adjusted := exponent + len(digits) - 1
	switch {
	case exponent <= 0 && adjusted >= -6:
		if exponent == 0 {
			return digits
		}
		point := len(digits) + exponent
		if point <= 0 {
			return "0." + strings.Repeat("0", -point) + digits
		}
		return digits[:point] + "." + digits[point:]
	}
	s := digits[:1]
	if len(digits) > 1 {
		s += "." + digits[1:]
	}
	sign := "+"
	if adjusted < 0 {
		sign, adjusted = "-", -adjusted
	}
	return s + "E" + sign + strconv.Itoa(adjusted)
}

// payload writes the digits that a decimal number carries that is none.
func payload(all *big.Int, bits, digits int) string {
	p := new(big.Int).And(all, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(bits)), big.NewInt(1)))
	switch limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil); {
	case p.Sign() == 0:
		return ""
	case p.Cmp(limit) >= 0:
		return strings.Repeat("9", digits)
	}
	return p.String()
}
