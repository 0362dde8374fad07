package symbol

import (
	"sync"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// namedSymbols holds the link-time addresses of a file's symbols by those names that somebody has
// asked for. All modules of the file share it.
type namedSymbols struct {
	mu    sync.Mutex
	found map[namedKey][]uint64
}

type namedKey struct {
	name string
	own  bool
}

type namedSymbolsKey struct{ s *Symbolizer }

// Bounds for one module: how many names are looked up, how many symbols of one name. A look-up may
// read the names of all symbols. Of a file, the symbols of as many names are kept.
const maxSought, maxNamesakes = 256, 16

// symbolsNamed returns the run-time addresses of a module's symbols of a name, which is mangled.
// own says that symbols that other modules do not see count as well. ok is false if too many names
// were looked up.
func (s *Symbolizer) symbolsNamed(m *target.Module, name string, own bool) (list []uint64, ok bool) {
	mod := s.tables(m).elf
	if mod.image == nil {
		return nil, true
	}
	known := mod.image.Memo(namedSymbolsKey{s}, func() any { return &namedSymbols{found: make(map[namedKey][]uint64)} }).(*namedSymbols)
	known.mu.Lock()
	defer known.mu.Unlock()
	key := namedKey{name, own && mod.debug != nil}
	asked := m.Memo(namedSymbolsKey{s}, func() any { return map[namedKey]bool{} }).(map[namedKey]bool) // under known.mu
	if !asked[key] {
		if len(asked) == maxSought { // whatever other modules of the file have asked for
			return nil, false
		}
		asked[key] = true
	}
	found, kept := known.found[key]
	if !kept {
		if len(known.found) == maxSought {
			clear(known.found)
		}
		found = mod.addressesOf(key)
		known.found[key] = found
	}
	for _, addr := range found {
		list = append(list, addr+mod.bias)
	}
	return list, true
}

// addressesOf looks a name up in the symbol tables.
func (mod *elfModule) addressesOf(key namedKey) (list []uint64) {
	add := func(im *elfimage.Image) {
		for _, x := range im.Lookup(key.name, maxNamesakes) {
			list = append(list, x.Addr)
		}
	}
	add(mod.image)
	if key.own && mod.debug != nil {
		add(mod.debug)
	}
	return list
}

// functionBegins reports whether a function called name, which is mangled, begins at the run-time
// address addr of a module. own says that symbols that other modules do not see count as well.
func (s *Symbolizer) functionBegins(m *target.Module, addr uint64, name string, own bool) bool {
	mod := s.tables(m).elf
	if mod.image == nil {
		return false
	}
	at := addr - mod.bias
	return mod.image.Symbols().Begins(at, name) || own && mod.debug != nil && mod.debug.Symbols().Begins(at, name)
}
