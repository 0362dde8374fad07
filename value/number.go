package value

import (
	"fmt"
	"math"
	"math/big"
	"slices"
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
	if exponent == max && (!f.whole || mantissa.Bit(fractionBits) == 1) {
		if fraction.Sign() == 0 {
			return sign + "inf"
		}
		// GDB writes the last digits in groups of eight: those of a signalling NaN may have zeros before them.
		grouped := (mantissaBits - 1) / 32 * 32
		text := new(big.Int).Rsh(mantissa, uint(grouped)).Text(16)
		if grouped > 0 {
			text += fmt.Sprintf("%0*x", grouped/4, new(big.Int).And(mantissa, mask(grouped)))
		}
		return sign + "nan(0x" + text + ")"
	}
	if f.whole && (exponent == 0) != (mantissa.Bit(fractionBits) == 0) {
		return "<invalid float value>" // no x87 makes such a number
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
