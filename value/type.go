package value

import (
	"debug/dwarf"
	"encoding/binary"
	"slices"

	"github.com/sfwalk/sfwalk/symbol"
)

// Kind says what a Type is.
type Kind uint8

const (
	Unknown         Kind = iota // debug information is broken or of a kind that is not known
	Void                        // no type, C's void
	Bool                        //
	Char                        // a character: char, char16_t, …
	Integer                     //
	Float                       //
	Complex                     // two Floats of half the size
	Enum                        //
	Pointer                     //
	Reference                   // C++'s &
	RvalueReference             // C++'s &&
	MemberPointer               // C++'s pointer to a member; Elem is the member's type, Class the class
	Array                       // Bounds has its dimension; the elements of a multidimensional array are arrays
	Struct                      // also a class
	Union                       //
	Function                    //
	Unspecified                 // decltype(nullptr)
	Typedef                     // another name of Elem
	Const                       // Elem with a qualifier; the same for the next three
	Volatile                    //
	Restrict                    //
	Atomic                      //
	Subrange                    // some of the values of Elem
)

// Type is a type as the debug information has it. Its parts are read when they are asked for. A
// Type belongs to its Reader.
type Type struct {
	Kind   Kind
	Name   string // without namespaces; "" if it has none
	Size   uint64 // in bytes; 0 if it is not known
	Signed bool   // of an Integer or Char
	// Encoding is DW_AT_encoding of a base type (DWARF 5, table 7.11).
	Encoding uint64
	// Declared says that the type is only declared: its definition is elsewhere.
	Declared bool
	Class    *Type // of a MemberPointer
	Order    binary.ByteOrder
	Vector   bool // an Array that is a vector of the processor
	number   bool // an Integer whose values are never characters

	r     *Reader
	entry *symbol.Entry // nil for a type that is in no file

	elem     *Type
	elemRead bool

	parts       *parts
	fullName    string
	language    string // "" until it is first asked for
	showersRead bool
	shown       []shower // from the printers that know the type

	definition *Type // of a type that is only declared; nil until it is first asked for

	varied []*Type // what t is in frames, if it has bounds that only a frame tells

	bounds    *Bounds // of an Array whose bounds are known without a frame
	described bool    // an Array with the bounds of its descriptor

	stepRead, stepKnown bool // of an Array
	step                uint64
	// dimension is the entry of an Array's bounds; nil if it has none.
	dimension *symbol.Entry
}

// parts are the parts of a struct, a union, an enumeration or a function.
type parts struct {
	fields      []Field
	enumerators []Enumerator
	parameters  []*Type
	dots        bool // the parameters end in "..."
	arguments   []TemplateArgument
	named       bool // arguments are read from the name
	variant     *variantPart
	flags       bool // the enumerators are flags

	unprototyped bool // a function of C that does not say what its parameters are; of a type that is in no file
}

// Field is a member of a struct or union, or a class that it is derived from.
type Field struct {
	Name   string // "" if it has none
	Type   *Type
	Offset int64 // in bytes from the beginning
	// Bits is the size of a bit-field, 0 for other members. It begins BitOffset bits behind Offset:
	// on a little-endian processor counted from the lowest bit.
	Bits, BitOffset uint64
	Base            bool // a class that this one is derived from
	Virtual         bool // the same, virtually: Offset is not known
	Static          bool // no part of the object: Entry declares it
	Artificial      bool
	entry           *symbol.Entry
}

// Declared returns where the source declares the member: the file, as the compiler recorded it, and
// the line, from 1 on; 0 if that is not known. Of a variant of a coroutine of Rust it is the place
// at which the coroutine waits.
func (f *Field) Declared() (file string, line int) {
	if f.entry == nil {
		return "", 0
	}
	return f.entry.Declared()
}

// Enumerator is one value of an enumeration.
type Enumerator struct {
	Name  string // with its scope, as GDB has it
	Value int64
}

// TemplateArgument is an argument of a C++ template, or a generic one of Rust.
type TemplateArgument struct {
	Name  string
	Type  *Type
	Value *int64 // nil for a type
}

// Bounds is the dimension of an array.
type Bounds struct {
	Lower  int64
	Count  uint64
	Known  bool   // the number is known
	Stride uint64 // bytes from one element to the next; 0 for the size of an element
}

// Elem returns the type that t is made of: what a pointer points to, an element, the type that a
// typedef names, the result of a function, the type below an enumeration. It is void if t has none.
func (t *Type) Elem() *Type {
	if !t.elemRead && t.entry != nil {
		t.readElem()
	}
	if t.elem == nil { // as of a type that no entry describes
		t.elem = t.r.void()
	}
	return t.elem
}

// readElem reads what t is made of, and what that is made of, as far as values of one are values of
// the next.
func (t *Type) readElem() {
	chain := make([]*Type, 0, 8)
	for x := t; !x.elemRead && x.entry != nil || slices.Contains(chain, x); x = x.elem {
		if len(chain) == maxWithin || slices.Contains(chain, x) {
			chain[len(chain)-1].elem = t.r.unknown()
			break
		}
		chain = append(chain, x)
		x.elemRead = true
		if x.elem = t.r.typeOf(x.entry); !x.consists() || x.elem == nil {
			break
		}
	}
	for _, x := range chain {
		if x.Vector && x.elem != nil && x.elem.bare().Kind == Integer {
			x.elem = x.elem.asNumber()
		}
	}
}

