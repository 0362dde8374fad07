package python

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// Bounds of the tasks of one process, of the objects that are read for them, and of how many
// futures lead from one task to another.
const (
	mostTasks       = 1 << 18
	mostTaskObjects = 1 << 24
	mostFutures     = 8
)

// tasks are the tasks of asyncio in one process, as they are found.
type tasks struct {
	r     *interpreter
	o     *objects
	debug *asyncioOffsets // nil before 3.14
	at    map[uint64]int  // by address of the object: the index in list
	list  []language.Task
	waits []uint64 // for which future each one waits, 0 for none
	err   error    // the first
}

// Tasks implements [language.Tasker]: the tasks of asyncio.
func (r *interpreter) Tasks(m target.Memory) ([]language.Task, error) {
	mem := &memory{Memory: m, order: r.arch.Order, size: r.arch.PtrSize, layout: r.layout}
	t := &tasks{r: r, o: &objects{memory: mem, left: mostTaskObjects}, at: map[uint64]int{}}
	var states []threadState
	if err := r.eachThread(mem, func(s *threadState) bool { states = append(states, *s); return true }); err != nil {
		t.fail(err)
	}
	seen := map[uint64]bool{}
	if r.layout.minor >= 14 {
		t.debug = r.asyncioOffsets(m)
	}
	for i := range states {
		s := &states[i]
		t.ofThread(s)
		if !seen[s.interpreter] {
			seen[s.interpreter] = true
			t.ofInterpreter(s.interpreter)
		}
	}
	t.sort()
	t.awaitedBy()
	for i := range t.list {
		t.list[i].Thread = t.threadOf(t.list[i].ID, states)
	}
	return t.list, t.err
}

// sort brings the tasks in the order of their names, and of the numbers in these: sets have no
// order.
func (t *tasks) sort() {
	key := func(x *language.Task) (text string, n int) {
		text = strings.TrimRight(x.Name, "0123456789")
		n, _ = strconv.Atoi(x.Name[len(text):])
		return text, n
	}
	order := make([]int, len(t.list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		text, n := key(&t.list[a])
		other, m := key(&t.list[b])
		return cmp.Or(cmp.Compare(text, other), cmp.Compare(n, m), cmp.Compare(t.list[a].ID, t.list[b].ID))
	})
	list, waits := make([]language.Task, len(order)), make([]uint64, len(order))
	for to, from := range order {
		list[to], waits[to] = t.list[from], t.waits[from]
		t.at[list[to].ID] = to
	}
	t.list, t.waits = list, waits
}

func (t *tasks) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// ofInterpreter adds the tasks that the module asyncio.tasks lists: all of them up to 3.13, later
// the ones that are not asyncio's own.
func (t *tasks) ofInterpreter(interp uint64) {
	if t.debug != nil {
		t.nodes(interp + t.debug.interpreterHead)
	}
	o := t.o
	if !o.layout.has(interpreterModules, moduleDict) {
		return
	}
	modules, err := o.pointer(interp, interpreterModules)
	if err != nil || modules == 0 {
		return
	}
	module, err := o.lookUp(modules, "asyncio.tasks")
	if err != nil || module == 0 {
		return // the interpreter has no asyncio
	}
	dict, err := o.pointer(module, moduleDict)
	if err != nil {
		t.fail(err)
		return
	}
	for _, name := range []string{"_all_tasks", "_scheduled_tasks", "_eager_tasks"} {
		set, err := o.lookUp(dict, name)
		if err != nil || set == 0 {
			continue
		}
		c, err := o.typeOf(set)
		if err != nil {
			t.fail(err)
			continue
		}
		weak := c.name == "WeakSet"
		if weak {
			if set, err = o.attribute(set, "data"); err != nil || set == 0 {
				t.fail(fmt.Errorf("asyncio.tasks.%s has no data that can be read: %w", name, orNone(err)))
				continue
			}
		}
		if err := o.members(set, func(object uint64) bool {
			if weak {
				at, err := o.word(object + o.head()) // what the reference is to
				if err != nil {
					t.fail(err)
					return true
				}
				object = at
			}
			t.add(object)
			return true
		}); err != nil {
			t.fail(fmt.Errorf("asyncio.tasks.%s: %w", name, err))
		}
	}
}

var errNone = errors.New("there is none")

func orNone(err error) error {
	if err == nil {
		return errNone
	}
	return err
}

// add reads a task, unless it is over.
func (t *tasks) add(object uint64) {
	if _, known := t.at[object]; known || object == 0 {
		return
	}
	if len(t.list) == mostTasks {
		t.fail(fmt.Errorf("there are more than %d tasks", mostTasks))
		return
	}
	x, waits, err := t.read(object)
	if err != nil {
		t.fail(fmt.Errorf("the task at %#x: %w", object, err))
		return
	}
	if x.Kind == "" {
		return
	}
	t.at[object] = len(t.list)
	t.list, t.waits = append(t.list, x), append(t.waits, waits)
}

// maxTask bounds the part of a task that is looked at, bytes.
const maxTask = 1 << 10

// read reads one task. Its kind is "" if it is over.
func (t *tasks) read(object uint64) (x language.Task, waits uint64, err error) {
	o := t.o
	coroutine, name, waits, err := t.parts(object)
	if err != nil {
		return x, 0, err
	}
	x = language.Task{ID: object, Name: o.taskName(name)}
	frames, state, err := t.r.awaited(o, coroutine)
	if state == finished {
		return x, 0, nil
	}
	x.Kind, x.Frames = "asyncio task", frames
	if err != nil {
		x.Early = err.Error()
	}
	switch {
	case state == executing:
		x.State = "running"
	case waits != 0:
		x.State = "waiting"
	default:
		x.State = "ready"
	}
	return x, waits, nil
}

