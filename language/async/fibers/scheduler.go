package fibers

import (
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/target"
)

// Bounds of what is read of one process.
const (
	mostThreads = 1 << 16
	mostStorage = 1 << 16 // bytes of a thread's storage that are looked through
	mostFibers  = 1 << 20
	mostFrames  = 1 << 20 // of all fibers; equal stacks count once
	mostSlots   = 1 << 24 // of a queue
)

// fiber is a context of Boost.Fiber.
type fiber struct {
	at      uint64
	thread  int    // whose scheduler has it; 0 for none
	sp      uint64 // of the thread, if the fiber is what it runs; else 0
	main    bool   // it is what the thread ran before it had fibers
	active  bool   // it runs, or is just switched to or from
	ready   bool
	ended   bool
	timed   bool   // it waits until a point in time
	saved   uint64 // address of its registers; 0 if they are in the thread
	waiters []int  // the fibers that wait for its end
}

// tasks are the fibers of a process, as they are found.
type tasks struct {
	*library
	*structs.Reader
	layout *layout // nil until a scheduler is found

	schedulers map[uint64]bool
	list       []fiber
	at         map[uint64]int    // numbers in list by the contexts' addresses
	queues     []uint64          // of algo::work_stealing, with fibers that are ready
	heads      map[uint64]uint64 // of queues, by their members
	steps      int               // links and slots of queues that were followed
	known      map[string]stack
	frames     int
	err        error
}

// fail notes why the list is not whole.
func (t *tasks) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
}

// mostSteps bounds the links and slots of queues that are followed, of all fibers together.
const mostSteps = 1 << 23

// step counts a link or a slot, and reports whether one more may be followed.
func (t *tasks) step() bool {
	if t.steps++; t.steps > mostSteps {
		t.fail("the queues of fibers have more than %d places", mostSteps)
		return false
	}
	return true
}

// thread looks for the scheduler of a thread, and lists its fibers. The thread's storage for the
// library has the address of the fiber that runs.
func (t *tasks) thread(th target.Thread) (found bool) {
	var regs arch.Registers
	if th.Registers(&regs) != nil || len(t.arch.ThreadPointer) != 1 {
		return false
	}
	tp, ok := regs.Get(t.arch.ThreadPointer[0])
	sp, has := regs.Get(t.arch.SP)
	if !ok || !has {
		return false
	}
	storage, err := t.storage.Storage(t.Reader.Memory(), t.module, tp)
	if err != nil {
		return false // the thread has never used it
	}
	defer t.Err()
	for at := storage; at < storage+t.size; at += 8 {
		active := t.Pointer(at)
		if t.Err() != nil || active == 0 || active&7 != 0 {
			continue
		}
		if s := t.schedulerOf(active); s != 0 && !t.schedulers[s] {
			t.schedulers[s] = true
			t.scheduler(s, active, th.ID(), sp)
			found = true
		}
	}
	return found
}

// schedulerOf returns the scheduler of a context; 0 if at is no such thing. A scheduler has two
// contexts of its own, which lead back to it.
func (t *tasks) schedulerOf(at uint64) uint64 {
	defer t.Err()
	switch t.Uint(at+kind, 4) {
	case mainContext, dispatcherContext, workerContext:
	default:
		return 0
	}
	for i := range layouts {
		l := &layouts[i]
		if t.layout != nil && t.layout != l {
			continue
		}
		s := t.Pointer(at + l.scheduler)
		if s != 0 && s&7 == 0 && t.isTable(s) && t.is(t.Pointer(s+mainFiber), l, s, mainContext) && t.is(t.Pointer(s+dispatcher), l, s, dispatcherContext) {
			t.layout = l
			return s
		}
		t.Err()
	}
	return 0
}

// is reports whether at is a scheduler's context of a kind.
func (t *tasks) is(at uint64, l *layout, s, want uint64) bool {
	return t.OK() && at&7 == 0 && t.Uint(at+kind, 4) == want && t.Pointer(at+l.scheduler) == s && t.isTable(at)
}

// isTable reports whether an object begins with the address of a table of methods that is the
// library's.
func (t *tasks) isTable(at uint64) bool {
	table := t.Pointer(at)
	return t.OK() && t.modules.Find(table) == t.module
}

// scheduler lists the fibers of a scheduler: its thread's main fiber, and the others in the order
// in which they have come to it.
func (t *tasks) scheduler(s, active uint64, thread int, sp uint64) {
	first := len(t.list)
	t.add(t.Pointer(s+mainFiber), thread)
	if !t.ring(s, s+workers, 0, thread) && !t.ring(s, s+workers, 8, thread) { // a link may be just changing
		t.fail("the list of the fibers of thread %d is broken, or is just changing", thread)
	}
	t.Err()
	node := t.Pointer(s + remoteQueue)
	for range len(t.list) - first {
		i, is := t.at[node-remoteLink]
		if !is {
			break
		}
		t.list[i].ready = true
		node = t.Pointer(node)
	}
	if q := t.Pointer(s + algorithm); t.steals != 0 && t.Pointer(q) == t.steals {
		t.queues = append(t.queues, q+readyQueue)
	}
	t.Err()
	dispatches := t.Pointer(s + dispatcher)
	runs, where := -1, ^uint64(0) // contexts are at the top of the stacks
	if saved := t.Pointer(dispatches + savedAt); saved == 0 && dispatches > sp {
		where = dispatches
	}
	for i := first; i < len(t.list); i++ {
		f := &t.list[i]
		f.active = f.at == active || f.saved == 0 && !f.ended
		if f.saved == 0 && !f.main && f.at > sp && f.at < where {
			runs, where = i, f.at
		}
	}
	if main := &t.list[first]; runs < 0 && main.saved == 0 && where == ^uint64(0) {
		runs = first
	}
	if runs >= 0 {
		t.list[runs].sp, t.list[runs].active, t.list[runs].ended = sp, true, false
	}
	t.Err()
}

