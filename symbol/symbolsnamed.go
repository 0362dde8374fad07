package symbol

import (
	"sync"

	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/target"
)

// namedSymbols holds the symbols of a module by those names that somebody has asked for.
type namedSymbols struct {
	mu    sync.Mutex
	found map[namedKey][]uint64
}

type namedKey struct {
	name string
	own  bool
}

type namedSymbolsKey struct{ s *Symbolizer }

// Bounds for one module: how many names are looked up, how many symbols of one name. Each look-up reads the
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
	known := m.Memo(namedSymbolsKey{s}, func() any { return &namedSymbols{found: make(map[namedKey][]uint64)} }).(*namedSymbols)
	known.mu.Lock()
	defer known.mu.Unlock()
	key := namedKey{name, own}
	if list, ok = known.found[key]; ok {
		return list, true
	}
	if len(known.found) == maxSought {
		return nil, false
	}
	add := func(im *elfimage.Image) {
		for _, x := range im.Lookup(name, maxNamesakes) {
			list = append(list, x.Addr+mod.bias)
		}
	}
	if own || mod.image.MayHaveSymbol(name) {
		add(mod.image)
	}
	if own && mod.debug != nil {
		add(mod.debug)
	}
	known.found[key] = list
	return list, true
}
