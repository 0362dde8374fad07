package value

import (
	"debug/dwarf"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/symbol"
)

// typeOf returns the type that DW_AT_type of an entry refers to; void if it refers to none.
func (r *Reader) typeOf(e *symbol.Entry) *Type {
	if !e.Has(dwarf.AttrType) {
		return r.void()
	}
	return r.typeFrom(e, e.Reference(dwarf.AttrType))
}

// TypeAt returns the type that the entry at ref describes; of kind [Unknown] if it describes none.
func (r *Reader) TypeAt(ref symbol.Ref) *Type { return r.typeAt(ref) }

// TypeOf returns the type that the entry of a variable, a parameter or a member has; [Void] if it
// has none.
func (r *Reader) TypeOf(e *symbol.Entry) *Type { return r.typeOf(e) }

// typeAt returns the type of an entry.
func (r *Reader) typeAt(ref symbol.Ref) *Type { return r.typeFrom(nil, ref) }

// typeFrom returns the type of an entry that from, if there is one, leads to.
func (r *Reader) typeFrom(from *symbol.Entry, ref symbol.Ref) *Type {
	if t := r.types[ref]; t != nil {
		return t
	}
	e, err := r.Symbols.Entry(ref)
	if err != nil {
		return r.unknown()
	}
	r.reached(from, e)
	t := r.newType(e)
	if len(r.types) >= maxTypes {
		clear(r.types)
	}
	r.types[ref] = t
	return t
}

// newType makes the type of an entry.
func (r *Reader) newType(e *symbol.Entry) *Type {
	if sig := e.Reference(dwarf.AttrSignature); !sig.IsZero() { // it stands for a type in a unit of its own
		if full := r.typeFrom(e, sig); full.Kind != Unknown {
			return full
		}
	}
	t := &Type{r: r, entry: e, Name: e.Text(dwarf.AttrName), Order: r.order(), Declared: e.Flag(dwarf.AttrDeclaration)}
	t.Size, _ = e.Constant(dwarf.AttrByteSize)
	if n, ok := e.Constant(dwarf.AttrBitSize); ok && t.Size == 0 {
		t.Size = (n + 7) / 8
	}
	switch e.Tag {
	case dwarf.TagBaseType:
		r.baseType(t)
	case dwarf.TagUnspecifiedType:
		t.Kind = Unspecified
		if t.Size == 0 {
			t.Size = uint64(r.Arch.PtrSize)
		}
	case dwarf.TagPointerType:
		t.Kind = Pointer
	case dwarf.TagReferenceType:
		t.Kind = Reference
	case dwarf.TagRvalueReferenceType:
		t.Kind = RvalueReference
	case dwarf.TagPtrToMemberType:
		t.Kind = MemberPointer
		if class := e.Reference(dwarf.AttrContainingType); !class.IsZero() {
			t.Class = r.typeFrom(e, class)
		}
		if t.Size == 0 {
			t.Size = uint64(r.Arch.PtrSize)
			if t.Elem().Strip().Kind == Function {
				t.Size *= 2
			}
		}
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagInterfaceType:
		t.Kind = Struct
	case dwarf.TagUnionType:
		t.Kind = Union
	case dwarf.TagEnumerationType:
		t.Kind = Enum
		if t.Size == 0 && e.Has(dwarf.AttrType) {
			t.Size, _ = t.Elem().SizeOf()
		}
	case dwarf.TagArrayType:
		r.arrayType(t)
	case dwarf.TagSubroutineType:
		t.Kind = Function
	case dwarf.TagSubprogram: // the function's
		t.Kind, t.Name, t.Declared = Function, "", false // its type is whole where it is only declared, too
	case dwarf.TagTypedef, dwarf.TagTemplateAlias:
		t.Kind = Typedef
	case dwarf.TagConstType, dwarf.TagImmutableType:
		t.Kind = Const
	case dwarf.TagVolatileType:
		t.Kind = Volatile
	case dwarf.TagRestrictType:
		t.Kind = Restrict
	case dwarf.TagAtomicType:
		t.Kind = Atomic
	case dwarf.TagSubrangeType:
		t.Kind = Subrange
	case dwarf.TagStringType:
		t.Kind = Array
		t.elem, t.elemRead = &Type{Kind: Char, Name: "character", Size: 1, r: r, elemRead: true}, true
		t.bounds = &Bounds{Lower: 1, Count: t.Size, Known: true}
	}
	switch t.Kind {
	case Pointer, Reference, RvalueReference:
		if t.Size == 0 {
			t.Size = uint64(r.Arch.PtrSize)
		}
	}
	return t
}

