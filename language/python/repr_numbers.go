package python

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

func (w *writer) double(addr uint64) (float64, error) {
	var room [8]byte
	if n, err := w.ReadMemory(addr, room[:]); n < len(room) {
		return 0, err
	}
	return math.Float64frombits(w.order.Uint64(room[:])), nil
}

// floatText is float.__repr__: the shortest digits that are read back as the same number.
func floatText(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	exponent := 0
	if v != 0 {
		text := strconv.FormatFloat(v, 'e', -1, 64)
		exponent, _ = strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	}
	if exponent < -4 || exponent >= 16 {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func (w *writer) complex(object uint64) error {
	at := object + w.layout.at[complexValue]
	re, err := w.double(at)
	if err != nil {
		return err
	}
	im, err := w.double(at + 8)
	if err != nil {
		return err
	}
	short := func(v float64) string { return strings.TrimSuffix(floatText(v), ".0") }
	if re == 0 && !math.Signbit(re) {
		w.write(short(im) + "j")
		return nil
	}
	sign := "+"
	if math.Signbit(im) && !math.IsNaN(im) {
		sign = ""
	}
	w.write("(" + short(re) + sign + short(im) + "j)")
	return nil
}

// int writes an integer: its digits are in base 2^30, or 2^15.
func (w *writer) int(object uint64, c *class) error {
	v, bits, err := w.integer(object)
	if err != nil {
		return err
	}
	switch {
	case v == nil:
		w.write(fmt.Sprintf("<int of %d bits>", bits))
	case c.name == "bool" && !c.heap() && v.Sign() == 0:
		w.write("False")
	case c.name == "bool" && !c.heap():
		w.write("True")
	default:
		w.write(v.String())
	}
	return nil
}

// integer reads an integer. v is nil if it has more than mostDigit bits.
func (o *objects) integer(object uint64) (v *big.Int, bits int64, err error) {
	l := o.layout
	var n int64
	negative := false
	if l.has(longTag) {
		tag, err := o.pointer(object, longTag)
		if err != nil {
			return nil, 0, err
		}
		n, negative = int64(tag>>3), tag&3 == 2
	} else {
		if n, err = o.sizeOf(object); err != nil {
			return nil, 0, err
		}
		n, negative = max(n, -n), n < 0
	}
	if n < 0 || n > 1<<40 {
		return nil, 0, fmt.Errorf("there is no integer at %#x", object)
	}
	digitBits := int64(30)
	if l.has(longDigitBits) {
		digitBits = int64(l.at[longDigitBits])
	}
	if bits = n * digitBits; bits > mostDigit {
		return nil, bits, nil
	}
	bytes := int64(4)
	if digitBits == 15 {
		bytes = 2
	}
	raw := make([]byte, n*bytes)
	if got, err := o.ReadMemory(object+l.at[longDigits], raw); got < len(raw) {
		return nil, 0, err
	}
	v = new(big.Int)
	for i := n - 1; i >= 0; i-- {
		digit := uint64(0)
		if bytes == 2 {
			digit = uint64(o.order.Uint16(raw[i*2:]))
		} else {
			digit = uint64(o.order.Uint32(raw[i*4:]))
		}
		if digit >= 1<<digitBits {
			return nil, 0, fmt.Errorf("there is no integer at %#x", object)
		}
		v.Lsh(v, uint(digitBits)).Or(v, new(big.Int).SetUint64(digit))
	}
	if negative {
		v.Neg(v)
	}
	return v, bits, nil
}
