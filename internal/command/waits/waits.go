package waits

import (
	"fmt"
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/waitfor"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// Entry is what a thread waits for.
type Entry struct {
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
	Call

	kind   waitfor.Kind
	shared bool
	owner  string // the owner's name
}

// Deadlock is a cycle of threads that wait for each other.
type Deadlock struct {
	Threads []int `json:"threads"`
	Timed   bool  `json:"timed,omitempty"`

	links []string // what each thread waits for
}

// Link returns what the thread that is the i-th of the deadlock waits for.
func (d *Deadlock) Link(i int) string { return d.links[i] }

// Graph is who waits for whom.
type Graph struct {
	entries   map[int]*Entry // by thread ID
	told      map[int][]Told // by languages; nil if the threads are not of one moment
	own       func() map[int]int
	Deadlocks []Deadlock
}

// Unrelated returns a graph of threads that are not of one moment: nothing is said of who waits for
// whom, but what a language says of a lock's holder itself. own is [Options.OwnThreads].
func Unrelated(own func() map[int]int) *Graph {
	if own == nil {
		return &Graph{}
	}
	return &Graph{own: sync.OnceValue(own)}
}

// holderOf returns the thread that a language means by an ID, which is the process's own, or this
// machine's.
func (w *Graph) holderOf(id int) int {
	if w == nil || w.own == nil || id == 0 {
		return id
	}
	by := w.own()
	for _, tid := range by {
		if tid == id {
			return id
		}
	}
	if tid, ok := by[id]; ok {
		return tid
	}
	return id
}

// innerFrames is how many physical frames of a thread are looked at for what it waits for.
const innerFrames = 12

// Options are what Find needs to know of a target.
type Options struct {
	Symbols *symbol.Symbolizer
	// Stack begins to walk the stack of a thread; nil if it has none. The next call may use its
	// memory again.
	Stack func(target.Thread) *frame.Stack
	// OwnThreads returns the threads by the IDs that the process has for them, where they differ;
	// nil if they do not.
	OwnThreads func() map[int]int
	// Variables makes the symbolizer by which members of variables are named; nil if they are not.
	Variables func() *symbol.Symbolizer
	// Told is what languages know of the threads, by their IDs.
	Told map[int][]language.Told
}

// Find finds out which thread of t waits for which. All are of one moment.
func Find(t target.Target, o Options) *Graph {
	out := Unrelated(o.OwnThreads)
	opts := waitfor.Options{Functions: func(th target.Thread) []string { return o.functions(t, th) }}
	if out.own != nil {
		opts.Thread = func(tid int) int {
			if id, ok := out.own()[tid]; ok {
				return id
			}
			return tid
		}
	}
	list, err := waitfor.Find(t, opts)
	if err != nil || len(list) == 0 && len(o.Told) == 0 {
		return out
	}
	threads, err := t.Threads()
	if err != nil {
		return out
	}
	names, byID := map[int]string{}, map[int]target.Thread{}
	for _, th := range threads {
		names[th.ID()], byID[th.ID()] = th.Name(), th
	}
	members := memberNames{of: t, options: &o}
	defer members.close()
	out.entries = make(map[int]*Entry, len(list))
	for i := range list {
		x := &list[i]
		e := &Entry{
			Kind: x.Kind.String(), Address: address.If(x.Object, x.Object != 0), Owner: x.Owner, Gone: x.Gone, Readers: x.Readers, Reads: x.Reads,
			Ownerless: x.Ownerless, Refused: x.Refused, Timed: x.Timed, kind: x.Kind, shared: x.Shared, owner: names[x.Owner],
		}
		if name, offset, ok := o.Symbols.Symbol(t.Modules(), x.Object); ok && x.Object != 0 && x.Kind != waitfor.End {
			e.Name, e.Offset = symbol.Truncate(name), offset
			e.Member = members.at(byID[x.Thread], e)
		} else if x.Kind != waitfor.End && x.Kind != waitfor.Unknown {
			e.Member = members.reached(byID[x.Thread], x.Object)
		}
		out.entries[x.Thread] = e
	}
	if len(o.Told) > 0 {
		out.tell(o.Told, names)
		for _, e := range out.entries {
			e.owner = names[e.Owner] // a language may have a better name
		}
	}
	ids := make([]int, len(threads))
	for i, th := range threads {
		ids[i] = th.ID()
	}
	out.findDeadlocks(ids)
	return out
}

// findDeadlocks finds which threads wait for each other.
func (w *Graph) findDeadlocks(ids []int) {
	index := make(map[int]int, len(ids))
	slices.Sort(ids)
	for i, id := range ids {
		index[id] = i
	}
	edges := make([][]edge, len(ids))
	for i, id := range ids {
		add := func(owner int, timed bool, text string) {
			to, ok := index[owner]
			if ok && owner != 0 && !slices.ContainsFunc(edges[i], func(e edge) bool { return e.to == to }) {
				edges[i] = append(edges[i], edge{to, timed, text})
			}
		}
		if e := w.entries[id]; e != nil && e.Owner != 0 {
			add(e.Owner, e.Timed, e.Link())
		}
		for _, t := range w.told[id] {
			for j := range t.Waits {
				l := &t.Waits[j]
				add(l.Owner, l.Timed, l.link())
			}
		}
	}
	w.Deadlocks = cycles(ids, edges)
}

// functions returns the names of the inner functions of a thread.
func (o *Options) functions(t target.Target, th target.Thread) (names []string) {
	stack := o.Stack(th)
	if stack == nil {
		return nil
	}
	stack.Limit = innerFrames
	for f, err := range stack.AllOnce() {
		if err != nil {
			break
		}
		for _, at := range o.Symbols.Locate(t.Modules(), f.AddressInBlock()) {
			names = append(names, at.Function)
		}
	}
	return names
}

// Of returns what a thread waits for, if it is printed.
func (w *Graph) Of(tid int) *Entry {
	if w == nil {
		return nil
	}
	return w.entries[tid]
}

// object returns the lock in words: `the mutex 0x55… (queue_lock)`; without its address if all is
// false.
func (e *Entry) object(all bool) string {
	if e.kind == waitfor.End {
		return "the end of " + e.holder()
	}
	text := map[waitfor.Kind]string{
		waitfor.Unknown: "the futex", waitfor.Mutex: "the mutex", waitfor.RWLock: "the rwlock", waitfor.File: "the lock of the FILE",
		waitfor.Condition: "the condition variable", waitfor.Semaphore: "the semaphore", waitfor.Barrier: "the barrier", waitfor.Once: "the once-control",
	}[e.kind]
	if e.Address.Known && all {
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
func (e *Entry) holder() string {
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
func (e *Entry) String() string { return e.words(true, singular) }

// words returns the wait in words, the verb as the subject wants it. all is false for the words
// that threads share that wait for several things of a kind.
func (e *Entry) words(all bool, verb func(string) string) string {
	if e.Call.Call != "" {
		return e.text(all, verb)
	}
	if e.Refused {
		return verb("wait") + " for ever: the kernel refuses the mutex, for that would be a deadlock, or the owner has ended"
	}
	text := verb("wait") + " for " + e.object(all)
	if e.Timed {
		text = verb("wait") + ", with a timeout, for " + e.object(all)
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

// Known reports whether there is more to say than that the thread waits.
func (e *Entry) Known() bool {
	return e != nil && (e.kind != waitfor.Unknown || e.Name != "" || e.Call.Call != "")
}

// Link is a wait within a deadlock.
func (e *Entry) Link() string {
	if e.kind == waitfor.End {
		return e.object(true)
	}
	return e.object(true) + ", held by " + fmt.Sprint(e.Owner)
}
