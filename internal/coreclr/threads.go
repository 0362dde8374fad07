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
	locals   uint64 // more of the thread; not in .NET 8
	apart    bool   // it has locals
	allocate uint64 // there, or in the thread: where the thread makes objects, and up to where it may
}

// Thread is the run time's record of a thread.
type Thread struct {
	ID     uint32 // by which .NET calls it
	System uint32 // the system's ID; 0 if it has not begun, or has ended
	State  uint32
	Object uint64 // the thread's object; 0 if it has none
	Thrown uint64 // the exception that was thrown last and is not handled; 0 for none
	Makes  Span   // where it makes objects: the span has none
}

// Bits of a thread's state.
const (
	ThreadBackground = 0x200
	ThreadUnstarted  = 0x400
	ThreadDead       = 0x800
)

// Threads returns the records of the threads.
func (r *Runtime) Threads(m target.Memory) (list []Thread) {
	l := &r.threads
	link := word(m, word(m, r.store)+l.first)
	for n := 0; n < mostThreads && link > l.link; n++ {
		at := link - l.link
		t := Thread{Object: word(m, word(m, at+l.object)), Thrown: word(m, word(m, at+l.thrown))}
		t.ID, _ = half(m, at+l.id)
		t.System, _ = half(m, at+l.system)
		t.State, _ = half(m, at+l.state)
		locals := at
		if l.apart {
			locals = word(m, at+l.locals)
		}
		t.Makes = Span{word(m, locals+l.allocate), word(m, locals+l.allocate+8)}
		list = append(list, t)
		link = word(m, link)
	}
	return list
}
