package abidwarf

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
)

// Encodings of base types (DWARF 5, 7.8), and the encoding that compilers have for complex
// integers.
const (
	encBoolean      = 0x02
	encComplexFloat = 0x03
	encFloat        = 0x04
	encSigned       = 0x05
	encSignedChar   = 0x06
	encUnsigned     = 0x07
	encUnsignedChar = 0x08
	encUTF          = 0x10
	encASCII        = 0x12
	encGNUComplex   = 0x80

	attrGNUVector dwarf.Attr = 0x2107
)

// make makes the type at offset off.
func (r *Reader) make(off dwarf.Offset) (*abi.Type, error) {
	e, children, err := r.read(off)
	if err != nil {
		return nil, err
	}
	if declared, _ := e.Val(dwarf.AttrDeclaration).(bool); declared {
		return nil, fmt.Errorf("%s %s is declared only: another file may have it whole", e.Tag, name(e))
	}
	t := &abi.Type{Size: number(e, dwarf.AttrByteSize), Align: number(e, dwarf.AttrAlignment)}
	switch e.Tag {
	case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType, dwarf.TagSubroutineType:
		return r.pointer, nil
	case dwarf.TagPtrToMemberType:
		return r.memberPointer(e)
	case dwarf.TagUnspecifiedType: // decltype(nullptr)
		return r.pointer, nil
	case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagAtomicType, dwarf.TagTemplateAlias:
		return r.valueOf(e)
	case dwarf.TagBaseType:
		return t, r.base(t, e)
	case dwarf.TagEnumerationType:
		t.Kind, t.Align = abi.Integer, 0
		under, err := r.valueOf(e)
		if err == nil && under.Kind == abi.Integer {
			t.Signed = under.Signed
		}
		return t, err
	case dwarf.TagArrayType:
		return r.array(e, children)
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
		t.Kind = abi.Struct
		if e.Tag == dwarf.TagUnionType {
			t.Kind = abi.Union
		}
		if err := r.members(t, children); err != nil {
			return nil, err
		}
		t.ByReference = r.byReference(e, t, children)
		return t, nil
	}
	return nil, fmt.Errorf("%s at offset %#x of .debug_info is no type that a call passes", e.Tag, off)
}

// base makes t a base type.
func (r *Reader) base(t *abi.Type, e *dwarf.Entry) error {
	t.Align = 0
	switch encoding := number(e, dwarf.AttrEncoding); encoding {
	case encSigned, encSignedChar:
		t.Kind, t.Signed = abi.Integer, true
	case encBoolean, encUnsigned, encUnsignedChar, encUTF, encASCII:
		t.Kind = abi.Integer
	case encFloat:
		t.Kind = r.float(e, t.Size)
	case encComplexFloat:
		t.Kind, t.Elem = abi.Complex, &abi.Type{Kind: r.float(e, t.Size/2), Size: t.Size / 2}
	case encGNUComplex:
		t.Kind, t.Elem = abi.Complex, &abi.Type{Kind: abi.Integer, Size: t.Size / 2, Signed: true}
	default:
		return fmt.Errorf("base type %s has encoding %#x, which is not known", name(e), encoding)
	}
	return nil
}

// float returns the kind of a floating-point number of size bytes.
func (r *Reader) float(e *dwarf.Entry, size uint64) abi.Kind {
	if (size == 16 || size == 12) && !strings.Contains(name(e), "128") { // GCC's __float128 and _Float128
		return r.longDouble
	}
	return abi.Float
}

// memberPointer returns the type of a pointer to a member (Itanium C++ ABI, 2.3).
func (r *Reader) memberPointer(e *dwarf.Entry) (*abi.Type, error) {
	word := &abi.Type{Kind: abi.Integer, Size: r.pointer.Size, Signed: true}
	off, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
	if !ok {
		return word, nil
	}
	of, err := r.entry(off)
	if err != nil || of.Tag != dwarf.TagSubroutineType {
		return word, err
	}
	return &abi.Type{Kind: abi.Struct, Size: 2 * word.Size, Members: []abi.Member{{Type: word}, {Type: word, Offset: word.Size}}}, nil
}

