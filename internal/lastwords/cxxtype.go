package lastwords

import (
	"strings"

	"github.com/sfwalk/sfwalk/symbol"
)

// typeInfo returns the name of a C++ type by its type_info: the address of a virtual table, and of
// the mangled name.
func (f *finder) typeInfo(at uint64) (name string, ok bool) {
	mangled, ok := f.typeName(at)
	if !ok {
		return "", false
	}
	const prefix = "typeinfo name for "
	text := symbol.Demangle("_ZTS" + mangled)
	if !strings.HasPrefix(text, prefix) {
		return "", false
	}
	return text[len(prefix):], true
}

// typeName returns the mangled name of a C++ type. A star before it says that other files may have
// another type of the name.
func (f *finder) typeName(at uint64) (string, bool) {
	if at == 0 || at%uint64(f.arch.PtrSize) != 0 || f.Target.Modules().FindData(at) == nil {
		return "", false
	}
	p, ok := f.word(at + uint64(f.arch.PtrSize))
	if !ok {
		return "", false
	}
	name, ok := f.text(p)
	name = strings.TrimPrefix(name, "*")
	return name, ok && name != "" && len(name) < maxText
}

// The symbols of the virtual tables of class types' type_info, by whose address an object of
// such a type is known.
const (
	oneBase     = "_ZTVN10__cxxabiv120__si_class_type_infoE"
	severalBase = "_ZTVN10__cxxabiv121__vmi_class_type_infoE"
)

// isTable reports whether an object with a virtual table at an address has the one of a symbol: the
// address is behind two words of it.
func (f *finder) isTable(table uint64, symbol string) bool {
	m := f.Target.Modules().FindData(table)
	if m == nil {
		return false
	}
	im, bias, err := m.PeekImage()
	if err != nil {
		return false
	}
	for _, s := range im.Lookup(symbol, 2) {
		if s.Addr+bias+2*uint64(f.arch.PtrSize) == table {
			return true
		}
	}
	return false
}

// stdException is the mangled name of std::exception.
const stdException = "St9exception"

// Bounds of the bases of a class.
const (
	deepestBase = 16
	mostBases   = 64
)

// exceptionPart returns the address of the std::exception that an object of a class has as a base;
// ok is false if it has none, or if that is not known. left bounds the bases that are looked at.
func (f *finder) exceptionPart(typ, object uint64, depth int, left *int) (at uint64, ok bool) {
	name, ok := f.typeName(typ)
	if *left--; !ok || depth > deepestBase || *left < 0 {
		return 0, false
	}
	if name == stdException {
		return object, true
	}
	size := uint64(f.arch.PtrSize)
	table, ok := f.word(typ)
	if !ok {
		return 0, false
	}
	if f.isTable(table, oneBase) || name == "St13__ios_failure" { // whose type_info is of a type of its own
		base, ok := f.word(typ + 2*size)
		if !ok {
			return 0, false
		}
		return f.exceptionPart(base, object, depth+1, left)
	}
	if !f.isTable(table, severalBase) {
		return 0, false
	}
	n, ok := f.half(typ + 2*size + 4)
	if !ok || n > mostBases {
		return 0, false
	}
	for i := range uint64(n) {
		entry := typ + 2*size + 8 + i*2*size
		base, ok := f.word(entry)
		flags, also := f.word(entry + size)
		if !ok || !also {
			return 0, false
		}
		offset := int64(flags) >> 8
		if size == 4 {
			offset = int64(int32(flags)) >> 8
		}
		const virtual = 1
		if flags&virtual != 0 { // the offset is in the virtual table
			objects, ok := f.word(object)
			distance, also := f.word(objects + uint64(offset))
			if !ok || !also {
				continue
			}
			if offset = int64(distance); size == 4 {
				offset = int64(int32(distance))
			}
		}
		if at, ok := f.exceptionPart(base, f.arch.Wrap(object+uint64(offset)), depth+1, left); ok {
			return at, true
		}
	}
	return 0, false
}
