package report

import (
	"fmt"

	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/waitfor"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// waitEntry is what a thread waits for.
type waitEntry struct {
	Kind      string      `json:"kind"`
	Address   address.Hex `json:"address"`
	Name      string      `json:"name,omitempty"` // the variable's
	Offset    uint64      `json:"offset,omitempty"`
	Member    string      `json:"member,omitempty"` // of the variable, at the offset
	Owner     int         `json:"owner,omitempty"`
	Gone      int         `json:"gone,omitempty"` // an owner that is no thread of the process
	Readers   int         `json:"readers,omitempty"`
	Reads     bool        `json:"reads,omitempty"`
	Ownerless bool        `json:"ownerless,omitempty"`
	Refused   bool        `json:"refused,omitempty"`
	Timed     bool        `json:"timed,omitempty"`

	kind   waitfor.Kind
	shared bool
	owner  string // the owner's name
}

// deadlock is a cycle of threads that wait for each other.
type deadlock struct {
	Threads []int `json:"threads"`
	Timed   bool  `json:"timed,omitempty"`
}

// waits is who waits for whom, by thread ID.
type waits struct {
	entries   map[int]*waitEntry
	deadlocks []deadlock
}

// waitNames is how many physical frames of a thread are looked at for what it waits for.
const waitNames = 12

// waits finds out which thread waits for which. It is empty if the threads are not of one
// moment, or if threads of other moments, or processes, are added.
func (s *walk) waits() *waits {
	w, out := s.walkers, &waits{}
	if !OneMoment(s.Source) || len(w) == 0 || s.flags.Many.IsLater() {
		return out
	}
	opts := waitfor.Options{Functions: w[0].functions}
	if inside, ok := s.Source.(Container); ok {
		var of map[int]int
		opts.Thread = func(own int) int {
			if of == nil {
				of = inside.OwnThreads()
			}
			if id, ok := of[own]; ok {
				return id
			}
			return own
		}
	}
	list, err := waitfor.Find(s.Source, opts)
	if err != nil || len(list) == 0 {
		return out
	}
	threads, err := s.Threads()
	if err != nil {
		return out
	}
	names, byID := map[int]string{}, map[int]target.Thread{}
	for _, th := range threads {
		names[th.ID()], byID[th.ID()] = th.Name(), th
	}
	var members memberNames
	defer members.close()
	out.entries = make(map[int]*waitEntry, len(list))
	for i := range list {
		x := &list[i]
		e := &waitEntry{
			Kind: x.Kind.String(), Address: address.If(x.Object, x.Object != 0), Owner: x.Owner, Gone: x.Gone, Readers: x.Readers, Reads: x.Reads,
			Ownerless: x.Ownerless, Refused: x.Refused, Timed: x.Timed, kind: x.Kind, shared: x.Shared, owner: names[x.Owner],
		}
		if name, offset, ok := w[0].Symbols.Symbol(s.Modules(), x.Object); ok && x.Object != 0 && x.Kind != waitfor.End {
			e.Name, e.Offset = symbol.Truncate(name), offset
			e.Member = members.of(w[0], byID[x.Thread], e)
		}
		out.entries[x.Thread] = e
	}
	for _, c := range waitfor.Cycles(list) {
		d := deadlock{Timed: waitfor.Timed(c)}
		for i := range c {
			d.Threads = append(d.Threads, c[i].Thread)
		}
		out.deadlocks = append(out.deadlocks, d)
	}
	return out
}

// functions returns the names of the inner functions of a thread.
func (w *Walker) functions(th target.Thread) (names []string) {
	if w.start(th) != nil {
		return nil
	}
	w.stack.Limit = waitNames
	for f, err := range w.stack.AllOnce() {
		if err != nil {
			break
		}
		for _, at := range w.Symbols.Locate(w.Target.Modules(), f.AddressInBlock()) {
			names = append(names, at.Function)
		}
	}
	return names
}

// of returns what a thread waits for, if it is printed.
func (w *waits) of(tid int) *waitEntry {
	if w == nil {
		return nil
	}
	return w.entries[tid]
}

// object returns the lock in words: `the mutex 0x55… (queue_lock)`.
func (e *waitEntry) object() string {
	if e.kind == waitfor.End {
		return "the end of " + e.holder()
	}
	text := map[waitfor.Kind]string{
		waitfor.Unknown: "the futex", waitfor.Mutex: "the mutex", waitfor.RWLock: "the rwlock", waitfor.File: "the lock of the FILE",
		waitfor.Condition: "the condition variable", waitfor.Semaphore: "the semaphore", waitfor.Barrier: "the barrier", waitfor.Once: "the once-control",
	}[e.kind]
	if e.Address.Known {
		text += fmt.Sprintf(" %#x", e.Address.V)
	} else {
		text = "a" + text[len("the"):]
	}
	switch {
	case e.Member != "":
		text += fmt.Sprintf(" (%s)", e.Member)
	case e.Name != "" && e.Offset != 0:
		text += fmt.Sprintf(" (%s+%d)", e.Name, e.Offset)
	case e.Name != "":
		text += fmt.Sprintf(" (%s)", e.Name)
	}
	if e.kind == waitfor.RWLock && e.Reads {
		text += " to read"
	} else if e.kind == waitfor.RWLock {
		text += " to write"
	}
	return text
}

// holder returns the owner in words; "" if none is known.
func (e *waitEntry) holder() string {
	switch {
	case e.Owner != 0 && e.owner != "":
		return fmt.Sprintf("thread %d %q", e.Owner, e.owner)
	case e.Owner != 0:
		return fmt.Sprintf("thread %d", e.Owner)
	case e.Gone != 0 && e.shared:
		return fmt.Sprintf("thread %d of another process, or one that has ended", e.Gone)
	case e.Gone != 0:
		return fmt.Sprintf("thread %d, which has ended", e.Gone)
	case e.Readers == 1:
		return "1 reader"
	case e.Readers > 1:
		return fmt.Sprintf("%d readers", e.Readers)
	}
	return ""
}

// String returns the wait in words: "waits for the mutex 0x… (a), held by thread 4243".
func (e *waitEntry) String() string {
	if e.Refused {
		return "waits for ever: the kernel refuses a mutex to it, for that would be a deadlock, or the owner has ended"
	}
	text := "waits for " + e.object()
	if e.Timed {
		text = "waits, with a timeout, for " + e.object()
	}
	if e.kind == waitfor.End {
		return text
	}
	switch by := e.holder(); {
	case by != "":
		text += ", held by " + by
	case e.kind == waitfor.Mutex || e.kind == waitfor.RWLock:
		if e.Ownerless {
			text += ", which keeps no owner"
		} else {
			text += ", whose owner is not known"
		}
	}
	return text
}

// known reports whether there is more to say than that the thread waits.
func (e *waitEntry) known() bool { return e != nil && (e.kind != waitfor.Unknown || e.Name != "") }

// waiting prints for what a thread waits.
func (p *textPrinter) waiting(e *waitEntry) {
	if e.known() {
		p.Text("  ")
		p.Text(e.String())
		p.Byte('\n')
	}
}

// maxDeadlocks bounds the deadlocks in text, and the threads of each.
const maxDeadlocks = 32

// deadlocks prints which threads wait for each other.
func (p *textPrinter) deadlocks(d *Document) {
	if d.waits == nil {
		return
	}
	for i, x := range d.waits.deadlocks {
		p.MakeRoom()
		if i == 0 {
			p.Byte('\n')
		}
		if i == maxDeadlocks {
			p.Text(fmt.Sprintf("and %d deadlocks more\n", len(d.waits.deadlocks)-i))
			return
		}
		p.styled(red, "deadlock")
		if x.Timed {
			p.Text(", until the time of one is over")
		}
		p.Text(": ")
		for j, tid := range x.Threads {
			e := d.waits.of(tid)
			switch {
			case j == maxDeadlocks:
				p.Text(fmt.Sprintf(", and so on: %d threads", len(x.Threads)))
			case j > maxDeadlocks:
				continue
			case j == 0:
				p.Text(fmt.Sprintf("thread %d waits for %s", tid, e.link()))
			default:
				p.Text(fmt.Sprintf(", which waits for %s", e.link()))
			}
			if len(x.Threads) == 1 {
				p.Text(" itself")
			}
		}
		p.Byte('\n')
	}
}

// link is a wait within a deadlock.
func (e *waitEntry) link() string {
	if e.kind == waitfor.End {
		return e.object()
	}
	return e.object() + ", held by " + fmt.Sprint(e.Owner)
}
