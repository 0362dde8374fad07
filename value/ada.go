package value

import (
	"debug/dwarf"
	"math"
	"strconv"
	"strings"
)

// ada writes a value as GDB does in Ada. It reports false if that is as in C.
func (w *Writer) ada(v *Value, t *Type) bool {
	switch t.Kind {
	case Integer, Subrange:
		b, err := v.Bytes()
		if err != nil || t.Kind == Integer && t.fixedPoint() {
			return false
		}
		w.Integer(v, b)
	case Struct:
		if w.depth >= w.p.depth() {
			w.Put("{...}")
			return true
		}
		w.depth++
		w.Put("(")
		first := true
		w.adaMembers(v, &first, 0)
		w.Put(")")
		w.depth--
	case Array:
		b := t.Bounds()
		if w.textual(t.Elem()) || !b.Known {
			return false
		}
		if w.depth >= w.p.depth() {
			w.Put("(...)")
			return true
		}
		w.depth++
		w.Put("(" + t.adaLowerBound(b.Lower))
		w.elements(b.Count, func(i uint64) Value { return v.Index(i) }, w.Part)
		w.Put(")")
		w.depth--
	default:
		return false
	}
	return true
}

// adaMembers writes the members of a record: those of the record that it extends first, those of its variant last.
func (w *Writer) adaMembers(v *Value, first *bool, depth int) {
	t := v.Type.Strip()
	write := func(f *Field) {
		m := v.Field(f)
		switch {
		case f.Name == "_tag":
			return
		case f.Name == "_parent" && m.Type.Strip().Kind == Struct && depth < maxBases:
			w.adaMembers(&m, first, depth+1)
			return
		}
		if !*first {
			w.Put(", ")
		}
		*first = false
		w.Put(f.Name + " => ")
		w.Part(&m)
	}
	fields := t.Fields()
	for i := range fields {
		write(&fields[i])
	}
	if p := t.read().variant; p != nil && p.discriminant == nil && len(p.variants) > 1 {
		w.Put(", <variant not known>") // the compiler has left out what tells them apart
	} else if p != nil {
		if a, err := p.active(v); err == nil {
			for i := range a.fields {
				write(&a.fields[i])
			}
		}
	}
}

// adaLowerBound returns what is before the first element of an array that does not begin at the usual index.
func (t *Type) adaLowerBound(low int64) string {
	if t.dimension != nil {
		if of := t.r.typeOf(t.dimension).Strip(); of.Kind == Enum {
			for i, x := range of.Enumerators() {
				if x.Value == low && i > 0 {
					return x.Name + " => "
				}
			}
			return ""
		}
	}
	if low == 1 {
		return ""
	}
	return strconv.FormatInt(low, 10) + " => "
}

// ofAdaCompiler reports whether a variable is none of the source: names of Ada are in lower case, and those that GNAT makes have
// capitals.
func ofAdaCompiler(name string) bool { return strings.ToLower(name) != name }

// Attributes and encodings of fixed-point numbers (DWARF 5, 5.1.1).
const (
	attrBinaryScale  dwarf.Attr = 0x5b
	attrDecimalScale dwarf.Attr = 0x5c
	signedFixed                 = 0x0d
	unsignedFixed               = 0x0e
)

// fixedPoint reports whether a type is one of fixed-point numbers.
func (t *Type) fixedPoint() bool {
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
