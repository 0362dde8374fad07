package record

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/jit"
)

// These bound what a recording takes, whatever the length: with the formats it is written in, 200
// MiB. What is known of threads and processes can be asked for again.
const (
	maxThreads = 1 << 15 // that are told apart
	maxNames   = 1 << 16 // of threads that run, and processes that have begun
	maxSpaces  = 1 << 10 // processes that are known at a time
	maxWalkers = 128     // of them with a walker, whose cache of rows takes a quarter of a MiB

	maxListed    = 1 << 17 // mappings that modules were made of, of all processes
	maxPathBytes = 16 << 20

	// maxOthers is [elf.Budget.Others]: processes may make files of code, and delete them, all
	// the time.
	maxOthers = 16 << 20
)

// roomForSpace forgets the processes that were not sampled for longest, where as many are known as
// there may be.
func (e *engine) roomForSpace() {
	if len(e.spaces) < maxSpaces {
		return
	}
	for _, s := range e.byTurn()[:len(e.spaces)/8+1] {
		e.forget(int32(s.pid))
	}
}

// byTurn returns the processes, those first that were not sampled for longest.
func (e *engine) byTurn() []*space {
	list := slices.Collect(maps.Values(e.spaces))
	slices.SortFunc(list, func(a, b *space) int { return cmp.Compare(a.turn, b.turn) })
	return list
}

// roomForModules drops the modules of the processes that were not sampled for longest, other than
// s, where there are too many. They are made again when they are needed.
func (e *engine) roomForModules(s *space) {
	if e.inModules <= maxListed {
		return
	}
	for _, x := range e.byTurn() {
		if x != s && e.inModules > maxListed/2 {
			x.dropModules()
		}
	}
}

func (s *space) dropModules() {
	s.engine.inModules -= s.inModules
	s.inModules, s.known, s.modules, s.walker, s.stale = 0, nil, nil, nil, true
	if i := slices.Index(s.walking, s); i >= 0 {
		s.walking = slices.Delete(s.walking, i, i+1)
	}
	clear(s.places[:])
}

// roomForMappings drops what processes of this machine have mapped, which they can be asked for
// again, where it is too much. Those go first that were not sampled for longest.
func (e *engine) roomForMappings() {
	if e.file != nil || e.mappings <= maxRecorded {
		return
	}
	e.forgetEarly()
	for _, x := range e.byTurn() {
		if e.mappings > maxRecorded/2 {
			e.release(x.mapped)
			x.mapped, x.stale, x.ask = &mapped{users: 1}, true, true
		}
	}
}

// roomForNames forgets what is known of threads by their IDs, where it is too much: the kernel may
// not have told of all ends.
func (e *engine) roomForNames() {
	if len(e.names) >= maxNames {
		clear(e.names)
	}
	if len(e.threads) >= maxNames {
		clear(e.threads)
	}
	if len(e.fresh) >= maxNames {
		clear(e.fresh)
	}
	if len(e.early) >= maxNames {
		e.forgetEarly()
	}
}

// forgetEarly forgets what processes had mapped before the first sample.
func (e *engine) forgetEarly() {
	for _, m := range e.early {
		e.release(m)
	}
	clear(e.early)
}

// canonical returns the module that stands for the modules of the same file in all processes, and
// where an address of m is in it. So a place in a library is one place, however many processes are
// sampled.
func (e *engine) canonical(m *target.Module, addr uint64, pid int) (*target.Module, uint64) {
	if m.Registered() || jit.IsDump(m.Path) { // of one process
		return m, addr
	}
	im, bias, err := m.Image()
	if err != nil {
		return e.bare(m, addr, err), addr
	}
	first := e.files[im]
	if first == nil {
		e.files[im], e.owners[m] = m, e.owner(pid)
		return m, addr
	}
	_, there, _ := first.Image()
	return first, addr - bias + there
}

// bareKey tells mappings of files apart that cannot be opened.
type bareKey struct {
	path string
	target.Mapping
}

// bare returns a module that stands for the mapping of m which has an address. m has no image, for
// err. A place keeps its module, and m may have thousands of mappings, and be made anew with each.
func (e *engine) bare(m *target.Module, addr uint64, err error) *target.Module {
	i := slices.IndexFunc(m.Mappings, func(x target.Mapping) bool { return x.Lo <= addr && addr < x.Hi })
	if i < 0 {
		return m
	}
	key := bareKey{m.Path, m.Mappings[i]}
	b := e.bares[key]
	if b == nil {
		b = target.NewModule(m.Path, []target.Mapping{m.Mappings[i]}, func() (*elf.Image, error) { return nil, err })
		if len(e.bares) < maxBounds.places {
			e.bares[key] = b
		}
	}
	return b
}

// owner is the process of a module.
type owner struct {
	pid  int
	word regular.Word // the rights with which files are opened that the process names
}

func (e *engine) owner(pid int) owner { return owner{pid, e.host.word(pid)} }

// doubt tells doubted modules apart.
type doubt struct {
	im   *elf.Image
	bias uint64
}

// doubtful returns the first module that was as m is, whose code is not known to be its file's.
// What is mapped is looked at again and again.
func (e *engine) doubtful(m *target.Module, pid int) *target.Module {
	im, bias, err := m.Image()
	if err != nil {
		return m
	}
	first := e.doubts[doubt{im, bias}]
	if first == nil {
		if e.doubts == nil {
			e.doubts = map[doubt]*target.Module{}
		}
		e.doubts[doubt{im, bias}], e.owners[m] = m, e.owner(pid)
		e.opts.Warn("%s: other memory than the file is in the place of some of its code, and is not known to be the same: the names there are guesses", m.Path)
		return m
	}
	return first
}
