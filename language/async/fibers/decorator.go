package fibers

import (
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/threadlocal"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator finds the schedulers of Boost.Fiber.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "boost.fiber" }

// TasksAlone implements [language.TasksAlone].
func (Decorator) TasksAlone() {}

// Symbols of the library.
var (
	activeName = elf.Seldom("_ZN5boost6fibers7context6activeEv")
	sharedName = "_ZN5boost6fibers4algo11shared_work7rqueue_E"
	stealsName = "_ZTVN5boost6fibers4algo13work_stealingE"
)

// Find implements [language.Decorator]. A program may have the library in itself, and no symbols:
// then a thread must have a scheduler.
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	im, bias, err := m.PeekImage()
	if err != nil || im == nil || !p.Arch.BoostFibers || p.Threads == nil || p.Walk == nil || threadlocal.Block(im) == nil {
		return nil, nil
	}
	r := &library{
		arch: p.Arch, module: m, modules: p.Modules, threads: p.Threads, walk: p.Walk, storage: threadlocal.New(p.Arch, p.Memory, p.Modules),
		size: min(threadlocal.Block(im).Memsz, mostStorage), names: map[uint64][]name{},
	}
	symbols := im
	if !im.MayHaveSymbol(activeName) || len(im.Lookup(activeName, 1)) == 0 {
		if !m.IsProgram() || !r.some(p.Memory) {
			return nil, nil
		}
		if debug := p.Symbols().DebugFile(m); debug != nil {
			symbols = debug
		}
	}
	if list := symbols.Lookup(sharedName, 1); len(list) == 1 {
		r.shared = list[0].Addr + bias
	}
	if list := symbols.Lookup(stealsName, 1); len(list) == 1 {
		r.steals = list[0].Addr + bias + 16
	}
	r.symbols = p.Symbols()
	return []language.Runtime{r}, nil
}

// library is a module that has Boost.Fiber in it.
type library struct {
	arch    *arch.Arch
	module  *target.Module
	modules *target.Modules
	threads func() ([]target.Thread, error)
	walk    func(target.Thread) ([]*frame.Frame, error)
	symbols *symbol.Symbolizer
	storage *threadlocal.Finder

	size   uint64 // of what a thread has of the module's storage, bytes
	shared uint64 // address of the fibers that are ready in any thread (algo::shared_work); 0 if it is not known
	steals uint64 // what the objects of algo::work_stealing begin with; 0 if it is not known

	mu    sync.Mutex // for what follows
	names map[uint64][]name
	pages pages.Spare
}

// some reports whether a thread has a scheduler.
func (r *library) some(m target.Memory) bool {
	list, err := r.threads()
	if err != nil {
		return false
	}
	t := r.newTasks(m)
	defer t.Free()
	for _, th := range list[:min(len(list), mostThreads)] {
		if t.thread(th) {
			return true
		}
	}
	return false
}

func (r *library) newTasks(m target.Memory) *tasks {
	return &tasks{
		library: r, Reader: structs.New(r.arch, m, &r.pages),
		at: map[uint64]int{}, schedulers: map[uint64]bool{}, heads: map[uint64]uint64{}, known: map[string]stack{},
	}
}

// Decorate implements [language.Runtime]: the fiber that runs is on the thread's stack.
func (r *library) Decorate(*language.Stack) (*language.Decoration, error) { return nil, nil }
