package vmstructs

import (
	"github.com/sfwalk/sfwalk/format/elf"
)

// Bounds for the tables of a broken process. JDK 17 has 1,150 fields.
const (
	maxEntries = 1 << 13
	maxStride  = 128
)

// Tables are what a virtual machine tells of its structures.
type Tables struct {
	Fields    map[string]Field // by "Type::field"
	Types     map[string]Type  // by name
	Constants map[string]int64
}

// Field is a field of a structure. A static field has its address as its Offset.
type Field struct {
	Offset   uint64 // bytes
	Type     string
	Size     int // bytes; 0 if the type's size is not known, or is more than 8
	Unsigned bool
}

// Type is a type of the virtual machine.
type Type struct {
	Super    string // the class from which it is derived; "" if there is none
	Size     uint64 // bytes
	Unsigned bool
}

// Is8 reports whether the release is JDK 8, which has all code in one heap.
func (t *Tables) Is8() bool {
	_, ok := t.Fields["CodeCache::_heap"]
	return ok
}

// entry is the layout of a table's entries, as the exported symbols tell it.
type entry struct {
	first  uint64
	stride uint64
	at     map[string]uint64
}

// symbols are the exported symbols of a virtual machine.
type symbols struct {
	r        *Reader
	exported map[string]elf.Symbol
	bias     uint64
}

// value returns the word at a symbol.
func (s *symbols) value(name string) (uint64, bool) {
	at, ok := s.exported[Prefix+name]
	if !ok {
		return 0, false
	}
	return s.r.Word(at.Addr + s.bias)
}

// entry returns the layout of a table. parts are the names of its entries' parts.
func (s *symbols) entry(table, prefix string, parts ...string) (e entry, ok bool) {
	if e.first, ok = s.value(table); !ok {
		return e, false
	}
	if e.stride, ok = s.value(prefix + "EntryArrayStride"); !ok || e.stride == 0 || e.stride > maxStride {
		return e, false
	}
	e.at = make(map[string]uint64)
	for _, part := range parts {
		if e.at[part], ok = s.value(prefix + "Entry" + part + "Offset"); !ok || e.at[part] > e.stride-1 {
			return e, false
		}
	}
	return e, true
}

// each calls do with the address and the name of each entry. An entry without a name ends the
// table.
func (s *symbols) each(e entry, name string, do func(at uint64, name string)) bool {
	for i := range uint64(maxEntries) {
		at := e.first + i*e.stride
		to, ok := s.r.Word(at + e.at[name])
		if !ok || to == 0 {
			return ok
		}
		do(at, s.r.Name(to))
	}
	return true
}

// Read reads the tables of a virtual machine. exported are its symbols that begin with [Prefix],
// and bias is what its addresses in memory have more than those. It reports whether all tables are
// there.
func Read(r *Reader, exported map[string]elf.Symbol, bias uint64) (t *Tables, ok bool) {
	s := symbols{r, exported, bias}
	t = &Tables{make(map[string]Field), make(map[string]Type), make(map[string]int64)}
	types, ok := s.entry("Types", "Type", "TypeName", "Size", "IsUnsigned")
	super, derived := s.value("TypeEntrySuperclassNameOffset")
	derived = derived && super < types.stride
	ok = ok && s.each(types, "TypeName", func(at uint64, name string) {
		n, _ := s.r.Word(at + types.at["Size"])
		unsigned, _ := s.r.Number(at, Field{Offset: types.at["IsUnsigned"], Size: 4})
		of := Type{Size: n, Unsigned: unsigned != 0}
		if to, _ := s.r.Word(at + super); derived && to != 0 {
			of.Super = s.r.Name(to)
		}
		t.Types[name] = of
	})
	structs, found := s.entry("Structs", "Struct", "TypeName", "FieldName", "TypeString", "IsStatic", "Offset", "Address")
	ok = ok && found && s.each(structs, "TypeName", func(at uint64, name string) {
		to, _ := s.r.Word(at + structs.at["FieldName"])
		name += "::" + s.r.Name(to)
		where := "Offset"
		if static, _ := s.r.Number(at, Field{Offset: structs.at["IsStatic"], Size: 4}); static != 0 {
			where = "Address"
		}
		f := Field{}
		if to, _ = s.r.Word(at + structs.at["TypeString"]); to != 0 {
			f.Type = s.r.Name(to)
		}
		if f.Offset, ok = s.r.Word(at + structs.at[where]); ok {
			t.Fields[name] = f
		}
	})
	for _, kind := range [...]string{"Int", "Long"} {
		list, found := s.entry(kind+"Constants", kind+"Constant", "Name", "Value")
		value := Field{Size: 4, Offset: list.at["Value"]}
		if kind == "Long" {
			value.Size = 8
		}
		ok = ok && found && s.each(list, "Name", func(at uint64, name string) {
			t.Constants[name], _ = s.r.Number(at, value)
		})
	}
	for name, f := range t.Fields {
		if of, known := t.Types[f.Type]; known && of.Size <= 8 {
			f.Size, f.Unsigned = int(of.Size), of.Unsigned
			t.Fields[name] = f
		}
	}
	return t, ok
}
