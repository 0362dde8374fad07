package value

import (
	"debug/dwarf"
	"errors"
	"math/big"
	"slices"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/symbol"
)

// errNoVariant says that the discriminant of a value belongs to no variant of its type.
var errNoVariant = errors.New("no variant has this discriminant")

// variantPart are the variants of a type, of which a value has one (DWARF 5, section 5.7.10):
// enumerations of Rust.
type variantPart struct {
	discriminant *Field // nil if the only variant is always there
	variants     []variant
}

// variant is one of them.
type variant struct {
	labels []labels // of the discriminant; none for the variant that is there for all other values
	fields []Field
}

// labels are values of a discriminant from the first to the last.
type labels struct{ first, last *big.Int }

// maxLabels bounds the values of one variant's discriminant.
const maxLabels = 1 << 12

// readVariants reads the entry of a variant part.
func (r *Reader) readVariants(e *symbol.Entry) *variantPart {
	p := &variantPart{}
	kids, err := e.Children()
	if err != nil {
		return p
	}
	discriminant := e.Reference(dwarf.AttrDiscr)
	signed, bytes := false, 8
	for _, k := range kids {
		if k.Tag == dwarf.TagMember && k.Ref == discriminant {
			f := r.field(k)
			p.discriminant = &f
			signed = f.Type.Strip().isSigned()
			if n, ok := f.Type.SizeOf(); ok && n <= 16 {
				bytes = int(n)
			}
		}
	}
	if p.discriminant == nil && !discriminant.IsZero() { // of Ada: a member of the record
		if k, err := r.Symbols.Entry(discriminant); err == nil && k.Tag == dwarf.TagMember {
			f := r.field(k)
			p.discriminant = &f
			signed = f.Type.Strip().isSigned()
			if n, ok := f.Type.SizeOf(); ok && n <= 16 {
				bytes = int(n)
			}
		}
	}
	for _, k := range kids[:min(len(kids), maxParts)] {
		if k.Tag != dwarf.TagVariant {
			continue
		}
		v := variant{labels: r.variantLabels(k, signed, bytes)}
		members, err := k.Children()
		if err != nil {
			continue
		}
		for _, m := range members {
			if m.Tag == dwarf.TagMember {
				v.fields = append(v.fields, r.field(m))
			}
		}
		p.variants = append(p.variants, v)
	}
	return p
}

// variantLabels returns the values of the discriminant with which a variant is there.
func (r *Reader) variantLabels(e *symbol.Entry, signed bool, bytes int) (list []labels) {
	// A constant may be written in more or in fewer bytes than the discriminant has.
	fit := func(n *big.Int) *big.Int {
		low := new(big.Int).And(n, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(8*bytes)), big.NewInt(1)))
		if signed && bytes > 0 && low.Bit(8*bytes-1) == 1 {
			low.Sub(low, new(big.Int).Lsh(big.NewInt(1), uint(8*bytes)))
		}
		return low
	}
	if n, ok := e.Constant(dwarf.AttrDiscrValue); ok {
		x := fit(new(big.Int).SetUint64(n))
		if bytes > 8 && signed {
			x = big.NewInt(int64(n))
		}
		return []labels{{x, x}}
	}
	if b := e.Block(dwarf.AttrDiscrValue); len(b) > 0 && len(b) <= 16 {
		x := fit(bigNumber(b, r.order() == bigEndian, signed))
		return []labels{{x, x}}
	}
	in := dwarfdata.New(e.Block(dwarf.AttrDiscrList), r.order())
	number := func() *big.Int {
		if signed {
			return big.NewInt(in.SLEB128())
		}
		return new(big.Int).SetUint64(in.ULEB128())
	}
	for in.More() && len(list) < maxLabels { // DWARF 5, section 7.5.6: DW_DSC_label and DW_DSC_range
		kind := in.U8()
		first := number()
		last := first
		if kind == 1 {
			last = number()
		}
		if in.Bad || kind > 1 {
			break
		}
		list = append(list, labels{first, last})
	}
	return list
}