// baseType fills in a base type, DWARF 5 section 5.1.
func (r *Reader) baseType(t *Type) {
	t.Encoding, _ = t.entry.Constant(dwarf.AttrEncoding)
	switch end, _ := t.entry.Constant(dwarf.AttrEndianity); end {
	case 1:
		t.Order = bigEndian
	case 2:
		t.Order = littleEndian
	}
	t.Kind = Integer
	switch t.Encoding {
	case dwarfdata.ATEBoolean:
		t.Kind = Bool
	case dwarfdata.ATEComplexFloat:
		t.Kind = Complex
	case dwarfdata.ATEFloat, dwarfdata.ATEImaginary, dwarfdata.ATEDecimalFloat:
		t.Kind = Float
	case dwarfdata.ATESigned, dwarfdata.ATESignedFixed:
		t.Signed = true
	case dwarfdata.ATESignedChar:
		t.Signed = true
		t.charOf()
	case dwarfdata.ATEUnsignedChar:
		t.charOf()
	case dwarfdata.ATEUTF, dwarfdata.ATEUCS, dwarfdata.ATEASCII:
		t.Kind = Char
	case dwarfdata.ATEAddress: // as for GDB
		t.Kind, t.elem, t.elemRead = Pointer, r.void(), true
	case dwarfdata.ATEUnsigned:
	default:
		if t.Encoding > dwarfdata.ATEASCII || t.Encoding == 0 {
			t.Kind = Unknown
		}
	}
	if t.Size == 0 && t.Kind != Unknown { // "void" of some compilers
		t.Kind = Void
	}
}

// charOf makes t a character in the languages that have characters that are no numbers.
func (t *Type) charOf() {
	switch t.Language() {
	case "ada", "pascal", "modula-2", "fortran":
		t.Kind = Char
	}
}

// language returns the language of an entry's unit. A partial unit, as dwz makes them, has none of
// its own: as for GDB, it has the language of the unit through which it was first reached.
func (r *Reader) language(e *symbol.Entry) string {
	if name := e.Language(); name != "" {
		return name
	}
	return r.partial[e.Root()]
}

// reached notes that the entry from leads to an entry.
func (r *Reader) reached(from, to *symbol.Entry) {
	if from == nil || to.Language() != "" {
		return
	}
	unit := to.Root()
	if _, ok := r.partial[unit]; ok || len(r.partial) >= maxTypes {
		return
	}
	if name := r.language(from); name != "" {
		r.partial[unit] = name
	}
}

// arrayType fills in an array, DWARF 5 section 5.5: its first dimension. The others are arrays
// within.
func (r *Reader) arrayType(t *Type) {
	t.Kind = Array
	t.Vector = t.entry.Flag(dwarfdata.AttrGNUVector)
	dims := dimensions(t.entry)
	r.dimension(t, dims)
}

func dimensions(e *symbol.Entry) (dims []*symbol.Entry) {
	kids, err := e.Children()
	if err != nil {
		return nil
	}
	for _, k := range kids {
		if k.Tag == dwarf.TagSubrangeType || k.Tag == dwarf.TagEnumerationType {
			dims = append(dims, k)
		}
	}
	return columnMajor(e, dims[:min(len(dims), maxDimensions)])
}

const maxDimensions = 16

// dimension sets t up as the first of an array's dimensions. The others are arrays within.
func (r *Reader) dimension(t *Type, dims []*symbol.Entry) {
	t.bounds = &Bounds{}
	if len(dims) > 0 {
		t.dimension = dims[0]
		*t.bounds = r.staticBounds(dims[0])
	}
	if len(dims) > 1 {
		inner := &Type{Kind: Array, r: r, entry: t.entry, Vector: t.Vector, Order: t.Order}
		r.dimension(inner, dims[1:])
		t.elem, t.elemRead = inner, true
	}
}

// staticBounds returns the bounds that need no frame. A bound that is an expression or a variable
// is not known.
func (r *Reader) staticBounds(e *symbol.Entry) (b Bounds) {
	b.Lower = r.lowerBound(e)
	if n, ok := e.Constant(dwarf.AttrLowerBound); ok {
		b.Lower = int64(n)
	}
	if n, ok := e.Constant(dwarf.AttrCount); ok {
		b.Count, b.Known = n, true
	} else if n, ok := e.Constant(dwarf.AttrUpperBound); ok {
		// An upper bound of -1 may be written in as many bytes as an int has.
		if up := int64(n); up == int64(^uint32(0)) || up < b.Lower {
			b.Count, b.Known = 0, true
		} else {
			b.Count, b.Known = uint64(up-b.Lower)+1, true
		}
	} else if e.Tag == dwarf.TagEnumerationType {
		if t := r.typeAt(e.Ref); t.Kind == Enum {
			b.Count, b.Known = uint64(len(t.Enumerators())), true
		}
	}
	if n, ok := e.Constant(dwarf.AttrStrideSize); ok {
		b.Stride = n / 8
	}
	if n, ok := e.Constant(dwarf.AttrStride); ok {
		b.Stride = n
	}
	return b
}

// lowerBound returns the lower bound of arrays in the language of an entry, DWARF 5 table 7.17.
func (r *Reader) lowerBound(e *symbol.Entry) int64 {
	switch r.language(e) {
	case "fortran", "ada", "pascal", "modula-2":
		return 1
	}
	return 0
}

// Bounds returns the dimension of an array. A bound that only a frame tells is known if the array
// is the type of a [Value].
func (t *Type) Bounds() Bounds {
	if t.bounds == nil {
		return Bounds{}
	}
	return *t.bounds
}
