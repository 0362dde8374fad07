package symbol

import (
	"strings"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// Symbol returns the name of the function or variable that a symbol table has at an address, as GDB
// shows it behind a pointer, and how many bytes behind its beginning the address is. Its name is
// demangled.
func (s *Symbolizer) Symbol(modules *target.Modules, addr uint64) (name string, offset uint64, ok bool) {
	m := modules.FindData(addr)
	if m == nil {
		return "", 0, false
	}
	mod := s.tables(m).elf
	if mod.image == nil {
		return "", 0, false
	}
	at := addr - mod.bias
	if modules.IsCode(addr) {
		if name, start, _, ok := mod.symbol(at); ok {
			return withoutPart(name), at - start, true
		}
	}
	for _, im := range []*elfimage.Image{mod.debug, mod.image} {
		if im == nil {
			continue
		}
		objects := im.Objects()
		if x, ok := objects.Find(at); ok {
			name, length := objects.Begin(x, maxName)
			if name = truncate(name, length); length <= maxName {
				name = demangleSymbol(name)
			}
			return withoutNumber(name), at - x.Addr, true
		}
	}
	if name, start, ok := mod.linkSlot(at); ok {
		return name, at - start, true
	}
	return "", 0, false
}

// withoutNumber returns the name of a variable that is local to a function without the number by
// which compilers tell it from others: "count" for "count.4". GDB does so if the name could be
// Ada's.
func withoutNumber(name string) string {
	i := strings.LastIndexByte(name, '.')
	if i <= 0 || i == len(name)-1 || name[0] == '_' || strings.ToLower(name) != name {
		return name
	}
	for _, c := range name[i+1:] {
		if c < '0' || c > '9' {
			return name
		}
	}
	return name[:i]
}

// withoutPart returns the name of a function without what gcc adds to the symbol of a changed copy:
// "scan" for "scan.constprop.0". Debug information has the function's own name.
func withoutPart(name string) string {
	for _, mark := range [...]string{".lto_priv.", ".constprop.", ".isra.", ".part."} {
		if i := strings.Index(name, mark); i > 0 && !strings.HasSuffix(name, ".cold") {
			name = name[:i]
		}
	}
	return name
}

// Named returns the run-time addresses of the symbols of a name, which is mangled: the module m's,
// if it is not nil, before symbols that other modules export.
func (s *Symbolizer) Named(modules *target.Modules, m *target.Module, name string) (list []uint64) {
	if m != nil {
		list, _ = s.symbolsNamed(m, name, true)
	}
	for _, other := range modules.All() {
		if other != m && len(list) == 0 {
			list, _ = s.symbolsNamed(other, name, false)
		}
	}
	return list
}
