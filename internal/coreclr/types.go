package coreclr

import "github.com/sfwalk/sfwalk/target"

// typeLayout is of MethodTable, EEClass and FieldDesc.
type typeLayout struct {
	flags, base, row        uint64 // MethodTable
	parent, class, instance uint64 // MethodTable
	// shortRow says that the row has 16 bits (.NET 8); else it is the upper 24 bits of a word.
	shortRow bool
	table    uint64 // EEClass: its MethodTable
	fields   uint64 // EEClass: the list of fields that the type itself has
}

const (
	hasComponents = 1 << 31
	isCanonical   = 1 // of MethodTable's class: it leads to the type that has the class
	isDescription = 2 // of a type argument: it is no MethodTable
	beforeDicts   = 4 // bytes before the list of dictionaries: how many there are, and how many arguments the last one has
	fieldSize     = 16
	mostFields    = 1 << 12
	mostArguments = 64
)

// Type is a type's record.
type Type struct {
	Module uint64 // the address of its assembly's record
	Row    uint32 // of the type in its assembly's metadata
	Parent uint64 // the record of the type that it is derived from; 0 for none
	Base   uint32 // the size of an object of it, with the word before it, but for Component, bytes
	// Component is the size of each element of an array or a string, bytes. Others have none.
	Component uint32
	// Class is the address of what types share that have the same fields.
	Class uint64
}

// Type reads the record of a type (MethodTable). ok is false if there is none at the address.
func (r *Runtime) Type(m target.Memory, at uint64) (t Type, ok bool) {
	l := &r.types
	if at&7 != 0 {
		return t, false
	}
	canonical := at
	t.Class = word(m, at+l.class)
	if t.Class&isCanonical != 0 {
		canonical = t.Class &^ isCanonical
		t.Class = word(m, canonical+l.class)
	}
	if t.Class&7 != 0 || word(m, t.Class+l.table) != canonical {
		return t, false
	}
	flags, ok := half(m, at+l.flags)
	row, known := half(m, at+l.row)
	t.Base, _ = half(m, at+l.base)
	if flags&hasComponents != 0 {
		t.Component = flags & 0xffff
	}
	if t.Row = row >> 8; l.shortRow {
		t.Row = row & 0xffff
	}
	t.Module, t.Parent = r.moduleOf(m, at), word(m, at+l.parent)
	return t, ok && known && t.Module != 0
}

// Arguments returns the type arguments of a type: addresses of records, 0 for what is no type of
// its own, such as a pointer.
func (r *Runtime) Arguments(m target.Memory, at uint64) (list []uint64) {
	dicts := word(m, at+r.types.instance)
	counts, ok := half(m, dicts-beforeDicts)
	n, arguments := uint64(counts&0xffff), counts>>16
	if !ok || n == 0 || arguments > mostArguments {
		return nil
	}
	last := word(m, dicts+8*(n-1))
	for i := range uint64(arguments) {
		a := word(m, last+8*i)
		if a&isDescription != 0 {
			a = 0
		}
		list = append(list, a)
	}
	return list
}

// Field is a field of an object, which its own type has, and not the ones that it is derived from.
type Field struct {
	Row    uint32 // in the assembly's metadata
	Offset uint32 // from the first field of the object on, bytes
}

// Fields returns the fields of a type's objects.
func (r *Runtime) Fields(m target.Memory, t *Type) (list []Field) {
	const isStatic, numberOf, offsetOf = 1 << 24, 1<<24 - 1, 1<<27 - 1
	at := word(m, t.Class+r.types.fields)
	of := word(m, at)
	for range mostFields {
		var b [fieldSize]byte
		if !read(m, at, b[:]) || order.Uint64(b[:]) != of {
			break
		}
		if v := order.Uint32(b[8:]); v&isStatic == 0 {
			list = append(list, Field{v & numberOf, order.Uint32(b[12:]) & offsetOf})
		}
		at += fieldSize
	}
	return list
}
