package fibers

import (
	"fmt"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// Tasks implements [language.Tasker].
func (r *library) Tasks(m target.Memory) ([]language.Task, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	threads, err := r.threads()
	if err != nil {
		return nil, err
	}
	t := r.newTasks(m)
	defer t.Free()
	threads = threads[:min(len(threads), mostThreads)]
	for _, th := range threads {
		t.thread(th)
	}
	return t.made(threads), t.err
}

// made makes tasks of the fibers of the schedulers that were found, and of others that are ready.
func (t *tasks) made(threads []target.Thread) []language.Task {
	if t.layout == nil {
		return nil
	}
	for _, q := range t.queues {
		t.stealing(q)
		t.Err()
	}
	if t.shared != 0 {
		t.sharing(t.shared)
		t.Err()
	}
	by := map[int]target.Thread{}
	for _, th := range threads {
		by[th.ID()] = th
		t.taken(th)
	}
	list := make([]language.Task, len(t.list))
	for i := range t.list {
		list[i] = t.task(i, by)
	}
	for i := range t.list {
		for _, j := range t.list[i].waiters {
			list[i].AwaitedBy = append(list[i].AwaitedBy, t.list[j].at)
		}
	}
	return list
}

// task makes a task of a fiber.
func (t *tasks) task(i int, threads map[int]target.Thread) language.Task {
	f := &t.list[i]
	x := language.Task{ID: f.at, Kind: "fiber", State: "waiting", Thread: f.thread}
	if f.main {
		x.Kind = "main fiber"
	}
	var th target.Thread
	resumed := false
	switch {
	case f.sp != 0:
		x.State, th = "running", threads[f.thread]
	case f.ended:
		x.State = "done"
		return x
	case f.saved == 0:
		x.State, x.Early = "running", "it is just switched to, or from: where its registers are is not known"
		return x
	default:
		saved, err := t.savedIn(f.saved, f.thread)
		if err != nil {
			x.Early = err.Error()
			return x
		}
		th, resumed = saved, true
	}
	physical, err := t.walk(th)
	if err != nil {
		x.Early = fmt.Sprintf("its stack cannot be walked: %v", err)
		return x
	}
	s := t.stackOf(physical, resumed, f.main)
	x.Frames = s.frames
	switch {
	case f.sp != 0:
	case f.ready && s.fresh:
		x.State = "not begun"
	case f.ready:
		x.State = "runnable"
	default:
		t.waits(i, &x, &s)
	}
	return x
}

// waits says what a fiber waits for.
func (t *tasks) waits(i int, x *language.Task, s *stack) {
	f := &t.list[i]
	queue := t.queueOf(f)
	if t.Err() != nil {
		return
	}
	if queue == 0 {
		switch {
		case s.object == "unbuffered_channel": // the channel has the fiber's address
			x.Waits = append(x.Waits, language.Lock{Kind: s.object, Level: -1, Timed: f.timed})
		case f.timed:
			x.State = "sleeping"
		case s.object != "": // it was woken, and is on its way to a queue of others that are ready
			x.State = "runnable"
		}
		return
	}
	if j, is := t.at[queue-waiters]; is {
		t.list[j].waiters = append(t.list[j].waiters, i)
		return
	}
	l := language.Lock{Kind: s.object, Address: queue, Level: -1, Timed: f.timed}
	switch s.inner {
	case "mutex", "timed_mutex", "recursive_mutex", "recursive_timed_mutex":
		l.Address = queue - waitQueue
		if by, is := t.at[t.Pointer(l.Address+owner)]; is && t.OK() {
			l.Name = fmt.Sprintf("held by fiber %#x", t.list[by].at)
		}
		t.Err()
	case "condition_variable", "condition_variable_any":
		l.Address = queue - waitQueue
	}
	if l.Kind == "" {
		l.Kind = "queue"
	}
	x.Waits = append(x.Waits, l)
}

// mostOwn bounds the part of a fiber's stack that the functions have that switch, bytes.
const mostOwn = 4 << 10

// queueOf returns the address of the queue in which a fiber waits; 0 if that is not known.
func (t *tasks) queueOf(f *fiber) uint64 {
	if l := t.layout; l.hook != 0 {
		return t.headOf(f.at+l.hook, func(node uint64) bool { _, is := t.at[node-l.hook]; return is })
	}
	epoch := t.Pointer(f.at + t.layout.epoch)
	for at := f.saved; at < f.saved+mostOwn && t.OK(); at += 8 { // a waker_with_hook: the fiber, its number, the link
		if t.Pointer(at) != f.at || t.Pointer(at+8) != epoch {
			continue
		}
		queue := t.headOf(at+16, func(node uint64) bool { _, is := t.at[t.Pointer(node-16)]; return is })
		if t.Err() == nil && queue != 0 {
			return queue
		}
	}
	t.Err()
	return 0
}

// headOf returns the head of a ring of which node is a member: the only one that waits does not
// tell to be so; 0 if there is no such ring. What it has found holds for all members.
func (t *tasks) headOf(node uint64, waits func(uint64) bool) (head uint64) {
	if head, is := t.heads[node]; is {
		return head
	}
	members := []uint64{node}
	for at := t.Pointer(node); at != node; at = t.Pointer(at) {
		if !t.step() || at == 0 || at&7 != 0 || !t.OK() || len(members) > len(t.list) {
			return 0
		}
		switch {
		case waits(at):
			members = append(members, at)
		case head != 0 || !t.OK():
			return 0
		default:
			head = at
		}
	}
	for _, at := range members {
		t.heads[at] = head
	}
	return head
}
