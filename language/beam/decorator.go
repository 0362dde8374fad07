package beam

import (
	"sync"

	"github.com/sfwalk/sfwalk/internal/erts"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator is Erlang's.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "erlang" }

// FramesOnStack implements [language.OnStack].
func (Decorator) FramesOnStack() {}

// Find returns the run time system that a module is.
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	if !erts.In(m) {
		return nil, nil
	}
	var spare pages.Spare
	r := structs.New(p.Arch, p.Modules.MemoryOr(p.Memory), &spare)
	defer r.Free()
	found, err := erts.Of(p.Modules, p.Arch, r)
	if err != nil || found.Module != m {
		return nil, err
	}
	return []language.Runtime{newRuntime(found)}, nil
}

// runtime is a run time system.
type runtime struct {
	*erts.Machine
	names names
	pages pages.Spare
	once  pages.Spare // for what is read once: all processes

	dirtyLo, dirtyHi       uint64 // the code of the loop of dirty schedulers
	scheduleLo, scheduleHi uint64 // the code that chooses the next process

	mu      sync.Mutex
	threads map[uint64]uint64 // the schedulers by their threads' storage
}

func newRuntime(m *erts.Machine) *runtime {
	x := &runtime{Machine: m, once: pages.Spare{Most: 4 << 20}}
	x.dirtyLo, x.dirtyHi = m.Bounds("erts_dirty_process_main")
	x.scheduleLo, x.scheduleHi = m.Bounds("erts_schedule")
	return x
}

// reader reads the run time system's memory at one moment.
type reader struct {
	*runtime
	*structs.Reader
	code             *erts.Code
	processes, ports erts.Numbers
	left             int // how much more may be read that a broken process may have without end
	files            map[uint64]string
	piece            [512]byte // of a stack
}

// mostWork bounds it: words of stacks, frames and characters of files' names.
const mostWork = 1 << 24

// spend takes note of n words. It reports whether they may be read.
func (r *reader) spend(n int) bool {
	r.left -= n
	return r.left >= 0
}

func (x *runtime) reader(s *structs.Reader) *reader {
	return &reader{runtime: x, Reader: s, code: x.Code(s), processes: x.Numbers(s, "erts_proc"), ports: x.Numbers(s, "erts_port"), left: mostWork, files: map[uint64]string{}}
}
