package symbol

import (
	"sync"

	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/target"
)

// namedSymbols holds the link-time addresses of a file's symbols by those names that somebody has asked for. All modules of the file
// share it.
type namedSymbols struct {
	mu    sync.Mutex
	found map[namedKey][]uint64
}

type namedKey struct {
	name string
	own  bool
}

type namedSymbolsKey struct{ s *Symbolizer }

// Bounds for one file: how many names are looked up, how many symbols of one name. Each look-up reads the
// symbol tables.
const maxSought, maxNamesakes = 256, 16

// symbolsNamed returns the run-time addresses of a module's symbols of a name, which is mangled. own
// says that symbols that other modules do not see count as well. ok is false if too many names were
// looked up.
func (s *Symbolizer) symbolsNamed(m *target.Module, name string, own bool) (list []uint64, ok bool) {
	mod := s.tables(m).elf
	if mod.image == nil {
		return nil, true
	}
	known := mod.image.Memo(namedSymbolsKey{s}, func() any { return &namedSymbols{found: make(map[namedKey][]uint64)} }).(*namedSymbols)
	known.mu.Lock()
	defer known.mu.Unlock()
	key := namedKey{name, own}
	found, ok := known.found[key]
	if !ok {
		if len(known.found) == maxSought {
			return nil, false
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
	if key.own || mod.image.MayHaveSymbol(key.name) {
		add(mod.image)
	}
	if key.own && mod.debug != nil {
		add(mod.debug)
	}
	return list
}
