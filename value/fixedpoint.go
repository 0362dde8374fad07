package value

import (
	"debug/dwarf"
	"math"
	"strconv"
	"strings"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// ofAdaCompiler reports whether a variable is none of the source: names of Ada are in lower case,
// and names that GNAT makes have capitals.
func ofAdaCompiler(name string) bool { return strings.ToLower(name) != name }

// IsFixedPoint reports whether a type is one of fixed-point numbers.
func (t *Type) IsFixedPoint() bool {
	return t.entry != nil && (t.Encoding == dwarfdata.ATESignedFixed || t.Encoding == dwarfdata.ATEUnsignedFixed) && (t.entry.Has(dwarf.AttrBinaryScale) || t.entry.Has(dwarf.AttrDecimalScale))
}

// fixedText writes a fixed-point number.
func (t *Type) fixedText(v *Value) string {
	n, err := v.Int()
	if err != nil {
		return "<unavailable>"
	}
	x := float64(n)
	if s, ok := t.entry.Constant(dwarf.AttrBinaryScale); ok {
		x = math.Ldexp(x, int(int8(s)))
	} else if s, ok := t.entry.Constant(dwarf.AttrDecimalScale); ok {
		x *= math.Pow10(int(int8(s)))
	}
	return strconv.FormatFloat(x, 'g', 17, 64)
}
