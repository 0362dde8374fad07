package fibers

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/target"
)

// Addresses of the memory that is read, which all is the library's, and offsets of objects in it.
const (
	fuzzBase    = 0x7f0000000000
	fuzzShared  = 0x40
	fuzzStealer = 0x100
	fuzzSlots   = 0x180
	fuzzSchedul = 0x200
	fuzzStack   = 0x400
	fuzzContext = 0x800 // the main fiber, the dispatcher, and fibers, of 0x100 bytes each
	fuzzSize    = 0x1000
)

// fuzzMemory is the memory of a process with four fibers, as a release of Boost has it.
func fuzzMemory(l *layout) []byte {
	b := make([]byte, fuzzSize)
	put := func(at int, n uint64) { binary.LittleEndian.PutUint64(b[at:], n) }
	addr := func(at int) uint64 { return fuzzBase + uint64(at) }
	put(fuzzSchedul, addr(0))
	put(fuzzSchedul+algorithm, addr(fuzzStealer))
	put(fuzzSchedul+mainFiber, addr(fuzzContext))
	put(fuzzSchedul+dispatcher, addr(fuzzContext+0x100))
	put(fuzzStealer, addr(8))
	put(fuzzStealer+readyQueue+8, 2)
	put(fuzzStealer+readyQueue+24, 4)
	put(fuzzStealer+readyQueue+32, addr(fuzzSlots))
	last := fuzzSchedul + workers
	for i := range 7 {
		at := fuzzContext + 0x100*i
		put(at, addr(0))
		put(at+kind, []uint64{mainContext, dispatcherContext, workerContext}[min(i, 2)])
		put(at+int(l.scheduler), addr(fuzzSchedul))
		put(at+savedAt, addr(fuzzStack+0x80*i))
		put(fuzzStack+0x80*i+0x38, addr(0x20)) // behind a call
		switch {
		case i > 4: // no scheduler has them
			put(at+int(l.scheduler), 0)
			put(fuzzSlots+8*(i-5), addr(at))
		case i > 1:
			put(last, addr(at+workerLink))
			put(at+workerLink+8, addr(last))
			last = at + workerLink
		}
		if i != 2 {
			continue
		}
		if l.hook != 0 { // it waits for the main fiber's end
			put(at+int(l.hook), addr(fuzzContext+waiters))
			put(fuzzContext+waiters, addr(at+int(l.hook)))
			continue
		}
		put(fuzzStack+0x80*i+0x48, addr(at)) // a waker, which has the fiber
		put(fuzzStack+0x80*i+0x58, addr(fuzzContext+waiters))
		put(fuzzContext+waiters, addr(fuzzStack+0x80*i+0x58))
	}
	put(last, addr(fuzzSchedul+workers))
	b[0x20-5] = 0xe8
	put(fuzzShared+16, addr(fuzzSlots))
	put(fuzzShared+24, addr(fuzzSlots))
	put(fuzzShared+32, addr(fuzzSlots+8*block))
	put(fuzzShared+48, addr(fuzzSlots+16))
	return b
}

// fuzzLibrary is a library whose threads' stacks are what the fuzzer says.
func fuzzLibrary(size int) *library {
	m := target.NewModule("libboost_fiber.so", []target.Mapping{{Lo: fuzzBase, Hi: fuzzBase + uint64(size)}}, nil)
	return &library{
		arch: amd64.Arch, module: m, modules: target.NewModules([]*target.Module{m}, nil), names: map[uint64][]name{},
		steals: fuzzBase + 8, shared: fuzzBase + fuzzShared,
		walk: func(target.Thread) ([]*frame.Frame, error) { return nil, nil },
	}
}

// fuzzThread is a thread that runs the main fiber.
func fuzzThread() *stopped {
	var regs arch.Registers
	regs.Set(amd64.RSP, fuzzBase+fuzzStack)
	regs.Set(amd64.RBX, fuzzBase+fuzzContext+0x600)
	return &stopped{id: 1, regs: regs}
}

// read reads memory as a scheduler and its fibers.
func (r *library) read(data []byte) *tasks {
	x := r.newTasks(memtest.Flat{Lo: fuzzBase, Data: data})
	defer x.Free()
	th := fuzzThread()
	for at := uint64(fuzzBase + fuzzContext); at < fuzzBase+fuzzSize; at += 0x100 {
		if s := x.schedulerOf(at); s != 0 && !x.schedulers[s] {
			x.schedulers[s] = true
			x.scheduler(s, at, 1, fuzzBase+fuzzStack)
		}
	}
	x.made([]target.Thread{th})
	return x
}

// TestSeeds: what the fuzzer begins with has all fibers, and says of what they wait for.
func TestSeeds(t *testing.T) {
	for i := range layouts {
		x := fuzzLibrary(fuzzSize).read(fuzzMemory(&layouts[i]))
		if len(x.list) != 6 || x.err != nil || x.layout != &layouts[i] || len(x.list[0].waiters) == 0 {
			t.Errorf("%d fibers, %v: %+v", len(x.list), x.err, x.list)
		}
	}
}

// FuzzFibers reads what is in memory as schedulers, their fibers and their queues.
func FuzzFibers(f *testing.F) {
	for i := range layouts {
		f.Add(fuzzMemory(&layouts[i]))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		r := fuzzLibrary(len(data))
		bounds.Hold(t, 4<<20+400*len(data), func() {
			if x := r.read(data); len(x.list) > len(data) {
				t.Errorf("%d fibers", len(x.list))
			}
		})
	})
}

// FuzzNames takes functions' names for the ones of a fiber's stack.
func FuzzNames(f *testing.F) {
	f.Add("boost::context::detail::fiber_ontop<x>(int)\nvoid boost::fibers::mutex::lock()\nlocks(int)\nboost::fibers::worker_context<int>::run_()")
	f.Add("boost::this_fiber::yield()")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		var names []name
		for function := range strings.SplitSeq(text, "\n") {
			names = append(names, name{function: function})
		}
		bounds.Hold(t, 64<<10+256*len(text), func() {
			for _, main := range []bool{false, true} {
				if s := shown(names, true, main); len(s.frames) > len(names) || len(names) > 0 && len(s.frames) == 0 {
					t.Errorf("%d frames of %d", len(s.frames), len(names))
				}
			}
		})
	})
}
