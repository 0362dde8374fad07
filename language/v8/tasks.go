package v8

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/target"
)

// Bounds of the tasks of a run time.
const (
	mostTasks  = 1 << 18
	mostHeap   = 8 << 30 // bytes of all heaps
	mostChain  = 1 << 10 // functions of one task
	taskEffort = 1 << 30
)

// waiter is an async function or an async generator that waits in an await.
type waiter struct {
	at     uint64 // its object
	ready  bool   // what it waits for is there
	thread int
	// by are the ones that wait for it: alone if it is a single one in an await of it.
	by    []uint64
	alone bool
}

// Tasks implements [language.Tasker]: the async functions and async generators that wait. One that
// another one awaits, which nothing else does, is one task with it, as in the traces of V8's own.
func (e *engine) Tasks(m target.Memory) ([]language.Task, error) {
	if e.async == nil {
		return nil, e.noAsync
	}
	threads, err := e.threads()
	if err != nil {
		return nil, err
	}
	h := newHeap(structs.New(e.arch, m, &e.pages), e.layout)
	defer h.Free()
	h.most = taskEffort
	t := tasks{engine: e, heap: h, memory: m, waiters: map[uint64]*waiter{}}
	isolates := h.isolates(threads)
	if len(isolates) == 0 {
		return nil, errors.New("no thread is in an isolate of V8's")
	}
	for _, x := range isolates {
		t.find(x)
	}
	t.link()
	return t.tasks(), t.err
}

var errCollects = errors.New("the garbage collector runs, and may just have moved some")

// tasks are the tasks as they are found.
type tasks struct {
	*engine
	heap    *heap
	memory  target.Memory
	waiters map[uint64]*waiter
	order   []*waiter
	read    uint64 // bytes of the heaps
	err     error
}

func (t *tasks) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// find finds what waits in an isolate: each reaction of a promise has the function that it resumes.
func (t *tasks) find(x *isolate) {
	h := t.heap
	areas := h.areas(x)
	err := h.Err()
	if h.Uint(x.at+h.async.state, 1) == stateCollect {
		err = errCollects // the lists of pages may just be changed, too
	}
	if err != nil {
		t.fail(err)
	}
	// What is ready has turned from a reaction into a job.
	for _, job := range h.jobs(x) {
		if kind, ok := h.typeOf(job); ok && (kind == h.async.fulfilled || kind == h.async.rejected) {
			w := h.handlerOf(h.field(job, h.async.reactionFulfill))
			t.add(w.waits, x.thread, true)
		}
	}
	room := make([]byte, pageSize)
	for _, p := range areas {
		if t.read += p.hi - p.lo; t.read > mostHeap {
			t.fail(fmt.Errorf("the heaps have more than %d GiB", mostHeap>>30))
			break
		}
		h.scan(t.memory, p, x.maps.free, x.maps.reaction, room, func(reaction uint64) {
			if h.is(reaction, h.async.reaction) && h.spend(64) {
				t.add(h.handlersOf(reaction)[0].waits, x.thread, false)
			}
			h.Err()
		})
	}
}

// add adds what waits, unless it is known, or runs, or is over.
func (t *tasks) add(generator uint64, thread int, ready bool) {
	h := t.heap
	defer h.Err()
	if generator == 0 || t.waiters[generator] != nil || h.small(generator, generatorState) < 0 || !h.isFunction(h.field(generator, generatorFunction)) || !h.OK() {
		return
	}
	if len(t.order) == mostTasks {
		t.fail(fmt.Errorf("there are more than %d tasks", mostTasks))
		return
	}
	w := &waiter{at: generator, ready: ready, thread: thread}
	t.waiters[generator] = w
	t.order = append(t.order, w)
}

// link finds out who waits for whom.
func (t *tasks) link() {
	h := t.heap
	for _, w := range t.order {
		var direct []uint64
		for _, p := range h.results(w.at) {
			d, others := h.waiting(p)
			direct = append(direct, d...)
			w.by = append(append(w.by, d...), others...)
		}
		w.by = slices.DeleteFunc(w.by, func(by uint64) bool { return t.waiters[by] == nil })
		w.alone = len(w.by) == 1 && len(direct) == 1 && w.by[0] == direct[0]
		h.Err()
	}
}

// tasks returns the tasks.
func (t *tasks) tasks() (list []language.Task) {
	outer := map[uint64]bool{} // functions that are in the task of another one
	for _, w := range t.order {
		if w.alone {
			outer[w.by[0]] = true
		}
	}
	for _, w := range t.order {
		if outer[w.at] {
			continue
		}
		x := language.Task{ID: w.at, Kind: "async function", State: "waiting", Thread: w.thread}
		if t.heap.is(w.at, t.heap.async.generator) {
			x.Kind = "async generator"
		}
		if w.ready {
			x.State = "ready"
		}
		seen := map[*waiter]bool{}
		last := w
		for at := w; len(x.Frames) < mostChain && !seen[at]; at = t.waiters[at.by[0]] {
			seen[at] = true
			last = at
			x.Frames = append(x.Frames, t.frame(at.at))
			if !at.alone {
				break
			}
		}
		if !last.alone {
			x.AwaitedBy = last.by
		}
		if t.heap.effort > t.heap.most {
			t.fail(errors.New("the tasks take too much effort"))
			return list
		}
		list = append(list, x)
	}
	return list
}

// frame returns the frame of an async function or generator that waits.
func (t *tasks) frame(generator uint64) language.Frame {
	h := t.heap
	defer h.Err()
	w := walk{engine: t.engine, heap: h, stack: &language.Stack{Arch: h.Arch, Memory: t.memory}}
	x := call{object: h.field(generator, generatorFunction), this: value{known: true, word: h.field(generator, generatorThis)}}
	f, ok := h.functionOf(h.field(x.object, h.functionShared))
	if !ok {
		return language.Frame{Function: "[interpreter]", Place: generator}
	}
	x.function = f
	x.offset = h.small(generator, generatorOffset) - int(h.bytecodes) + 1
	frame := w.frames(&x)[0]
	if frame.Guess {
		frame.Line, frame.Column = 0, 0
	}
	return frame
}
