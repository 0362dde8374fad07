package rust

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// Bounds of the tasks of one process.
const (
	mostTasks   = 1 << 20
	mostFrames  = 1 << 20 // of all tasks; equal stacks count once
	mostDeep    = 1 << 10 // futures that wait for each other
	mostShards  = 1 << 16
	mostLists   = 1 << 10 // schedulers and LocalSets
	mostListed  = 1 << 16 // futures of one set
	mostThreads = 1 << 16
	mostSteps   = 1 << 24 // from one future to another, in all
)

// tasks are the tasks of a process, as they are found.
type tasks struct {
	*program
	*structs.Reader
	memory target.Memory

	known     map[uint64]int  // by the address of the header: their places in list
	wait      []uint64        // headers of tasks to which handles lead
	branches  []branch        // what tasks wait for, as far as it is not listed yet
	scheduled map[uint64]bool // schedulers and LocalSets whose tasks are listed
	awaiters  [][2]uint64     // tasks of async-task, and what a waker of who waits for each leads to
	seen      map[uint64]bool
	list      []language.Task
	awaited   map[uint64][]uint64 // the IDs of the tasks that wait for each
	runs      map[uint64]int      // by number: the thread that runs the task
	currents  map[int]uint64      // the reverse
	header    *value.Type         // of all tasks
	stacks    map[string][]language.Frame
	frames    int
	steps     int
	untyped   bool // parts has come to a future whose type is not known
	spots     []spot
	key       []byte
	err       error
}

// Tasks implements [language.Tasker].
func (r *program) Tasks(m target.Memory) ([]language.Task, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.newTasks(m)
	defer t.Free()
	r.types.Memory = m
	threads, err := r.threads()
	if err != nil {
		return nil, err
	}
	threads = threads[:min(len(threads), mostThreads)]
	if t.tokio {
		for _, th := range threads {
			t.thread(th)
		}
	}
	t.executors(threads)
	for _, th := range threads {
		t.stack(th)
	}
	t.rest()
	for _, a := range t.awaiters {
		if by := a[1]; t.isKnown(by) && !slices.Contains(t.awaited[a[0]], by) {
			t.awaited[a[0]] = append(t.awaited[a[0]], by)
		}
	}
	for i := range t.list {
		x := &t.list[i]
		if id, ok := t.runs[x.Number]; ok && x.State == "running" && x.Thread == 0 {
			x.Thread = id
		}
		x.AwaitedBy = append(x.AwaitedBy, t.awaited[x.ID]...)
	}
	slices.SortStableFunc(t.list, func(a, b language.Task) int { return cmp.Compare(a.Number, b.Number) })
	return t.list, t.err
}

func (r *program) newTasks(m target.Memory) *tasks {
	return &tasks{
		program: r, Reader: structs.New(r.arch, m, &r.pages), memory: m, known: map[uint64]int{}, scheduled: map[uint64]bool{}, seen: map[uint64]bool{},
		awaited: map[uint64][]uint64{}, runs: map[uint64]int{}, currents: map[int]uint64{}, stacks: map[string][]language.Frame{},
	}
}

// rest adds what the tasks that are listed wait for.
func (t *tasks) rest() {
	for len(t.wait)+len(t.branches) > 0 {
		if n := len(t.branches); n > 0 {
			b := t.branches[n-1]
			t.branches = t.branches[:n-1]
			t.branch(b.of, b.found)
			continue
		}
		at := t.wait[len(t.wait)-1]
		t.wait = t.wait[:len(t.wait)-1]
		t.add(at)
	}
}

// isKnown reports whether a task at an address is listed.
func (t *tasks) isKnown(at uint64) bool {
	_, ok := t.known[at]
	return ok
}

// fail notes why the list is not whole.
func (t *tasks) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
}

// thread looks for the scheduler that a thread belongs to.
func (t *tasks) thread(th target.Thread) {
	tp, ok := threadPointer(t.arch, th)
	if !ok {
		return
	}
	storage, err := t.storage.Storage(t.memory, t.module, tp)
	if err != nil {
		return // the thread has never used it
	}
	at := storage + t.context.storage
	if c := &t.context; c.task.typ != nil {
		if id := t.Uint(at+c.task.offset, 8); id != 0 {
			t.runs[id], t.currents[th.ID()] = th.ID(), id
		}
	}
	h, n := &t.context.handle, uint64(0)
	if h.size > 0 {
		n = t.Uint(at+h.offset, h.size)
	}
	if t.Err() != nil {
		return
	}
	for i := range h.kinds {
		if k := &h.kinds[i]; h.size == 0 || k.has(n) {
			t.owner(t.Pointer(at+k.offset), k.typ)
		}
	}
}

// owner lists the tasks of a scheduler, or of a LocalSet, that is at an address.
func (t *tasks) owner(at uint64, typ *value.Type) {
	if t.Err() != nil || t.begun(at) {
		return
	}
	o := t.ownerOf(typ)
	if o == nil {
		t.fail("the type %s has no list of tasks that is known", plain(typ.FullName()))
		return
	}
	t.header = o.header
	for _, head := range o.heads {
		t.follow(t.Pointer(at + head))
	}
	if s := o.shards; s != nil {
		data, n := t.Pointer(at+s.data), t.Uint(at+s.count, 8)
		if n > mostShards {
			t.fail("the scheduler at %#x has %d lists of tasks", at, n)
			n = 0
		}
		for i := range n {
			t.follow(t.Pointer(data + i*s.size + s.head))
		}
	}
	if o.pool != nil {
		t.queued(at, o.pool)
	}
	if err := t.Err(); err != nil {
		t.fail("the scheduler at %#x: %w", at, err)
	}
}

