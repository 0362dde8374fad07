package value

import (
	"debug/dwarf"
	"math"
	"strconv"
	"strings"
)

// ofAdaCompiler reports whether a variable is none of the source: names of Ada are in lower case,
// and names that GNAT makes have capitals.
func ofAdaCompiler(name string) bool { return strings.ToLower(name) != name }

// Attributes and encodings of fixed-point numbers (DWARF 5, 5.1.1).
const (
	attrBinaryScale  dwarf.Attr = 0x5b
	attrDecimalScale dwarf.Attr = 0x5c
	signedFixed                 = 0x0d
	unsignedFixed               = 0x0e
)

// IsFixedPoint reports whether a type is one of fixed-point numbers.
func (t *Type) IsFixedPoint() bool {
	return t.entry != nil && (t.Encoding == signedFixed || t.Encoding == unsignedFixed) && (t.entry.Has(attrBinaryScale) || t.entry.Has(attrDecimalScale))
}

// fixedText writes a fixed-point number.
func (t *Type) fixedText(v *Value) string {
	n, err := v.Int()
	if err != nil {
		return "<unavailable>"
	}
	x := float64(n)
	if s, ok := t.entry.Constant(attrBinaryScale); ok {
		x = math.Ldexp(x, int(int8(s)))
	} else if s, ok := t.entry.Constant(attrDecimalScale); ok {
		x *= math.Pow10(int(int8(s)))
	}
	return strconv.FormatFloat(x, 'g', 17, 64)
}
