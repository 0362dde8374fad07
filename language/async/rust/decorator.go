package rust

import (
	"errors"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/threadlocal"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// Decorator finds programs of Rust that have a run time for async functions.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "rust" }

// TasksAlone implements [language.TasksAlone].
func (Decorator) TasksAlone() {}

// Find implements [language.Decorator].
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	im, _, err := m.PeekImage()
	if err != nil || im == nil || p.Arch.PtrSize != 8 || p.Threads == nil {
		return nil, nil
	}
	if !mayBeRust(m, im) {
		return nil, nil
	}
	symbols := p.Symbols()
	r := &program{
		arch: p.Arch, module: m, threads: p.Threads, walk: p.Walk, symbols: symbols, modules: p.Modules,
		shapes: map[*value.Type]*shape{}, codes: map[uint64]code{}, tables: map[uint64]*value.Type{},
		layouts: map[*value.Type]*layout{}, owners: map[*value.Type]*owned{}, cells: map[uint64]*cell{}, places: map[uint64][]called{}, asyncCells: map[uint64]*asyncCell{},
	}
	r.types = value.NewTypes(p.Arch, p.Modules, p.Memory, symbols)
	r.storage = threadlocal.New(p.Arch, p.Memory, p.Modules)
	work := mostEntries
	if r.tokio, err = r.findContext(&work); err != nil {
		return nil, err
	}
	r.async = r.findExecutors(&work)
	if !r.tokio && r.async == nil && !r.waits(&work) {
		if r.has("run<", "async_task::raw::", &work) || r.has("drop_in_place<async_task::", "", &work) {
			return nil, errNoAsyncTypes
		}
		return nil, nil
	}
	return []language.Runtime{r}, nil
}

// program is a module that has tasks, or waits for futures.
type program struct {
	arch    *arch.Arch
	module  *target.Module
	modules *target.Modules
	threads func() ([]target.Thread, error)
	walk    func(target.Thread) ([]*frame.Frame, error) // nil if nobody walks
	symbols *symbol.Symbolizer

	tokio   bool // it has tokio, and context
	context context
	async   *executors // nil if it has nothing of async-task
	storage *threadlocal.Finder

	mu     sync.Mutex // for what follows
	types  *value.Reader
	shapes map[*value.Type]*shape
	codes  map[uint64]code        // by entry
	tables map[uint64]*value.Type // the types of futures by their tables of methods; nil for unknown ones
	pages  pages.Spare

	described map[uint64]symbol.Ref // what describedTables has returned; nil if it was not asked yet

	numbered   uint32                // shapes that have a number
	bodies     map[string]symbol.Ref // of async functions, by their names; nil if they are not known yet
	layouts    map[*value.Type]*layout
	owners     map[*value.Type]*owned // nil for types without a list of tasks
	places     map[uint64][]called    // by addresses of code
	asyncCells map[uint64]*asyncCell  // by the function that runs; nil for functions that are not async-task's
	cells      map[uint64]*cell       // by the function that polls; nil for functions that are not tokio's
}

// Decorate implements [language.Runtime]: the frames of Rust are the physical ones.
func (r *program) Decorate(*language.Stack) (*language.Decoration, error) { return nil, nil }

// Programs whose debug information has functions alone.
var (
	errNoTypes      = errors.New("its debug information has tokio, but no types: build with debug = 2 (or \"full\") in Cargo's profile")
	errNoAsyncTypes = errors.New("its debug information has async-task, but no types: build with debug = 2 (or \"full\") in Cargo's profile")
)
