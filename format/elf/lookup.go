package elf

import (
	"debug/elf"
	"math"
	"slices"
)

// Lookup returns the symbols called name, functions and data, in the order of the symbol tables,
// without duplicates; at most max of them. name is the file's own (mangled), and not empty.
func (im *Image) Lookup(name string, max int) []Symbol {
	var found []Symbol
	im.eachCalled(name, isCodeOrData, func(s Symbol) {
		if len(found) < max && !slices.Contains(found, s) {
			found = append(found, s)
		}
	})
	return found
}

// LookupPrefix returns the symbols, functions and data, whose names begin with prefix: by name, the
// first of each name; at most max of them.
func (im *Image) LookupPrefix(prefix string, max int) map[string]Symbol {
	return withPrefix(im.tablesWithNames(), prefix, max)
}

// LookupExported is [Image.LookupPrefix] for symbols that the dynamic linker knows. It takes a
// fraction of the time, for a file exports few of its symbols. In a file without a dynamic symbol
// table, it is the same.
func (im *Image) LookupExported(prefix string, max int) map[string]Symbol {
	if found := im.symbolTables(); found.static != nil && len(found.list) > 1 {
		return withPrefix(found.list[1:], prefix, max)
	}
	return im.LookupPrefix(prefix, max)
}

// Exported returns the first function or variable called name that the dynamic linker knows.
// By the file's hash table that takes some reads, however many symbols there are.
func (im *Image) Exported(name string) (s Symbol, ok bool) {
	tables := im.tablesWithNames()
	if im.symbolTables().static != nil {
		tables = tables[1:]
	}
	for _, t := range tables {
		for _, i := range t.called(name) {
			if r, defined := t.symbol(i); defined && !r.undefined && isCodeOrData(r.symType()) {
				return t.exported(i, &r), true
			}
		}
	}
	return s, false
}

func withPrefix(tables []*symbolTable, prefix string, max int) map[string]Symbol {
	found := make(map[string]Symbol)
	eachNamed(tables, prefix, isCodeOrData, func(t *symbolTable, name uint32, s Symbol) {
		if len(found) == max {
			return
		}
		text, _ := t.strings.begin(name, math.MaxInt)
		if _, twice := found[text]; !twice {
			found[text] = s
		}
	})
	return found
}

// ThreadLocal returns the thread-local variable called name: its Addr is the distance from the
// beginning of the file's thread-local storage, of which each thread has one.
func (im *Image) ThreadLocal(name string) (s Symbol, ok bool) {
	is := func(t elf.SymType) bool { return t == elf.STT_TLS }
	im.eachCalled(name, is, func(found Symbol) {
		if !ok {
			s, ok = found, true
		}
	})
	return s, ok
}

// isCodeOrData reports whether symbols of a type have addresses.
func isCodeOrData(t elf.SymType) bool {
	return t == elf.STT_FUNC || t == elf.STT_GNU_IFUNC || t == elf.STT_OBJECT || t == elf.STT_NOTYPE
}

// eachCalled calls do with each symbol of that name, of the types that are asked for.
func (im *Image) eachCalled(name string, is func(t elf.SymType) bool, do func(s Symbol)) {
	for _, t := range im.tablesWithNames() {
		for _, i := range t.called(name) {
			if r, ok := t.symbol(i); ok && !r.undefined && is(r.symType()) {
				do(t.exported(i, &r))
			}
		}
	}
}

// called returns the ascending indexes of the symbols called name. Some of them may be undefined.
func (t *symbolTable) called(name string) (list []int) {
	if list, ok := t.hashed(name); ok {
		return list
	}
	if x := t.index(); x != nil {
		return x.called(t, name)
	}
	t.scan(t.strings.offsetsOf(name), func(i int, _ *rawSymbol) { list = append(list, i) })
	return list
}

// eachNamed calls do with each symbol of the types that are asked for, if the bytes from the start
// of its name on begin with want. do gets the offset of the name, too.
func eachNamed(tables []*symbolTable, want string, is func(t elf.SymType) bool, do func(t *symbolTable, name uint32, s Symbol)) {
	for _, t := range tables {
		t.scan(t.strings.offsets([]byte(want)), func(i int, r *rawSymbol) {
			if !r.undefined && is(r.symType()) {
				do(t, r.name, t.exported(i, r))
			}
		})
	}
}

// tablesWithNames returns the tables in which names are looked up: PT_DYNAMIC leads to one if there
// is no other.
func (im *Image) tablesWithNames() []*symbolTable {
	if list := im.symbolTables().list; len(list) > 0 {
		return list
	}
	if t := im.dynamicTable(); t != nil {
		return []*symbolTable{t}
	}
	return nil
}

// exported returns the symbol of an index.
func (t *symbolTable) exported(i int, r *rawSymbol) Symbol {
	return Symbol{Addr: r.addr, Size: min(r.size, ^uint64(0)-r.addr), Type: r.symType(), Old: t.old(i)}
}

// scan calls do with each symbol whose name is at one of the ascending offsets.
func (t *symbolTable) scan(names []uint32, do func(i int, r *rawSymbol)) {
	if len(names) == 0 {
		return // most files lack most names
	}
	t.each(func(i int, r *rawSymbol) {
		if r.name >= names[0] {
			if _, is := slices.BinarySearch(names, r.name); is {
				do(i, r)
			}
		}
	})
}
