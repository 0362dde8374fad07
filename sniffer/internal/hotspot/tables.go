package hotspot

import (
	"github.com/sfwalk/sfwalk/format/elf"
)

// Bounds for the tables of a broken process. JDK 17 has 1,150 fields.
const (
	maxEntries = 1 << 13
	maxStride  = 128
)

// tables are the needed parts of the virtual machine's tables.
type tables struct {
	fields    map[string]field // by "Type::field"
	sizes     map[string]size  // of types
	constants map[string]int64
}

// field is a field of a structure. A static field has an address instead of an offset.
type field struct {
	offset   uint64
	typ      string
	size     int
	unsigned bool
}

type size struct {
	bytes    uint64
	unsigned bool
}

// entry is the layout of a table's entries, as the exported symbols tell it.
type entry struct {
	first  uint64
	stride uint64
	at     map[string]uint64
}

// symbols are the exported symbols of a virtual machine.
type symbols struct {
	r        *reader
	exported map[string]elf.Symbol
	bias     uint64
}

// value returns the word at a symbol.
func (s *symbols) value(name string) (uint64, bool) {
	at, ok := s.exported[symbolPrefix+name]
	if !ok {
		return 0, false
	}
	return s.r.word(at.Addr + s.bias)
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
		to, ok := s.r.word(at + e.at[name])
		if !ok || to == 0 {
			return ok
		}
		do(at, s.r.name(to))
	}
	return true
}

// read reads all tables.
func (s *symbols) read() (t tables, ok bool) {
	t = tables{make(map[string]field), make(map[string]size), make(map[string]int64)}
	types, ok := s.entry("Types", "Type", "TypeName", "Size", "IsUnsigned")
	ok = ok && s.each(types, "TypeName", func(at uint64, name string) {
		n, _ := s.r.word(at + types.at["Size"])
		unsigned, _ := s.r.number(at, field{offset: types.at["IsUnsigned"], size: 4})
		t.sizes[name] = size{n, unsigned != 0}
	})
	structs, found := s.entry("Structs", "Struct", "TypeName", "FieldName", "TypeString", "IsStatic", "Offset", "Address")
	ok = ok && found && s.each(structs, "TypeName", func(at uint64, name string) {
		if !looked[name] {
			return
		}
		to, _ := s.r.word(at + structs.at["FieldName"])
		name += "::" + s.r.name(to)
		where := "Offset"
		if static, _ := s.r.number(at, field{offset: structs.at["IsStatic"], size: 4}); static != 0 {
			where = "Address"
		}
		f := field{}
		to, _ = s.r.word(at + structs.at["TypeString"])
		f.typ = s.r.name(to)
		if f.offset, ok = s.r.word(at + structs.at[where]); ok {
			t.fields[name] = f
		}
	})
	for _, kind := range [...]string{"Int", "Long"} {
		list, found := s.entry(kind+"Constants", kind+"Constant", "Name", "Value")
		value := field{size: 4, offset: list.at["Value"]}
		if kind == "Long" {
			value.size = 8
		}
		ok = ok && found && s.each(list, "Name", func(at uint64, name string) {
			if constants[name] {
				t.constants[name], _ = s.r.number(at, value)
			}
		})
	}
	for name, f := range t.fields {
		if of, known := t.sizes[f.typ]; known && of.bytes <= 8 {
			f.size, f.unsigned = int(of.bytes), of.unsigned
			t.fields[name] = f
		}
	}
	return t, ok
}