// follow adds the tasks of a list from the first one on.
func (t *tasks) follow(at uint64) {
	if err := t.Err(); err != nil {
		t.fail("a list of tasks: %w", err)
		return
	}
	mark, n, far := uint64(0), 0, 1 // a list that leads back comes to a mark (Brent's algorithm)
	for at != 0 && t.step() {
		if at == mark {
			t.fail("a list of tasks leads back to %#x", at)
			return
		}
		if n++; n == far {
			mark, n, far = at, 0, 2*far
		}
		next, ok := t.add(at)
		if !ok {
			return
		}
		at = next
	}
}

var errNoTask = errors.New("it is no task of tokio's")

// add adds the task at an address, unless it is a worker of tokio's own, and returns the next one
// in its list.
func (t *tasks) add(at uint64) (next uint64, ok bool) {
	if t.header == nil {
		return 0, false
	}
	l := t.layoutOf(t.header)
	if l == nil {
		t.fail("the layout of tokio's tasks is not known")
		return 0, false
	}
	table := t.Pointer(at + l.table)
	c, is := t.cellOf(t.Pointer(table + l.poll))
	if err := t.Err(); err != nil || !is {
		t.fail("the task at %#x: %w", at, cmp.Or(err, errNoTask))
		return 0, false
	}
	next = t.Pointer(at + t.Uint(table+l.trailer, 8) + t.context.link)
	if err := t.Err(); err != nil {
		t.fail("the task at %#x: %w", at, err)
		next = 0
	}
	if _, known := t.known[at]; known || strings.HasPrefix(c.closure, workerScope) {
		return next, true
	}
	if len(t.list) == mostTasks {
		t.fail("there are more than %d tasks", mostTasks)
		return 0, false
	}
	word := t.Uint(at+l.state, 8)
	x := language.Task{ID: at, Kind: c.kind, State: stateOf(word)}
	x.Number, _ = t.numberOf(at, table, l, c)
	if err := t.Err(); err != nil {
		x.Early = err.Error()
	}
	i := len(t.list)
	t.known[at] = i
	t.list = append(t.list, x)
	t.inside(i, at, c)
	return next, true
}

// numberOf reads the number of a task; ok is false if tokio does not keep one.
func (t *tasks) numberOf(at, table uint64, l *layout, c *cell) (n uint64, ok bool) {
	switch {
	case l.hasID:
		return t.Uint(at+t.Uint(table+l.id, 8), 8), true
	case c.hasID:
		return t.Uint(at+c.id, 8), true
	}
	return 0, false
}

// stateOf says what a task does, by the word of its state.
func stateOf(word uint64) string {
	switch {
	case word&taskRunning != 0:
		return "running"
	case word&taskComplete != 0:
		return "done"
	case word&taskNotified != 0:
		return "ready"
	case word&taskCancelled != 0:
		return "cancelled"
	}
	return "waiting"
}

// inside has the frames of a task: of its future and what that waits for.
func (t *tasks) inside(i int, at uint64, c *cell) {
	x := &t.list[i]
	if c.unsupported != "" {
		x.Early = c.unsupported
		if c.name != "" {
			x.Frames = []language.Frame{{Function: plain(c.name)}}
		}
		return
	}
	switch x.State {
	case "done": // it has its result in the place of the future
	case "running": // the future changes; its frames are on the stack of its thread
		name := t.nameOf(c.future)
		if c.closure != "" {
			name = c.closure
		}
		x.Frames = []language.Frame{{Function: name, Kind: "running"}}
	default:
		if c.closure != "" {
			x.Frames = []language.Frame{{Function: c.closure, Kind: "not begun"}}
			return
		}
		t.chain(i, at+c.offset, c.future)
	}
}

// nameOf returns the name of a future that is shown, or of the one that it is around.
func (r *program) nameOf(future *value.Type) string {
	s := r.shapeOf(future)
	for s.name == "" && len(s.parts) == 1 && s.parts[0].of != nil {
		s = s.parts[0].of
	}
	return s.name
}

// spot is a future that is on the way to what a task waits for.
type spot struct {
	of    *shape
	state *state // of an async function
}

// framesOf returns the frames of the futures on the way, the innermost first. Thousands of tasks
// have the same.
func (t *tasks) framesOf(spots []spot) []language.Frame {
	t.key = t.key[:0]
	for _, s := range spots {
		t.key = binary.LittleEndian.AppendUint32(t.key, s.of.id)
		n := ^uint64(0)
		if s.state != nil {
			n = s.state.number
		}
		t.key = binary.LittleEndian.AppendUint64(t.key, n)
	}
	if list, ok := t.stacks[string(t.key)]; ok {
		return list
	}
	if t.frames += len(spots); t.frames > mostFrames {
		t.fail("there are more than %d frames of tasks", mostFrames)
		return nil
	}
	list := make([]language.Frame, 0, len(spots))
	for _, s := range slices.Backward(spots) {
		f := language.Frame{Function: s.of.name}
		if s.state != nil {
			f.File, f.Line = s.state.file, s.state.line
			switch s.state.name {
			case "Unresumed":
				f.Kind = "not begun"
			case "Returned":
				f.Kind = "returned"
			case "Panicked":
				f.Kind = "panicked"
			}
		}
		list = append(list, f)
	}
	t.stacks[string(t.key)] = list
	return list
}
