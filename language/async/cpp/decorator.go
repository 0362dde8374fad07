package cpp

import (
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// Decorator finds the coroutines of C++20.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "c++" }

// TasksAlone implements [language.TasksAlone].
func (Decorator) TasksAlone() {}

// Find implements [language.Decorator]. Coroutines of one module wait for another one's, so the
// first module that is asked about stands for all.
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	all := p.Modules.All()
	if m != all[0] || p.Arch.PtrSize != 8 || p.Arch.Stores == nil || p.Writable == nil || p.Threads == nil {
		return nil, nil
	}
	r := &program{
		arch: p.Arch, modules: p.Modules, code: p.Memory, threads: p.Threads, walk: p.Walk,
		writable: p.Writable, coroutines: map[uint64]*coroutine{}, destroys: map[uint64][]*coroutine{},
	}
	for _, m := range all {
		r.findIn(p, m)
	}
	if len(r.coroutines) == 0 {
		return nil, nil
	}
	r.symbols = p.Symbols()
	r.types = value.NewTypes(p.Arch, p.Modules, p.Memory, r.symbols)
	return []language.Runtime{r}, nil
}

// program is a process that has coroutines.
type program struct {
	arch     *arch.Arch
	modules  *target.Modules
	code     target.Memory
	threads  func() ([]target.Thread, error)
	walk     func(target.Thread) ([]*frame.Frame, error) // nil if nobody walks
	writable func() []target.Mapping
	symbols  *symbol.Symbolizer

	coroutines map[uint64]*coroutine   // by the entry of the function that resumes
	destroys   map[uint64][]*coroutine // by the entries of the functions that destroy

	mu    sync.Mutex // for what follows
	types *value.Reader
	pages pages.Spare
}

// Decorate implements [language.Runtime]: a coroutine that runs is a physical frame.
func (r *program) Decorate(*language.Stack) (*language.Decoration, error) { return nil, nil }