// array returns the type of an array or a vector: the last dimension is the inmost.
func (r *Reader) array(e *dwarf.Entry, dimensions []*dwarf.Entry) (*abi.Type, error) {
	t, err := r.valueOf(e)
	if err != nil {
		return nil, err
	}
	kind := abi.Array
	if vector, _ := e.Val(attrGNUVector).(bool); vector {
		kind = abi.Vector
	}
	for i := len(dimensions) - 1; i >= 0; i-- {
		d := dimensions[i]
		if d.Tag != dwarf.TagSubrangeType {
			continue
		}
		n := number(d, dwarf.AttrCount)
		if upper, ok := d.Val(dwarf.AttrUpperBound).(int64); ok && upper >= 0 {
			n = uint64(upper) + 1
		}
		if t.Size != 0 && n > 1<<40/t.Size {
			return nil, fmt.Errorf("array at offset %#x of .debug_info has %d elements", e.Offset, n)
		}
		flexible := kind == abi.Array && d.Val(dwarf.AttrCount) == nil && d.Val(dwarf.AttrUpperBound) == nil
		t = &abi.Type{Kind: kind, Elem: t, Count: n, Size: n * t.Size, Flexible: flexible}
	}
	if size := number(e, dwarf.AttrByteSize); kind == abi.Vector && size != 0 {
		t.Size = size // three elements take the room of four
	}
	return t, nil
}

// members gives t its members and bases.
func (r *Reader) members(t *abi.Type, children []*dwarf.Entry) error {
	for _, child := range children {
		switch child.Tag {
		case dwarf.TagVariantPart:
			return fmt.Errorf("variants at offset %#x of .debug_info are passed in a way that is not known", child.Offset)
		case dwarf.TagMember, dwarf.TagInheritance:
		default:
			continue
		}
		if static, _ := child.Val(dwarf.AttrExternal).(bool); static {
			continue
		}
		member, err := r.valueOf(child)
		if err != nil {
			return err
		}
		m := abi.Member{Type: member, Align: number(child, dwarf.AttrAlignment), Offset: number(child, dwarf.AttrDataMemberLoc)}
		if m.Align == 0 && member.Align == 0 {
			m.Align = r.typedefAlign(child)
		}
		if bits := number(child, dwarf.AttrBitSize); bits != 0 {
			m.BitSize, m.BitOffset = bits, r.bitOffset(child, member, m.Offset)
			m.Offset = 0
		}
		t.Members = append(t.Members, m)
	}
	return nil
}

// typedefAlign returns the alignment that a typedef asks for; 0 if none does.
func (r *Reader) typedefAlign(e *dwarf.Entry) uint64 {
	for range maxChain {
		off, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
		if !ok {
			break
		}
		above, err := r.entry(off)
		if err != nil {
			break
		}
		if align := number(above, dwarf.AttrAlignment); align != 0 {
			return align
		}
		if above.Tag != dwarf.TagTypedef {
			break
		}
		e = above
	}
	return 0
}

// bitOffset returns where a bit-field begins, in bits from the beginning of the struct. DWARF 2 and
// 3 count from the most significant bit of a unit of storage.
func (r *Reader) bitOffset(e *dwarf.Entry, t *abi.Type, offset uint64) uint64 {
	if e.Val(dwarf.AttrDataBitOffset) != nil {
		return number(e, dwarf.AttrDataBitOffset)
	}
	from := number(e, dwarf.AttrBitOffset)
	if r.entries.ByteOrder() == binary.ByteOrder(binary.LittleEndian) {
		storage := number(e, dwarf.AttrByteSize)
		if storage == 0 {
			storage = t.Size
		}
		from = 8*storage - from - number(e, dwarf.AttrBitSize)
	}
	return 8*offset + from
}

// number returns an attribute that is a number; 0 where it is none.
func number(e *dwarf.Entry, attr dwarf.Attr) uint64 {
	n, _ := e.Val(attr).(int64)
	return uint64(max(0, n))
}
