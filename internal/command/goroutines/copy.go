package goroutines

import (
	"cmp"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sfwalk/sfwalk/goroutine"
	"github.com/sfwalk/sfwalk/internal/command/pace"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// Bounds of the copies of parked goroutines' stacks, bytes.
const (
	parkedCopy  = 32 << 10
	parkedSaved = 1 << 20 // of a snapshot
	parkedTotal = 96 << 20
)

// partCopied is how many stacks are copied at a time: as many as one call of the kernel takes.
const partCopied = 1024

// listing has the goroutines of one moment.
type listing struct {
	list   []goroutine.Goroutine
	now    int64                                      // the time by the clock of Go's runtime, ns; 0 if it is not known
	memory func(g *goroutine.Goroutine) target.Memory // in which to walk a parked goroutine's stack
	// running returns the memory in which to walk the stack of a goroutine that a thread runs,
	// whose memory is thread's. The thread may be on another stack, such as the runtime's own.
	running func(g *goroutine.Goroutine, thread target.Memory) target.Memory
	unkept  bool // a snapshot lacks some

	waits   [][]goroutine.Wait // by index in list
	objects []goroutine.Object
	entries map[goroutine.Wait][]*Object   // what is printed of them
	names   map[*target.Module]runtimeName // of several runtimes
}

// hold lists the goroutines of a process while all its threads are held, and copies their stacks.
// What will be there to copy was found out while the process ran: noted has what
// [goroutine.FindAll] has read. If saved is set, the target's snapshot gets all that listing them
// takes.
func hold(t Holder, rs runtimeList, noted *notedReads, saved bool) (*listing, error) {
	most := uint64(parkedCopy)
	if saved {
		most = parkedSaved
	}
	noted.Memory = t.Now() // the copies of Memory would be for stacks
	before, _ := rs.appendAll(nil, noted)
	pace.OftenIfCrowd(len(before))
	if !saved { // their structs are read while the process is held
		*noted = notedReads{Memory: noted.Memory}
	}
	rs.waits(noted, before)
	expected := usedParts(before, most, nil)
	were := make([]seat, len(before))
	for i := range before {
		were[i] = seatOf(&before[i])
	}
	list := before[:0] // the kernel has provided its memory: the process need not be held for that
	room := noted.size
	for _, part := range expected {
		room += int(part.Hi - part.Lo)
	}
	slices.SortFunc(expected, func(a, b live.Range) int { return cmp.Compare(a.Lo, b.Lo) })
	slices.SortFunc(noted.ranges, func(a, b live.Range) int { return cmp.Compare(a.Lo, b.Lo) })
	found := &listing{}
	var err error
	var runtime, stacks, more []live.Copy
	resume := pace.Never() // the process would wait for our own garbage collector
	retaken := t.RetakeWith(room+room/8, func(held *live.Held) {
		// Most goroutines have stayed where they were: their stacks are copied while the list is
		// read. Another processor begins with them, and this one joins it.
		parts := slices.Collect(slices.Chunk(expected, partCopied))
		copied := make([][]live.Copy, len(parts))
		var next atomic.Int64
		take := func() {
			for i := int(next.Add(1)) - 1; i < len(parts); i = int(next.Add(1)) - 1 {
				copied[i] = held.Copy(parts[i])
			}
		}
		var other sync.WaitGroup
		other.Go(take)
		runtime = held.Copy(noted.ranges)
		rest := &notedReads{Memory: held}
		held.AwaitThreads()
		found.list, err = rs.appendAll(list[:0], newCopied(rest, runtime))
		found.now = monotonic()
		if saved {
			more = held.Copy(rest.ranges)
			found.unkept = rest.full || noted.full
		}
		take()
		other.Wait()
		stacks = slices.Concat(copied...)
		more = append(more, held.Copy(usedParts(found.list, most, were))...)
	}, func() {})
	resume()
	if retaken != nil {
		return found, retaken
	}
	// What has come about since before is not known: it would be of another moment.
	found.waits, found.objects = rs.waits(newCopied(target.NoMemory, runtime), found.list)
	stacks = append(stacks, more...)
	slices.SortFunc(stacks, func(a, b live.Copy) int { return cmp.Compare(a.Lo, b.Lo) })
	found.memory = func(g *goroutine.Goroutine) target.Memory {
		m := &parkedMemory{copied: copied{Memory: t.Memory()}, lo: g.Lo, hi: g.Hi}
		if i := sort.Search(len(stacks), func(i int) bool { return stacks[i].Lo > g.SP }); i > 0 {
			m.list = stacks[i-1 : i]
		}
		return m
	}
	found.running = func(g *goroutine.Goroutine, thread target.Memory) target.Memory {
		m := &runningMemory{copied{Memory: thread}}
		for _, part := range usedParts([]goroutine.Goroutine{*g}, most, nil) {
			if i := sort.Search(len(stacks), func(i int) bool { return stacks[i].Lo > part.Lo }); i > 0 {
				m.list = append(m.list, stacks[i-1])
			}
		}
		slices.SortFunc(m.list, func(a, b live.Copy) int { return cmp.Compare(a.Lo, b.Lo) })
		return m
	}
	if saved {
		kept := live.Kept{Copies: append(runtime, stacks...), Clock: time.Duration(found.now)}
		for i := range found.list {
			if g := &found.list[i]; g.Parked() && g.Hi-g.SP > most {
				kept.Later = append(kept.Later, live.Range{Lo: g.SP + most, Hi: g.Hi})
			}
		}
		t.Keep(kept)
	}
	return found, err
}

// structCopied is how much of the runtime's structs is copied, bytes: they say which goroutine a
// thread runs, and where its stack is.
const structCopied = 512

// usedParts returns what walks of goroutines' stacks read: the inner parts of the stacks of parked
// ones, of at most most bytes each. Of a goroutine that a thread runs it is the outer part, for
// where that ends only the thread knows, and if that is on the runtime's own stack, only frames
// there; and the structs that lead from one stack to the other. It leaves out parked goroutines
// that were there before. Of each runtime, both lists ascend by number.
func usedParts(list []goroutine.Goroutine, most uint64, before []seat) []live.Range {
	var parts []live.Range
	if before == nil {
		parts = make([]live.Range, 0, len(list))
	}
	left := uint64(parkedTotal)
	same := false
	all, of := before, (*target.Module)(nil)
	add := func(lo, hi uint64) {
		if hi-lo > left {
			left = 0
			return
		}
		left -= hi - lo
		if !same {
			parts = append(parts, live.Range{Lo: lo, Hi: hi})
		}
	}
	for i := range list {
		if i == 0 || list[i].Module != of {
			before, of = earlier(all, &list[i]), list[i].Module
		}
		for len(before) > 0 && before[0].number < list[i].Number {
			before = before[1:]
		}
		same = len(before) > 0 && list[i].Parked() && before[0] == seatOf(&list[i])
		switch g := &list[i]; {
		case left == 0:
			return parts
		case g.Parked() && g.SP < g.Hi:
			add(g.SP, g.SP+min(g.Hi-g.SP, most))
		case !g.Parked() && g.Lo < g.Hi:
			structs := g.Structs()
			if len(structs) > 0 {
				add(g.Hi-min(g.Hi-g.Lo, most), g.Hi)
			}
			for _, at := range structs {
				add(at, at+structCopied)
			}
		}
	}
	return parts
}

// seat is where a goroutine's stack is.
type seat struct {
	of            *target.Module
	number, g     uint64
	lo, hi, inner uint64 // inner is its SP; 0 if it is not parked
}

func seatOf(g *goroutine.Goroutine) seat {
	return seat{of: g.Module, number: g.Number, g: g.G, lo: g.Lo, hi: g.Hi, inner: g.SP}
}

// parkedMemory is the memory in which a parked goroutine's stack is walked: the part of the stack
// that was copied, and else the target's.
type parkedMemory struct {
	copied
	lo, hi uint64 // of the stack
}

// MovedOn implements [target.RunningMemory].
func (m *parkedMemory) MovedOn(addr uint64, n int) bool {
	if addr < m.lo || addr >= m.hi {
		return false // the program's own variables and code
	}
	return !m.has(addr, n)
}

// runningMemory is the memory in which a running goroutine's stack is walked: what was copied, and
// else the thread's.
type runningMemory struct{ copied }

// MovedOn implements [target.RunningMemory].
func (m *runningMemory) MovedOn(addr uint64, n int) bool {
	r, ok := m.Memory.(target.RunningMemory)
	return ok && !m.has(addr, n) && r.MovedOn(addr, n)
}

// notedReads is a memory that notes what is read of it.
type notedReads struct {
	target.Memory
	ranges []live.Range
	size   int  // bytes, of all ranges
	full   bool // some reads were not noted
}

// ReadMemory implements [target.Memory].
func (m *notedReads) ReadMemory(addr uint64, p []byte) (int, error) {
	if m.size+len(p) <= parkedTotal {
		m.size += len(p)
		m.ranges = append(m.ranges, live.Range{Lo: addr, Hi: addr + uint64(len(p))})
	} else {
		m.full = true
	}
	return m.Memory.ReadMemory(addr, p)
}

// noting is a target whose memory notes what is read.
type noting struct {
	target.Target
	memory *notedReads
}

// Memory returns the memory that notes.
func (t noting) Memory() target.Memory { return t.memory }

// copied is a memory of which a part was copied.
type copied struct {
	target.Memory
	list []live.Copy // ascending
	last int         // where the last read was
}

func newCopied(m target.Memory, list []live.Copy) *copied { return &copied{Memory: m, list: list} }

// ReadMemory implements [target.Memory].
func (m *copied) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for n < len(p) {
		at := addr + uint64(n)
		i := m.last
		for k := 0; ; k++ { // mostly the next one
			if i < len(m.list) && at-m.list[i].Lo < uint64(len(m.list[i].Data)) {
				break
			}
			if i++; k == 2 || i >= len(m.list) {
				i = sort.Search(len(m.list), func(i int) bool { return m.list[i].Lo > at }) - 1
				break
			}
		}
		if i < 0 || at-m.list[i].Lo >= uint64(len(m.list[i].Data)) {
			more, err := m.Memory.ReadMemory(at, p[n:])
			return n + more, err
		}
		m.last = i
		n += copy(p[n:], m.list[i].Data[at-m.list[i].Lo:])
	}
	return n, nil
}

// Window implements [target.CopiedMemory].
func (m *copied) Window(addr uint64) (lo uint64, data []byte) {
	if c := m.at(addr); c != nil {
		return c.Lo, c.Data
	}
	if c, ok := m.Memory.(target.CopiedMemory); ok {
		return c.Window(addr)
	}
	return 0, nil
}

// at returns the copy that holds addr; nil if none does.
func (m *copied) at(addr uint64) *live.Copy {
	i := sort.Search(len(m.list), func(i int) bool { return m.list[i].Lo > addr }) - 1
	if i < 0 || addr-m.list[i].Lo >= uint64(len(m.list[i].Data)) {
		return nil
	}
	return &m.list[i]
}

// has reports whether n bytes at addr are in one copy.
func (m *copied) has(addr uint64, n int) bool {
	c := m.at(addr)
	return c != nil && addr-c.Lo+uint64(n) <= uint64(len(c.Data))
}
