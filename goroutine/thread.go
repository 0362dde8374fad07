package goroutine

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// machine is the part of a struct m, the runtime's description of a thread, that matters here.
type machine struct {
	curg  uint64   // the struct g that it runs
	words []uint64 // its first words, procid among them
}

// running is a goroutine, by its index i, and the address m of the struct m that runs it.
type running struct {
	i int
	m uint64
}

// machines are the structs m that goroutines name.
type machines struct {
	r       *Runtime
	known   map[uint64]machine
	running []running
}

// maxRunning bounds the goroutines for which a thread is looked for, and the structs m that are
// read.
const maxRunning = 1 << 16

// procidRange is the number of bytes at the beginning of a struct m that procid is among.
const procidRange = 256

// runs reports whether the struct m at addr runs the goroutine whose struct g is at g. It may run
// the goroutine's code, or the runtime's for the goroutine.
func (ms *machines) runs(addr, g uint64) bool {
	m, ok := ms.known[addr]
	if !ok {
		if len(ms.known) == maxRunning {
			return false
		}
		r := ms.r
		mem := r.t.Memory()
		var data [procidRange]byte
		if n, _ := mem.ReadMemory(addr+uint64(r.fields.Curg), data[:8]); n >= 8 {
			m.curg = r.arch.Order.Uint64(data[:])
		}
		if m.curg != 0 {
			n, _ := mem.ReadMemory(addr, data[:])
			for i := 0; i+8 <= min(n, len(data)); i += 8 {
				m.words = append(m.words, r.arch.Order.Uint64(data[i:]))
			}
		}
		ms.known[addr] = m
	}
	return m.curg == g
}

// setThreads sets Goroutine.Thread. procid of a struct m is the operating system's number of its
// thread. Its offset is the one at which structs m name the most different threads of the target.
// If the process is in a PID namespace, the target may know its threads by other numbers, so that
// no offset fits. The thread is then the one whose SP is on a stack of the struct m.
func (ms *machines) setThreads(gs []Goroutine) error {
	if len(ms.running) == 0 {
		return nil
	}
	threads, err := ms.r.t.Threads()
	if err != nil {
		return fmt.Errorf("threads of %d goroutines: %w", len(ms.running), err)
	}
	ids := make(map[uint64]bool, len(threads))
	for _, t := range threads {
		ids[uint64(t.ID())] = true
	}
	procid, most := 0, 0
	for at := 1; at < procidRange/8; at++ {
		named := map[uint64]bool{}
		for _, x := range ms.running {
			if w := ms.known[x.m].words; at < len(w) && ids[w[at]] {
				named[w[at]] = true
			}
		}
		if len(named) > most {
			procid, most = at, len(named)
		}
	}
	if most == 0 {
		ms.setThreadsByStack(gs, threads)
		return nil
	}
	for _, x := range ms.running {
		if w := ms.known[x.m].words; procid < len(w) && ids[w[procid]] {
			gs[x.i].Thread = int(w[procid])
		}
	}
	return nil
}

// setThreadsByStack sets Goroutine.Thread to the thread whose SP is on the goroutine's stack, or on
// the stack of g0, to which the first word of a struct m points.
func (ms *machines) setThreadsByStack(gs []Goroutine, threads []target.Thread) {
	r := ms.r
	type stackPointer struct {
		sp uint64
		id int
	}
	var sps []stackPointer
	for _, t := range threads {
		var regs arch.Registers
		if t.Registers(&regs) != nil {
			continue
		}
		if sp, ok := regs.Get(r.arch.SP); ok {
			sps = append(sps, stackPointer{sp, t.ID()})
		}
	}
	slices.SortFunc(sps, func(a, b stackPointer) int { return cmp.Compare(a.sp, b.sp) })
	on := func(lo, hi uint64) int {
		i := sort.Search(len(sps), func(i int) bool { return sps[i].sp > lo })
		if i < len(sps) && sps[i].sp <= hi {
			return sps[i].id
		}
		return 0
	}
	for _, x := range ms.running {
		g := &gs[x.i]
		if g.Thread = on(g.Lo, g.Hi); g.Thread != 0 {
			continue
		}
		var stack [16]byte
		if m := ms.known[x.m].words; len(m) > 0 {
			if n, _ := r.t.Memory().ReadMemory(m[0], stack[:]); n == len(stack) {
				g.Thread = on(r.arch.Order.Uint64(stack[:]), r.arch.Order.Uint64(stack[8:]))
			}
		}
	}
}
