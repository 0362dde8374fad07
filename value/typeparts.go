package value

import (
	"debug/dwarf"
	"math/bits"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/symbol"
)

// maxParts bounds the members of a struct, and the values of an enumeration.
const maxParts = 1 << 16

// read reads the parts of a type.
func (t *Type) read() *parts {
	if t.parts != nil {
		return t.parts
	}
	p := &parts{}
	t.parts = p
	if t.entry == nil {
		return p
	}
	kids, err := t.entry.Children()
	if err != nil {
		return p
	}
	if len(kids) > maxParts {
		kids = kids[:maxParts]
	}
	scope := ""
	if t.Kind == Enum {
		scope = t.enumScope()
		p.flags = true
	}
	for _, k := range kids {
		switch k.Tag {
		case dwarf.TagMember, dwarf.TagVariable:
			p.fields = append(p.fields, t.r.field(k))
		case dwarf.TagInheritance:
			f := t.r.field(k)
			f.Base = true
			f.Virtual = k.Has(dwarf.AttrVirtuality) && f.virtual()
			p.fields = append(p.fields, f)
		case dwarf.TagEnumerator:
			n, _ := k.Constant(dwarf.AttrConstValue)
			v := t.narrow(int64(n))
			p.enumerators = append(p.enumerators, Enumerator{scope + k.Text(dwarf.AttrName), v})
			if v < 0 || bits.OnesCount64(uint64(v)) > 1 {
				p.flags = false
			}
		case dwarf.TagFormalParameter:
			x := t.r.typeOf(t.r.typed(k))
			if len(p.parameters) == 0 && k.Flag(dwarf.AttrArtificial) && x.Kind == Pointer { // this is constant
				x = t.r.qualified(x, Const)
			}
			p.parameters = append(p.parameters, x)
		case dwarf.TagUnspecifiedParameters:
			p.dots = true
		case dwarf.TagTemplateTypeParameter, dwarf.TagTemplateValueParameter:
			p.arguments = append(p.arguments, t.r.templateArgument(k))
		case dwarfdata.TagGNUTemplateParameterPack:
			pack, err := k.Children()
			if err != nil {
				continue
			}
			for _, x := range pack {
				p.arguments = append(p.arguments, t.r.templateArgument(x))
			}
		case dwarf.TagVariantPart:
			p.variant = t.r.readVariants(k)
		}
	}
	return p
}

// narrow returns an enumerator as the type has it.
func (t *Type) narrow(v int64) int64 {
	switch {
	case t.Size == 0 || t.Size >= 8:
		return v
	case t.Elem().Kind != Void && !t.Elem().Strip().Signed:
		return v & (1<<(8*t.Size) - 1)
	}
	shift := 64 - 8*t.Size
	return v << shift >> shift
}

// enumScope returns what GDB puts before the names of an enumeration's values.
func (t *Type) enumScope() string {
	prefix := t.entry.Prefix()
	if t.Language() == "c++" {
		prefix = symbol.CanonicalName(prefix)
	}
	if t.entry.Flag(dwarf.AttrEnumClass) || t.Language() == "rust" {
		return prefix + t.Name + "::"
	}
	return prefix
}

func (r *Reader) templateArgument(e *symbol.Entry) TemplateArgument {
	a := TemplateArgument{Name: e.Text(dwarf.AttrName), Type: r.typeOf(e)}
	if n, ok := e.Constant(dwarf.AttrConstValue); ok {
		v := int64(n)
		a.Value = &v
	}
	return a
}

// field reads a member, DWARF 5 section 5.7.6.
func (r *Reader) field(e *symbol.Entry) (f Field) {
	f = Field{Name: e.Text(dwarf.AttrName), Type: r.typeOf(e), Artificial: e.Flag(dwarf.AttrArtificial), entry: e}
	if e.Tag == dwarf.TagVariable || e.Flag(dwarf.AttrExternal) || e.Flag(dwarf.AttrDeclaration) {
		f.Static = true
		return f
	}
	if n, ok := e.Constant(dwarf.AttrDataMemberLoc); ok {
		f.Offset = int64(n)
	} else if b := e.Block(dwarf.AttrDataMemberLoc); b != nil {
		f.Offset = memberOffset(b)
	}
	size, ok := e.Constant(dwarf.AttrBitSize)
	if !ok {
		return f
	}
	f.Bits = size
	if n, ok := e.Constant(dwarf.AttrDataBitOffset); ok { // DWARF 4 and later: from the beginning of the struct
		f.Offset += int64(n / 8)
		f.BitOffset = n % 8
	} else if n, ok := e.Constant(dwarf.AttrBitOffset); ok {
		// Before: from the most significant bit of a unit of storage.
		storage, has := e.Constant(dwarf.AttrByteSize)
		if !has {
			storage, _ = f.Type.SizeOf()
		}
		at := int64(n)
		if r.order() != bigEndian {
			at = int64(8*storage) - int64(n) - int64(size)
		}
		f.Offset += at >> 3
		f.BitOffset = uint64(at & 7)
	}
	return f
}

// memberOffset returns the constant that DW_OP_plus_uconst, or DW_OP_constu and DW_OP_plus, add
// (DWARF 2 and 3).
func memberOffset(code []byte) int64 {
	const plusUconst, constu, plus = dwarfdata.OpPlusUconst, dwarfdata.OpConstu, dwarfdata.OpPlus
	if len(code) < 2 || code[0] != plusUconst && !(code[0] == constu && code[len(code)-1] == plus) {
		return 0
	}
	var v uint64
	for i, b := range code[1:] {
		if i > 9 {
			return 0
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return int64(v)
		}
	}
	return 0
}

// virtual reports whether the offset of a base is not a constant.
func (f *Field) virtual() bool {
	n, _ := f.entry.Constant(dwarf.AttrVirtuality)
	return n == 1
}

// IndexType returns the type of an array's indices; void if it is not known.
func (t *Type) IndexType() *Type {
	if t.dimension == nil {
		return t.r.void()
	}
	return t.r.typeOf(t.dimension)
}