// maxWithin bounds the types that are read at once.
const maxWithin = 256

// consists reports whether values of the type are values of its Elem, one or several. A type that
// consists of itself is none: where such types are read, the chain of them is cut.
func (t *Type) consists() bool {
	switch t.Kind {
	case Array, Typedef, Const, Volatile, Restrict, Atomic, Subrange, Enum:
		return true
	}
	return false
}

// asNumber returns an integer type with its qualifiers as one whose values are never characters, as
// GDB has the elements of vectors. Another type is returned as it is, a typedef, too.
func (t *Type) asNumber() *Type {
	n := *t
	switch t.Kind {
	case Integer:
		n.number = true
	case Const, Volatile, Restrict, Atomic:
		n.elem, n.elemRead = t.Elem().asNumber(), true
	default:
		return t
	}
	return &n
}

// maxNames bounds the typedefs and qualifiers around a type.
const maxNames = 64

// Strip returns t without typedefs and qualifiers. For a type that is only declared, it looks for
// the definition.
func (t *Type) Strip() *Type { return t.bare().defined() }

// bare is Strip, but looks for no definition.
func (t *Type) bare() *Type {
	for range maxNames {
		switch t.Kind {
		case Typedef, Const, Volatile, Restrict, Atomic, Subrange:
			if t.Kind == Subrange && t.Elem().Kind == Void {
				return t
			}
			t = t.Elem()
		default:
			return t
		}
	}
	return t.r.unknown()
}

// Unqualified returns t without qualifiers; a typedef stays.
func (t *Type) Unqualified() *Type {
	for range maxNames {
		switch t.Kind {
		case Const, Volatile, Restrict, Atomic:
			t = t.Elem()
		default:
			return t
		}
	}
	return t.r.unknown()
}

// defined returns the definition of a type that t only declares, if a file has one.
func (t *Type) defined() *Type {
	if !t.Declared || t.entry == nil {
		return t
	}
	if t.definition == nil {
		t.definition = t
		if d := t.r.definition(t); d != nil {
			t.definition = d
		}
	}
	return t.definition
}

// scalar reports whether GDB counts values of the type as scalars.
func (t *Type) scalar() bool {
	s := t.bare()
	for range maxNames {
		if s.Kind != Reference && s.Kind != RvalueReference {
			break
		}
		s = s.Elem().bare()
	}
	switch s.Kind {
	case Array, Struct, Union:
		return false
	}
	return true
}

// SizeOf returns the size of a value of the type in bytes, through typedefs. ok is false if it is
// not known.
func (t *Type) SizeOf() (n uint64, ok bool) {
	s := t.Strip()
	switch s.Kind {
	case Array:
		b := s.Bounds()
		if s.Size != 0 && b.Known {
			return s.Size, true
		}
		if !s.stepRead { // an array of arrays would ask them all, for each element
			s.step, s.stepKnown = s.stride()
			s.stepRead = true
		}
		if !s.stepKnown || !b.Known || s.step != 0 && b.Count > maxObject/s.step {
			return 0, false
		}
		return s.step * b.Count, true
	case Function:
		if s.Size > 0 { // Go's: a pointer to a closure
			return s.Size, true
		}
		return 1, true
	case Void:
		if s.Name == "()" { // Rust's
			return 0, true
		}
		return 1, true
	case Unknown:
		return s.Size, s.Size > 0
	}
	return s.Size, !s.Declared && !s.sizeVaries()
}

// maxObject bounds the size of an object in bytes.
const maxObject = 1 << 47

// stride returns the distance of the elements of an array in bytes.
func (t *Type) stride() (uint64, bool) {
	if b := t.Bounds(); b.Stride != 0 {
		return b.Stride, true
	}
	return t.Elem().SizeOf()
}

// Fields returns the members of a struct or union, and the classes that it is derived from.
func (t *Type) Fields() []Field { return t.read().fields }

// Enumerators returns the values of an enumeration.
func (t *Type) Enumerators() []Enumerator { return t.read().enumerators }

// Parameters returns the types of a function's parameters. more says that others may follow.
func (t *Type) Parameters() (list []*Type, more bool) {
	p := t.read()
	return p.parameters, p.dots
}

// TemplateArguments returns the arguments of a C++ template, or the generic ones of Rust.
func (t *Type) TemplateArguments() []TemplateArgument {
	if t.Language() == "c++" {
		return t.arguments()
	}
	return t.read().arguments
}

// Tag returns the tag of the type's entry (DWARF 5, table 7.3), 0 for a type that is in no file.
func (t *Type) Tag() dwarf.Tag {
	if t.entry == nil {
		return 0
	}
	return t.entry.Tag
}

// DeclaredAt returns where the source declares the type: the file, as the compiler recorded it, and
// the line, from 1 on; 0 if that is not known. The type of the frame of one of GCC's coroutines is
// declared where the body ends.
func (t *Type) DeclaredAt() (file string, line int) {
	if t.entry == nil {
		return "", 0
	}
	return t.entry.Declared()
}

// Language returns the language of the unit that the type is in, by GDB's name of it.
func (t *Type) Language() string {
	if t.language == "" && t.entry != nil {
		t.language = t.r.language(t.entry)
	}
	return t.language
}

// ByteOrder returns the byte order of values of the type.
func (t *Type) ByteOrder() binary.ByteOrder {
	if s := t.bare(); s.Order != nil {
		return s.Order
	}
	return t.r.order()
}
