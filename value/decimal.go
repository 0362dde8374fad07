package value

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// decimalText writes a decimal floating-point number of IEEE 754.
func (t *Type) decimalText(b []byte) string {
	b = slices.Clone(b)
	if t.ByteOrder() == bigEndian {
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
		return text + payload(all, n-1-exponentBits-3, digits-1, t.r.Arch.PackedDecimals)
	}
	mask := func(bits int) *big.Int {
		return new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(bits)), big.NewInt(1))
	}
	bias := map[int]int{4: 101, 8: 398, 16: 6176}[len(b)]
	if t.r.Arch.PackedDecimals {
		digits, exponent := packed(all, n, exponentBits)
		return sign + scientific(digits, exponent-bias)
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
	return sign + scientific(coefficient.String(), exponent-bias)
}

// scientific writes digits times a power of ten as the decimal arithmetic specification does
// (to-scientific-string).
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

// payload writes the digits that a decimal number carries that is none, in its lowest bits. Too
// large a payload counts as zero (IEEE 754, section 3.5.2).
func payload(all *big.Int, bits, digits int, packed bool) string {
	p := new(big.Int).And(all, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(bits)), big.NewInt(1)))
	text := p.String()
	if packed {
		text = strings.TrimLeft(unpack(all, bits), "0")
	}
	if text == "0" || len(text) > digits {
		return ""
	}
	return text
}

// packed returns the digits and the biased exponent of a number of n bits whose digits are packed
// (IEEE 754, section 3.5.2): the first digit and two bits of the exponent in five bits behind the
// sign, the rest of the exponent, groups of three digits.
func packed(all *big.Int, n, exponentBits int) (digits string, exponent int) {
	bits := func(lo, count int) int { return bitsOf(all, lo, count) }
	rest := exponentBits - 2
	combination := bits(n-6, 5)
	first, top := combination&7, combination>>3
	if top == 3 {
		first, top = 8+combination&1, combination>>1&3
	}
	exponent = top<<rest | bits(n-6-rest, rest)
	text := strconv.Itoa(first) + unpack(all, n-6-rest)
	if text = strings.TrimLeft(text, "0"); text == "" {
		text = "0"
	}
	return text, exponent
}

// unpack returns the digits in the lowest bits.
func unpack(all *big.Int, bits int) string {
	var text []byte
	for at := bits - 10; at >= 0; at -= 10 {
		for _, d := range threeDigits(bitsOf(all, at, 10)) {
			text = append(text, '0'+byte(d))
		}
	}
	return string(text)
}

// bitsOf returns count bits, from the bit lo on.
func bitsOf(all *big.Int, lo, count int) (v int) {
	for i := count - 1; i >= 0; i-- {
		v = v<<1 | int(all.Bit(lo+i))
	}
	return v
}

// threeDigits unpacks ten bits.
func threeDigits(v int) (d [3]int) {
	bit := func(i int) int { return v >> i & 1 }
	a, b, c := v>>7&7, v>>4&7, v&7
	small := func(hi int) int { return 8 + hi }
	switch {
	case bit(3) == 0:
		return [3]int{a, b, c}
	case v>>1&3 == 0:
		return [3]int{a, b, small(bit(0))}
	case v>>1&3 == 1:
		return [3]int{a, small(bit(4)), bit(6)<<2 | bit(5)<<1 | bit(0)}
	case v>>1&3 == 2:
		return [3]int{small(bit(7)), b, bit(9)<<2 | bit(8)<<1 | bit(0)}
	}
	switch v >> 5 & 3 {
	case 0:
		return [3]int{small(bit(7)), small(bit(4)), bit(9)<<2 | bit(8)<<1 | bit(0)}
	case 1:
		return [3]int{small(bit(7)), bit(9)<<2 | bit(8)<<1 | bit(4), small(bit(0))}
	case 2:
		return [3]int{a, small(bit(4)), small(bit(0))}
	}
	return [3]int{small(bit(7)), small(bit(4)), small(bit(0))}
}