// ring lists the fibers in a scheduler's list, and reports whether it has come round, or to a fiber
// that the other way has listed. way is the offset of the links that are followed.
func (t *tasks) ring(s, head, way uint64, thread int) bool {
	for node := t.Pointer(head + way); node != head; node = t.Pointer(node + way) {
		at := node - workerLink
		if _, is := t.at[at]; is {
			return way != 0
		}
		if !t.OK() || at&7 != 0 || t.Uint(at+kind, 4) != workerContext {
			return false
		}
		if of := t.Pointer(at + t.layout.scheduler); of != s && of != 0 || !t.add(at, thread) {
			return false
		}
	}
	return t.OK()
}

// add adds a context, and reports whether it could.
func (t *tasks) add(at uint64, thread int) bool {
	if _, is := t.at[at]; is || !t.OK() {
		return t.OK()
	}
	if len(t.list) == mostFibers {
		t.fail("there are more than %d fibers", mostFibers)
		return false
	}
	f := fiber{at: at, thread: thread, main: t.Uint(at+kind, 4) == mainContext, saved: t.Pointer(at + savedAt)}
	f.ended = t.Uint(at+terminated, 1) != 0
	f.ready = thread == 0 || t.Pointer(at+readyLink) != 0
	f.timed = t.Pointer(at+t.layout.sleep) != 0
	if t.Err() != nil {
		t.fail("the fiber %#x cannot be read", at)
		return true
	}
	t.at[at] = len(t.list)
	t.list = append(t.list, f)
	return true
}

// stealing lists the fibers that are ready in a thread's queue of algo::work_stealing
// (context_spinlock_queue.hpp): no scheduler has them meanwhile.
func (t *tasks) stealing(queue uint64) {
	put, take, size, slots := t.Pointer(queue+8), t.Pointer(queue+16), t.Pointer(queue+24), t.Pointer(queue+32)
	if !t.OK() || size == 0 || size > mostSlots || put >= size || take >= size {
		t.fail("a queue of fibers that are ready is broken, or is just changing")
		return
	}
	for ; take != put && t.OK(); take = (take + 1) % size {
		if !t.step() || !t.readyIn(t.Pointer(slots+8*take)) {
			return
		}
	}
}

// block is how many contexts a block of a std::deque has (libstdc++).
const block = 512 / 8

// sharing lists the fibers that are ready in any thread: the std::deque of algo::shared_work.
func (t *tasks) sharing(queue uint64) {
	at, end, node := t.Pointer(queue+16), t.Pointer(queue+48), t.Pointer(queue+40)
	last := t.Pointer(queue + 32)
	if !t.OK() || at&7 != 0 || last-t.Pointer(queue+24) != 8*block {
		t.fail("the queue of fibers that are ready in any thread is broken, or is just changing")
		return
	}
	for at != end && t.OK() {
		if !t.step() || !t.readyIn(t.Pointer(at)) {
			return
		}
		if at += 8; at == last {
			node += 8
			at = t.Pointer(node)
			last = at + 8*block
		}
	}
}

// readyIn notes a context that is in a queue of others that are ready: all schedulers' are known.
func (t *tasks) readyIn(at uint64) bool {
	if i, is := t.at[at]; is {
		t.list[i].ready = true
		return true
	}
	switch of := t.Uint(at+kind, 4); {
	case of == dispatcherContext && t.OK():
		return true
	case of == workerContext && t.OK():
		return t.add(at, 0)
	}
	t.fail("a queue of fibers that are ready is broken, or is just changing")
	return false
}

// mostTop bounds the part of a thread's stack that has what its scheduler is about to do, bytes.
const mostTop = 4 << 10

// taken lists a fiber that a thread has just taken from a queue: nothing else has it.
func (t *tasks) taken(th target.Thread) {
	var regs arch.Registers
	if th.Registers(&regs) != nil {
		return
	}
	for reg := range amd64.RIP {
		if at, ok := regs.Get(reg); ok {
			t.detached(at)
		}
	}
	sp, _ := regs.Get(t.arch.SP)
	for at := sp &^ 7; at < sp+mostTop; at += 8 {
		t.detached(t.Pointer(at))
	}
}

// detached adds what is at an address if it is a fiber that no scheduler has.
func (t *tasks) detached(at uint64) {
	defer t.Err()
	if _, is := t.at[at]; is || at == 0 || at&7 != 0 || t.Uint(at+kind, 4) != workerContext || t.Uint(at+terminated, 1) != 0 {
		return
	}
	if s := t.Pointer(at + t.layout.scheduler); s != 0 && !t.schedulers[s] {
		return
	}
	if table := t.Pointer(at); !t.OK() || t.modules.Find(table) == nil {
		return
	}
	if saved := t.Pointer(at + savedAt); saved < at && t.OK() {
		if _, err := t.savedIn(saved, 0); err == nil {
			t.add(at, 0)
		}
	}
}
