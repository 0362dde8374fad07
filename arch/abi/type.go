package abi

// Kind says what a [Type] is.
type Kind uint8

const (
	// Void is the result of a function that has none.
	Void Kind = iota
	// Integer is an integer of 1, 2, 4, 8 or 16 bytes: also a bool, a character, an enumeration,
	// C++'s nullptr_t and pointers to data members.
	Integer
	// Pointer is an address: also a reference, and what a parameter of array or function type is.
	Pointer
	// Float is a binary floating-point number of 2, 4, 8 or 16 bytes.
	Float
	// X87 is the x87's number of 80 bits in 16 bytes, amd64's long double, or in 12, 32-bit x86's.
	X87
	// Complex has two Elem, the real part first.
	Complex
	// Vector has Count Elem in one vector register, or in memory. Its size is a power of two.
	Vector
	// Array has Count Elem. It is only ever a member: as a parameter it is a Pointer.
	Array
	// Struct has Members, base classes among them. C++'s pointer to a member function is one
	// of two integers.
	Struct
	// Union has Members that overlap.
	Union
)

// Type is the type of a value, as far as calling conventions distinguish types.
type Type struct {
	Kind Kind
	Size uint64 // bytes, as sizeof tells; 0 for C's empty structs and flexible arrays
	// Align is the alignment in bytes that a declaration of the type has asked for, as
	// DW_AT_alignment tells; 0 if it has not.
	Align  uint64
	Signed bool   // for Integer
	Elem   *Type  // for Complex, Vector, Array
	Count  uint64 // for Vector, Array
	// Flexible says that an Array's declaration gives no count: the last member of a struct.
	Flexible bool
	Members  []Member // for Struct, Union
	// ByReference says that a C++ class is not trivial for the purposes of calls: the caller
	// passes the address of a copy (Itanium C++ ABI, 3.1.1; DW_CC_pass_by_reference).
	ByReference bool
}

// Member is a member of a struct or union, or a base class.
type Member struct {
	Type   *Type
	Offset uint64 // bytes from the beginning of the struct; not of bit-fields
	Align  uint64 // the alignment in bytes that the member's declaration has asked for, or 0
	// BitSize is how many bits a bit-field has; 0 for any other member. BitOffset is where it
	// begins, as DW_AT_data_bit_offset counts: bits from the beginning of the struct.
	BitOffset, BitSize uint64
}

// x87Narrow is the size of an X87 of 32-bit x86, bytes. It is aligned to 4.
const x87Narrow = 12

// Composite reports whether t is a struct, a union or an array.
func (t *Type) Composite() bool { return t.Kind == Struct || t.Kind == Union || t.Kind == Array }

// Alignment returns the alignment of t in bytes, as alignof tells. A struct with
// attribute packed shows itself by its layout; one that does not has Align 1.
func (t *Type) Alignment() uint64 {
	if t.Align != 0 {
		return t.Align
	}
	return t.NaturalAlignment()
}

// NaturalAlignment returns the alignment that t has before its own declaration asks for more: of a
// struct, its members' (AAPCS64, 5.9.4).
func (t *Type) NaturalAlignment() uint64 {
	align := uint64(1)
	switch t.Kind {
	case Complex, Array:
		return t.Elem.Alignment()
	case X87:
		return divisor(t.Size, 16)
	case Struct, Union:
		for _, m := range t.Members {
			align = max(align, m.alignment())
		}
		return divisor(t.Size, align)
	}
	return max(align, t.Size)
}

// alignment returns the member's alignment: its type's alignment, unless the layout shows that the
// struct is packed.
func (m *Member) alignment() uint64 {
	align := m.Align
	if align == 0 {
		align = m.Type.Alignment()
	}
	if m.BitSize != 0 {
		return align
	}
	return divisor(m.Offset, align)
}

// divisor returns the greatest power of two, at most align, that divides size.
func divisor(size, align uint64) uint64 {
	for size%align != 0 {
		align /= 2
	}
	return align
}

// Empty reports whether t has no data: no scalar at all.
func (t *Type) Empty() bool {
	for range t.Scalars {
		return false
	}
	return true
}

// Scalar is a part of a type that is an Integer, Pointer, Float, X87 or Vector.
type Scalar struct {
	Type *Type
	// BitOffset is where it begins, in bits from the beginning of the type; BitSize is the
	// size of a bit-field, 0 for all else.
	BitOffset, BitSize uint64
}

// Scalars yields the parts of t in the order of their declaration. Members of size 0 have none.
// t must be one that [Func.Arguments] or [Func.CheckResult] has found to be sound, of bounded size.
func (t *Type) Scalars(yield func(Scalar) bool) { t.scalars(0, yield) }

func (t *Type) scalars(at uint64, yield func(Scalar) bool) bool {
	if t.Size == 0 {
		return true
	}
	switch t.Kind {
	case Void:
		return true
	case Complex:
		return t.Elem.scalars(at, yield) && t.Elem.scalars(at+8*t.Elem.Size, yield)
	case Array:
		for i := range t.Count {
			if !t.Elem.scalars(at+8*i*t.Elem.Size, yield) {
				return false
			}
		}
		return true
	case Struct, Union:
		for _, m := range t.Members {
			if m.BitSize != 0 {
				if !yield(Scalar{m.Type, at + m.BitOffset, m.BitSize}) {
					return false
				}
			} else if !m.Type.scalars(at+8*m.Offset, yield) {
				return false
			}
		}
		return true
	}
	return yield(Scalar{Type: t, BitOffset: at})
}