// active returns the variant that a value has.
func (p *variantPart) active(v *Value) (*variant, error) {
	if p.discriminant == nil {
		if len(p.variants) == 0 {
			return nil, errNoVariant
		}
		return &p.variants[0], nil
	}
	d := v.Field(p.discriminant)
	b, err := d.Bytes()
	if err != nil {
		return nil, err
	}
	n := bigNumber(b, d.Type.ByteOrder() == bigEndian, d.Type.Strip().isSigned())
	other := -1
	for i := range p.variants {
		x := &p.variants[i]
		if len(x.labels) == 0 {
			other = i
		}
		if slices.ContainsFunc(x.labels, func(l labels) bool { return l.first.Cmp(n) <= 0 && n.Cmp(l.last) <= 0 }) {
			return x, nil
		}
	}
	if other < 0 {
		return nil, errNoVariant
	}
	return &p.variants[other], nil
}

// Variant returns the variant of an enumeration of Rust that the value has: its name, and the value
// as its struct. ok is false if the type is no such enumeration, or has no variants; the error says
// why the variant is not known.
func (v *Value) Variant() (name string, is Value, ok bool, err error) {
	t := v.Type.Strip()
	p := t.read().variant
	if p == nil || len(p.variants) == 0 {
		return "", Value{}, false, nil
	}
	a, err := p.active(v)
	if err != nil {
		return "", Value{}, true, err
	}
	if len(a.fields) == 0 {
		return "", Value{}, true, errNoVariant
	}
	f := &a.fields[0]
	return f.Name, v.Field(f), true, nil
}

// HasVariants reports whether a type has variants, of which a value has one: it is an enumeration
// of Rust with data, or a record of Ada. See [Value.Variant].
func (t *Type) HasVariants() bool { return t.read().variant != nil }

// Variants returns the members of each variant of a type.
func (t *Type) Variants() (list [][]Field) {
	if p := t.read().variant; p != nil {
		for i := range p.variants {
			list = append(list, p.variants[i].fields)
		}
	}
	return list
}

// VariantFields returns the members of the variant that a record of Ada has. known is false if
// nothing tells which one it has.
func (v *Value) VariantFields() (list []Field, known bool) {
	p := v.Type.Strip().read().variant
	switch {
	case p == nil:
		return nil, true
	case p.discriminant == nil && len(p.variants) > 1:
		return nil, false
	}
	a, err := p.active(v)
	if err != nil {
		return nil, true
	}
	return a.fields, true
}

// VariantCase is one variant of a type, with what the discriminant has if a value has the variant.
type VariantCase struct {
	// Labels are the values of the discriminant, each from the first to the last, as unsigned
	// numbers of its size. There are none for the variant of all other values.
	Labels [][2]uint64
	Fields []Field
}

// VariantCases returns the variants of a type with their discriminant, for who reads many values of
// it. discriminant is nil if there is but one variant, which has no labels. ok is false if the type
// has no variants, or its discriminant has more than 64 bits.
func (t *Type) VariantCases() (discriminant *Field, cases []VariantCase, ok bool) {
	p := t.read().variant
	if p == nil || len(p.variants) == 0 {
		return nil, nil, false
	}
	size := uint64(8)
	if p.discriminant != nil {
		if size, ok = p.discriminant.Type.SizeOf(); !ok || size == 0 || size > 8 {
			return nil, nil, false
		}
	}
	mask := ^uint64(0) >> (64 - 8*size)
	unsigned := func(n *big.Int) uint64 {
		if n.Sign() < 0 {
			return uint64(n.Int64()) & mask
		}
		return n.Uint64() & mask
	}
	for i := range p.variants {
		v := &p.variants[i]
		c := VariantCase{Fields: v.fields}
		for _, l := range v.labels {
			c.Labels = append(c.Labels, [2]uint64{unsigned(l.first), unsigned(l.last)})
		}
		cases = append(cases, c)
	}
	return p.discriminant, cases, true
}
