package dotnet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// Bounds of the tasks of a process.
const (
	mostTasks     = 1 << 20
	mostSteps     = 1 << 24 // from one object to another, in all
	mostFar       = 64      // objects between an async method and the one that awaits it
	mostAwaits    = 1 << 16 // continuations of one task
	mostAwaiters  = 64      // words of an async method's state that are looked at
	mostFrames    = 1 << 22 // of all tasks; equal ones count once
	mostBoxFields = 1 << 10 // bytes of what an object has that are looked at
)

// Bits of a Task's state.
const (
	isFaulted  = 0x200000
	isCanceled = 0x400000
	isDone     = 0x1000000
	isOver     = isFaulted | isCanceled | isDone
)

// States of an async method, beside the numbers of the places where it waits.
const (
	stateRunning = -1
	stateOver    = -2
)

// box is the object that keeps the state of an async method while it waits.
type box struct {
	at      uint64
	shape   *shape
	machine *machine
	begin   uint64 // where its state begins
	state   int32
	by      []edge // by which ones it is awaited
	inner   *box   // the one that it awaits itself, if that is awaited by it alone
	outer   *box   // the other way round
	awaits  uint64 // the object that it awaits, if that is of no async method
	chain   *box   // the outermost one that its chain leads to
}

// edge is who awaits.
type edge struct {
	by *box
	// direct says that nothing is between, such as what waits for all of some tasks.
	direct bool
}

// tasks are the async methods of a process, as they are found.
type tasks struct {
	*shapes
	boxes []*box
	known map[uint64]*box // by address
	state map[uint64]*box // by the address of the object that is its state, where that is one
	types map[uint64]*machine
	steps int
	err   error

	stacks map[string][]language.Frame
	frames int
}

// Tasks implements [language.Tasker]: it lists the async methods that have begun to wait and are
// not over. Ones that await each other, and nothing else, are frames of one task.
func (x *runtime) Tasks(m target.Memory) ([]language.Task, error) {
	mem := x.pages.Of(m)
	defer x.pages.Free(mem)
	t := newTasks(x, mem)
	spans, err := x.vm.Spans(mem)
	if err != nil {
		return nil, err
	}
	if err := x.vm.Objects(target.Memory(m), spans, t.wanted, t.add); err != nil {
		t.fail(err)
	}
	t.link()
	return t.list(), t.err
}

func newTasks(x *runtime, mem *pages.Pages) *tasks {
	return &tasks{
		shapes: x.shapes(mem),
		known:  map[uint64]*box{}, state: map[uint64]*box{}, types: map[uint64]*machine{}, stacks: map[string][]language.Frame{},
	}
}

// link finds out who awaits whom, and joins methods that await each other, and nothing else.
func (t *tasks) link() {
	for _, b := range t.boxes {
		t.links(b)
	}
	for _, b := range t.boxes {
		if len(b.by) == 1 && b.by[0].direct && b.by[0].by.inner == nil {
			b.outer = b.by[0].by
			b.outer.inner = b
		}
	}
}

func (t *tasks) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// wanted reports whether objects of a type are to be looked at.
func (t *tasks) wanted(table uint64) bool {
	x := t.of(table)
	return x != nil && x.box
}

// flags returns the state of a Task.
func (t *tasks) flags(at uint64, x *shape) uint32 {
	offset, ok := t.field(x, "m_stateFlags")
	if !ok {
		return 0
	}
	return t.half(at + offset)
}

// add notes the async method whose object is at an address, unless it is over.
func (t *tasks) add(at, table uint64) {
	x := t.of(table)
	if x == nil || t.known[at] != nil || x.task && t.flags(at, x)&isOver != 0 {
		return
	}
	if len(t.boxes) == mostTasks {
		t.fail(fmt.Errorf("there are more than %d async methods that wait", mostTasks))
		return
	}
	b := &box{at: at, shape: x, machine: t.machineOf(x)}
	if b.machine == nil {
		return
	}
	if b.begin = at + b.machine.offset; b.machine.object {
		if b.begin = t.word(b.begin); b.begin == 0 {
			return
		}
		t.state[b.begin] = b
		b.begin += wordSize
	}
	if b.machine.state >= 0 {
		b.state = int32(t.half(b.begin + uint64(b.machine.state)))
	}
	if b.state < stateRunning {
		return // it is over, or nobody wants its next value
	}
	t.known[at] = b
	t.boxes = append(t.boxes, b)
}

// links finds who awaits an async method, and what it awaits.
func (t *tasks) links(b *box) {
	if b.shape.task {
		t.awaitedBy(b, b.at, b.shape)
	}
	if b.state < 0 {
		return
	}
	for _, offset := range b.machine.awaiters {
		at := t.word(b.begin + uint64(offset))
		x := t.object(at)
		if x == nil {
			continue
		}
		inner := t.known[at]
		if inner == nil {
			inner = t.state[at]
		}
		if inner != nil {
			inner.awaitedBy(b, true)
		} else {
			b.awaits = at
		}
		return
	}
}