// parts returns the coroutine that a task runs, the object that is its name, and the future for
// which it waits. Their offsets are in a structure of C that no header has (TaskObj in
// Modules/_asynciomodule.c). In all releases it has the future, the coroutine and the name, one
// behind the other.
func (t *tasks) parts(object uint64) (coroutine, name, waits uint64, err error) {
	o := t.o
	c, err := o.typeOf(object)
	if err != nil {
		return 0, 0, 0, err
	}
	size, err := o.pointer(c.addr, typeBasicSize)
	if err != nil {
		return 0, 0, 0, err
	}
	words, err := o.words(object, int(min(size, maxTask)/uint64(o.size)))
	if err != nil {
		return 0, 0, 0, err
	}
	for i := int(o.head())/o.size + 1; i+1 < len(words); i++ {
		if words[i] == 0 || words[i+1] == 0 || words[i]%uint64(o.size) != 0 {
			continue
		}
		if !o.isCoroutine(words[i]) {
			continue
		}
		if named, err := o.typeOf(words[i+1]); err != nil || named.flags&(flagStr|flagInt) == 0 {
			continue
		}
		return words[i], words[i+1], words[i-1], nil
	}
	// A task that is written in Python.
	err = o.eachAttribute(object, func(key, value uint64) bool {
		switch {
		case o.isText(key, "_coro"):
			coroutine = value
		case o.isText(key, "_name"):
			name = value
		case o.isText(key, "_fut_waiter"):
			if c, err := o.typeOf(value); err == nil && c.name != "NoneType" {
				waits = value
			}
		}
		return true
	})
	if err == nil && (coroutine == 0 || !o.isCoroutine(coroutine)) {
		err = fmt.Errorf("no coroutine is found in this %s", c.qualified)
	}
	return coroutine, name, waits, err
}

// isCoroutine reports whether an object, if there is one, is what tasks run.
func (o *objects) isCoroutine(object uint64) bool {
	typ, is := o.isA(object, "coroutine")
	return is || typ != 0 && o.called(typ, "generator")
}

// taskName returns the name of a task: a string, or the number of a task that nobody has named.
func (o *objects) taskName(object uint64) string {
	if text, err := o.text(object, maxName); err == nil {
		return text
	}
	if n, _, err := o.integer(object); err == nil && n != nil {
		return "Task-" + n.String()
	}
	return ""
}

// awaitedBy finds out which task waits for which.
func (t *tasks) awaitedBy() {
	by := map[[2]int]bool{}
	link := func(waiter, awaited int) {
		if by[[2]int{waiter, awaited}] {
			return
		}
		by[[2]int{waiter, awaited}] = true
		x := &t.list[awaited]
		x.AwaitedBy = append(x.AwaitedBy, t.list[waiter].ID)
	}
	for i := range t.list {
		if t.waits[i] != 0 {
			t.futures(t.waits[i], 0, func(task int) { link(i, task) })
		}
		for _, parent := range t.parents(t.list[i].ID) {
			link(parent, i)
		}
	}
}

// futures calls do with the tasks to which a future leads: the future itself, or
// the ones that asyncio.gather has put together.
func (t *tasks) futures(future uint64, depth int, do func(task int)) {
	if i, ok := t.at[future]; ok {
		do(i)
		return
	}
	o := t.o
	c, err := o.typeOf(future)
	if err != nil || depth == mostFutures || c.name != "_GatheringFuture" {
		return
	}
	children, err := o.attribute(future, "_children")
	if err != nil || children == 0 {
		return
	}
	list, _, err := o.items(children, mostTasks)
	if err != nil {
		return
	}
	for _, child := range list {
		t.futures(child, depth+1, do)
	}
}

// parents returns the tasks that wait for a task by other ways: the one that is in the block of its
// TaskGroup, which the first function that is called when the task is over belongs to; from 3.14 on
// all that the task itself has noted.
func (t *tasks) parents(object uint64) (list []int) {
	o := t.o
	if t.debug != nil {
		t.noted(object, 0, func(task int) { list = append(list, task) })
	}
	// Its loop is followed by its first callback (FutureObj_HEAD).
	callback, err := o.word(object + o.head() + uint64(o.size))
	if err != nil || callback == 0 || !o.layout.has(methodSelf) {
		return list
	}
	if _, is := o.isA(callback, "method"); !is {
		return list
	}
	group, err := o.pointer(callback, methodSelf)
	if err != nil {
		return list
	}
	if c, err := o.typeOf(group); err != nil || c.name != "TaskGroup" {
		return list
	}
	// The parent waits for the group only at the end of the block.
	waits := uint64(0)
	parent := -1
	_ = o.eachAttribute(group, func(key, value uint64) bool {
		switch {
		case o.isText(key, "_parent_task"):
			if i, ok := t.at[value]; ok {
				parent = i
			}
		case o.isText(key, "_on_completed_fut"):
			waits = value
		}
		return true
	})
	if parent >= 0 && waits != 0 && t.waits[parent] == waits {
		list = append(list, parent)
	}
	return list
}

// threadOf returns the system's ID of the thread that runs a task's loop; 0 if it does not run.
func (t *tasks) threadOf(object uint64, states []threadState) int {
	o := t.o
	loop, err := o.word(object + o.head())
	if err != nil || loop == 0 {
		return 0
	}
	if c, err := o.typeOf(loop); err != nil || !c.heap() {
		return 0
	}
	id, err := o.attribute(loop, "_thread_id")
	if err != nil || id == 0 {
		return 0
	}
	n, _, err := o.integer(id)
	if err != nil || n == nil || !n.IsUint64() {
		return 0
	}
	for i := range states {
		if states[i].id == n.Uint64() {
			return int(states[i].native)
		}
	}
	return 0
}
