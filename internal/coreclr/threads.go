package coreclr

import "github.com/sfwalk/sfwalk/target"

// threadLayout is of Thread, and of what leads to it.
type threadLayout struct {
	first    uint64 // from ThreadStore to the first thread's link
	link     uint64 // Thread: the address of the next one's link
	state    uint64
	id       uint64
	system   uint64 // the system's ID of it
	object   uint64 // what leads to its object
	thrown   uint64 // what leads to the exception that was thrown last
	base     uint64 // where the stack begins, and behind it where it ends
	locals   uint64 // more of the thread; not in .NET 8
	apart    bool   // it has locals
	allocate uint64 // there, or in the thread: where the thread makes objects, and up to where it may
}

// Thread is the run time's record of a thread.
type Thread struct {
	At     uint64 // the record's address
	ID     uint32 // by which .NET calls it
	System uint32 // the system's ID, as the process itself sees it; 0 if the thread does not run
	State  uint32
	Object uint64 // the thread's object; 0 if it has none
	Thrown uint64 // the exception that was thrown last, as long as it is handled; 0 for none
	Stack  Span   // where its stack is
	Makes  Span   // where it makes objects: the span has none
}

// Bits of a thread's state.
const (
	ThreadBackground = 0x200
	ThreadOfPool     = 0x1000000
	ThreadWaits      = 0x2000000
)

// Threads returns the records of the threads.
func (r *Runtime) Threads(m target.Memory) (list []Thread) {
	l := &r.threads
	link := word(m, word(m, r.store)+l.first)
	for n := 0; n < mostThreads && link > l.link; n++ {
		list = append(list, r.Thread(m, link-l.link))
		link = word(m, link)
	}
	return list
}

// Thread reads the record of a thread.
func (r *Runtime) Thread(m target.Memory, at uint64) Thread {
	l := &r.threads
	t := Thread{
		At: at, Object: word(m, word(m, at+l.object)), Thrown: word(m, word(m, at+l.thrown)),
		Stack: Span{word(m, at+l.base+8), word(m, at+l.base)},
	}
	t.ID, _ = half(m, at+l.id)
	t.System, _ = half(m, at+l.system)
	t.State, _ = half(m, at+l.state)
	locals := at
	if l.apart {
		locals = word(m, at+l.locals)
	}
	t.Makes = Span{word(m, locals+l.allocate), word(m, locals+l.allocate+8)}
	return t
}