// awaitedBy notes who awaits b.
func (b *box) awaitedBy(by *box, direct bool) {
	for i := range b.by {
		if b.by[i].by == by {
			b.by[i].direct = b.by[i].direct || direct
			return
		}
	}
	if len(b.by) < mostAwaits && by != b {
		b.by = append(b.by, edge{by, direct})
	}
}

// next is an object on the way from an async method to the ones that await it.
type next struct {
	at     uint64
	far    int
	direct bool
}

// awaitedBy follows the continuations of a Task.
func (t *tasks) awaitedBy(b *box, at uint64, x *shape) {
	todo := []next{{t.get(at, x, "m_continuationObject"), 0, true}}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if t.steps++; t.steps > mostSteps {
			t.fail(fmt.Errorf("the async methods have more than %d links", mostSteps))
			return
		}
		if by := t.known[n.at]; by != nil {
			b.awaitedBy(by, n.direct)
			continue
		}
		x := t.object(n.at)
		if x == nil || n.far == mostFar {
			continue
		}
		follow := func(at uint64, direct bool) {
			if at != 0 {
				todo = append(todo, next{at, n.far + 1, n.direct && direct})
			}
		}
		if x.task {
			if t.flags(n.at, x)&isOver == 0 {
				follow(t.get(n.at, x, "m_continuationObject"), false)
			}
			continue
		}
		if x.own && x.name == listType {
			items, count := t.get(n.at, x, "_items"), uint32(0)
			if offset, ok := t.field(x, "_size"); ok {
				count = min(t.half(n.at+offset), t.half(items+wordSize), mostAwaits)
			}
			for i := range uint64(count) {
				follow(t.word(items+2*wordSize+wordSize*i), true)
			}
			continue
		}
		// A task that begins then, an action that is called then, or who is to be called.
		for _, name := range []string{"m_task", "m_action", "_target", "_continuation"} {
			if to := t.get(n.at, x, name); to != 0 {
				follow(to, name != "m_task")
				break
			}
		}
	}
}

// list returns the tasks.
func (t *tasks) list() (list []language.Task) {
	for _, b := range t.boxes {
		if b.inner != nil {
			continue
		}
		last := b // no method has two inner ones, so chains have no loops
		for last.outer != nil {
			last = last.outer
		}
		for x := b; x != nil; x = x.outer {
			x.chain = last
		}
	}
	for _, b := range t.boxes {
		if b.inner == nil && !t.spare(b) {
			list = append(list, t.task(b))
		}
	}
	return list
}

// spare reports whether an object is kept for the next call of its method: it has nothing of one.
func (t *tasks) spare(b *box) bool {
	return b.shape.pooled && b.state == 0 && b.awaits == 0 && len(b.by) == 0 && t.get(b.at, b.shape, "Context") == 0
}

// task returns the task whose innermost method is b.
func (t *tasks) task(b *box) language.Task {
	x := language.Task{ID: b.chain.at, Kind: "async method", State: "waiting", Frames: t.stack(b)}
	if offset, ok := t.field(b.chain.shape, "m_taskId"); ok && b.chain.shape.task {
		x.Number = uint64(t.half(b.chain.at + offset))
	}
	if b.state == stateRunning {
		x.State = "running"
	} else if awaited := t.object(b.awaits); awaited != nil {
		if awaited.task && t.flags(b.awaits, awaited)&isOver != 0 {
			x.State = "ready"
		}
		if name := awaited.called(); name != "" {
			x.Waits = []language.Lock{{Kind: "object", Name: name, Address: b.awaits, Level: 0}}
		}
	}
	for _, e := range b.chain.by {
		if e.by.chain != nil && !slices.Contains(x.AwaitedBy, e.by.chain.at) {
			x.AwaitedBy = append(x.AwaitedBy, e.by.chain.at)
		}
	}
	slices.Sort(x.AwaitedBy)
	return x
}

// stack returns the frames of a task. Equal ones are shared.
func (t *tasks) stack(b *box) []language.Frame {
	var key strings.Builder
	n := 0
	for x := b; ; x = x.outer {
		fmt.Fprintf(&key, "%d %d,", x.machine.number, x.state)
		if n++; x == b.chain {
			break
		}
	}
	if known := t.stacks[key.String()]; known != nil {
		return known
	}
	if t.frames += n; t.frames > mostFrames {
		t.fail(fmt.Errorf("the tasks have more than %d frames", mostFrames))
		return nil
	}
	list := make([]language.Frame, 0, n)
	for x := b; ; x = x.outer {
		if list = append(list, x.machine.frame(x.state)); x == b.chain {
			break
		}
	}
	t.stacks[key.String()] = list
	return list
}
