package goroutine

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// machine is what is kept of a struct m: a thread as the runtime has it.
type machine struct {
	curg  uint64   // the struct g that it runs
	words []uint64 // its first words, procid among them
}

// running is a goroutine, as an index, that a struct m runs.
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

// procidRange is how many bytes from the beginning of a struct m its procid is in.
const procidRange = 256

// runs reports whether the struct m at an address runs the goroutine of a struct g. It does so
// also where the goroutine does not run code of its own, but the runtime for it.
func (ms *machines) runs(addr, g uint64) bool {
	m, ok := ms.known[addr]
	if !ok {
		r := ms.r
		mem := r.t.Memory()
		var data [procidRange]byte
		if n, _ := mem.ReadMemory(addr+uint64(r.layout.Curg), data[:8]); n >= 8 {
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

// setThreads says which threads run goroutines. A struct m has the operating system's
// number of its thread: at the offset at which most of them name threads of the target, each
// another. Where the target knows its threads by other numbers than the process itself, in a
// PID namespace of its own, it is the thread whose SP is on a stack of the struct m.
func (ms *machines) setThreads(gs []Goroutine) {
	if len(ms.running) == 0 {
		return
	}
	threads, err := ms.r.t.Threads()
	if err != nil {
		return
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
		return
	}
	for _, x := range ms.running {
		if w := ms.known[x.m].words; procid < len(w) && ids[w[procid]] {
			gs[x.i].Thread = int(w[procid])
		}
	}
}

// setThreadsByStack says so of threads that are on the stack of the goroutine, or on that of
// g0, which the first word of a struct m points to.
func (ms *machines) setThreadsByStack(gs []Goroutine, threads []target.Thread) {
	r := ms.r
	type stack struct{ lo, hi uint64 }
	var own []stack
	for _, x := range ms.running {
		var s stack
		var data [16]byte
		if w := ms.known[x.m].words; len(w) > 0 {
			if n, _ := r.t.Memory().ReadMemory(w[0], data[:]); n == len(data) {
				s = stack{r.arch.Order.Uint64(data[:]), r.arch.Order.Uint64(data[8:])}
			}
		}
		own = append(own, s)
	}
	for _, t := range threads {
		var regs arch.Registers
		if t.Registers(&regs) != nil {
			continue
		}
		sp, ok := regs.Get(r.arch.SP)
		for k, x := range ms.running {
			g := &gs[x.i]
			if ok && g.Thread == 0 && (sp > g.Lo && sp <= g.Hi || sp > own[k].lo && sp <= own[k].hi) {
				g.Thread = t.ID()
				break
			}
		}
	}
}
