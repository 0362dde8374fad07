package mono

import (
	"errors"
	"sync"

	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator is Mono's.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "mono" }

var errProcessor = errors.New("its code is not known on this processor")

// Find returns the run time that a module is.
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	im, _, err := m.PeekImage()
	if err != nil {
		return nil, nil
	}
	if _, ok := im.Exported("mono_jit_info_get_code_start"); !ok {
		return nil, nil
	}
	if !p.Arch.Mono {
		return nil, errProcessor
	}
	r := &runtime{module: m, modules: p.Modules, memory: p.Memory, assemblies: map[build]lines{}, compiled: map[*target.Module]*compiled{}}
	mem := p.Modules.MemoryOr(p.Memory) // core files may lack the code
	if r.layout, err = readLayout(mem, m); err != nil {
		return nil, err
	}
	if r.root, err = rootDomain(mem, m); err != nil {
		return nil, err
	}
	return []language.Runtime{r}, nil
}

// runtime is the run time of a process.
type runtime struct {
	layout
	module  *target.Module
	modules *target.Modules
	memory  target.Memory
	root    uint64 // the address of the variable that leads to the first domain
	pages   pages.Spare

	mu         sync.Mutex
	assemblies map[build]lines // nil for what has none
	compiled   map[*target.Module]*compiled
}
