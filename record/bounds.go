package record

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/jit"
)

// These bound what a recording takes, whatever the length: with the formats it is written in, 200 MiB. What is known of threads and
// processes can be asked for again.
const (
	maxThreads = 1 << 15 // that are told apart
	maxNames   = 1 << 16 // of threads that run, and processes that have begun
	maxSpaces  = 1 << 10 // processes that are known at a time
	maxWalkers = 128     // of them with a walker, whose cache of rows takes a quarter of a MiB
)

// roomForSpace forgets the processes that were not sampled for longest, where as many are known as there may be.
func (e *engine) roomForSpace() {
	if len(e.spaces) < maxSpaces {
		return
	}
	var list []*space
	for _, s := range e.spaces {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *space) int { return cmp.Compare(a.turn, b.turn) })
	for _, s := range list[:len(list)/8+1] {
		e.forget(int32(s.pid))
	}
}

// roomForNames forgets what is known of threads by their IDs, where it is too much: the kernel may not have told of all ends.
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
		clear(e.early)
	}
}

// canonical returns the module that stands for those of the same file in all processes, and where an address of m is in it. So a place in a library
// is one place, however many processes are sampled.
func (e *engine) canonical(m *target.Module, addr uint64, pid int) (*target.Module, uint64) {
	if m.Registered() || jit.IsDump(m.Path) { // of one process
		return m, addr
	}
	im, bias, err := m.Image()
	if err != nil {
		return m, addr
	}
	first := e.files[im]
	if first == nil {
		e.files[im], e.owners[m] = m, pid
		return m, addr
	}
	_, there, _ := first.Image()
	return first, addr - bias + there
}

// doubt tells doubted modules apart.
type doubt struct {
	im   *elfimage.Image
	bias uint64
}

// doubtful returns the first module that was as m is, whose code is not known to be its file's. What is mapped is
// looked at again and again.
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
		e.doubts[doubt{im, bias}], e.owners[m] = m, pid
		e.opts.Warn("%s: other memory than the file is in the place of some of its code, and is not known to be the same: the names there are guesses", m.Path)
		return m
	}
	return first
}
