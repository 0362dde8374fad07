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

// tasks are the tasks of one process, as they are found.
type tasks struct {
	r      *interpreter
	o      *objects
	states []threadState
	debug  *asyncioOffsets // nil before 3.14
	at     map[uint64]int  // by address of the object: the index in list
	loops  map[uint64]int  // by address of a loop: the system's ID of the thread that runs it
	list   []found
	err    error // the first
}

// asyncioTask is the kind of asyncio's tasks.
const asyncioTask = "asyncio task"

// found is a task.
type found struct {
	language.Task
	waits uint64 // the future for which a task of asyncio waits, 0 for none
	below uint64 // the task that cannot go on before this one is over, 0 for none
}

// Tasks implements [language.Tasker]: the tasks of asyncio and of trio, and greenlets.
func (r *interpreter) Tasks(m target.Memory) ([]language.Task, error) {
	near := r.pages.Of(m)
	defer r.pages.Free(near)
	mem := r.memory(near)
	t := &tasks{r: r, o: &objects{memory: mem, left: mostTaskObjects}, at: map[uint64]int{}, loops: map[uint64]int{}}
	if err := r.eachThread(mem, func(s *threadState) bool { t.states = append(t.states, *s); return true }); err != nil {
		t.fail(err)
	}
	seen := map[uint64]bool{}
	if r.layout.minor >= 14 {
		t.debug = r.asyncioOffsets(m)
	}
	for i := range t.states {
		s := &t.states[i]
		t.ofThread(s)
		if !seen[s.interpreter] {
			seen[s.interpreter] = true
			t.ofInterpreter(s.interpreter)
		}
	}
	t.sort()
	t.awaitedBy()
	list := make([]language.Task, len(t.list))
	for i := range t.list {
		list[i] = t.list[i].Task
	}
	return list, t.err
}

// sort brings the tasks in the order of their names, and of the numbers in these: sets have no
// order.
func (t *tasks) sort() {
	type key struct {
		at   int // in the list
		text string
		n    int
	}
	keys := make([]key, len(t.list))
	for i := range t.list {
		name := t.list[i].Name
		k := key{at: i, text: strings.TrimRight(name, "0123456789")}
		k.n, _ = strconv.Atoi(name[len(k.text):])
		keys[i] = k
	}
	slices.SortFunc(keys, func(k, other key) int {
		a, b := &t.list[k.at], &t.list[other.at]
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(k.text, other.text), cmp.Compare(k.n, other.n), cmp.Compare(a.ID, b.ID))
	})
	list := make([]found, len(keys))
	for i, k := range keys {
		list[i] = t.list[k.at]
	}
	t.list = list
	for i := range t.list {
		t.at[t.list[i].ID] = i
	}
}

func (t *tasks) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// ofInterpreter adds the tasks of an interpreter. The module asyncio.tasks lists all tasks of
// asyncio up to 3.13, later the ones that are not of asyncio's own type.
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
	t.ofTrio(modules)
	t.ofGreenlets(interp, modules)
	dict := o.dictOf(modules, "asyncio.tasks")
	if dict == 0 {
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
			t.add(object, t.read)
			return true
		}); err != nil {
			t.fail(fmt.Errorf("asyncio.tasks.%s: %w", name, err))
		}
	}
}

var (
	errNone        = errors.New("there is none")
	errNoCoroutine = errors.New("it has no coroutine that can be read")
)

func orNone(err error) error {
	if err == nil {
		return errNone
	}
	return err
}

// dictOf returns the dictionary of a module by its name; 0 if the interpreter has none.
func (o *objects) dictOf(modules uint64, name string) uint64 {
	module, err := o.lookUp(modules, name)
	if err != nil || module == 0 {
		return 0
	}
	dict, err := o.pointer(module, moduleDict)
	if err != nil {
		return 0
	}
	return dict
}

// add adds a task that read reads, unless it is over.
func (t *tasks) add(object uint64, read func(object uint64) (found, error)) {
	if _, known := t.at[object]; known || object == 0 {
		return
	}
	if len(t.list) == mostTasks {
		t.fail(fmt.Errorf("there are more than %d tasks", mostTasks))
		return
	}
	x, err := read(object)
	if err != nil {
		t.fail(fmt.Errorf("the task at %#x: %w", object, err))
		return
	}
	if x.Kind == "" {
		return
	}
	t.at[object] = len(t.list)
	t.list = append(t.list, x)
}

// maxTask bounds the part of a task that is looked at, bytes.
const maxTask = 1 << 10

// read reads one task of asyncio. Its kind is "" if it is over.
func (t *tasks) read(object uint64) (x found, err error) {
	coroutine, name, waits, err := t.parts(object)
	if err != nil {
		return x, err
	}
	x.Task = language.Task{ID: object, Name: t.o.taskName(name), Thread: t.threadOf(object)}
	x.waits = waits
	t.runs(&x, coroutine, asyncioTask, waits != 0)
	t.waitsFor(&x)
	return x, nil
}

// runs fills in what a task's coroutine says of it. waits says that nothing lets it go on yet.
func (t *tasks) runs(x *found, coroutine uint64, kind string, waits bool) {
	frames, state, err := t.r.awaited(t.o, coroutine)
	if state == finished {
		return
	}
	x.Kind, x.Frames = kind, frames
	if err != nil {
		x.Early = err.Error()
	}
	switch {
	case state == executing:
		x.State = "running"
	case waits:
		x.State = "waiting"
	default:
		x.State = "ready"
	}
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
		err = errNoCoroutine
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
		x := &t.list[i]
		if x.waits != 0 {
			t.futures(x.waits, 0, func(task int) { link(i, task) })
			if t.debug == nil {
				t.helped(x, func(task int) { link(i, task) })
			}
		}
		if x.Kind == asyncioTask {
			for _, parent := range t.parents(x.ID) {
				link(parent, i)
			}
		} else if parent, ok := t.at[x.below]; ok {
			link(parent, i)
		}
	}
}

// futures calls do with the tasks to which a future leads: the future itself, or the ones that
// asyncio.gather has put together, up to 3.13 also the one that asyncio.shield has put it around.
func (t *tasks) futures(future uint64, depth int, do func(task int)) {
	if i, ok := t.at[future]; ok {
		do(i)
		return
	}
	o := t.o
	c, err := o.typeOf(future)
	if err != nil || depth == mostFutures {
		return
	}
	if t.debug == nil && (c.name == "Future" || c.name == "_asyncio.Future") {
		if inner := t.shielded(future); inner != 0 {
			t.futures(inner, depth+1, do)
		}
	}
	if c.name != "_GatheringFuture" {
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
	if parent >= 0 && waits != 0 && t.list[parent].waits == waits {
		list = append(list, parent)
	}
	return list
}

// threadOf returns the system's ID of the thread that runs the loop of a task of asyncio; 0 if it
// does not run.
func (t *tasks) threadOf(object uint64) int {
	o := t.o
	loop, err := o.word(object + o.head())
	if err != nil || loop == 0 {
		return 0
	}
	thread, known := t.loops[loop]
	if !known {
		thread = t.threadOfLoop(loop)
		t.loops[loop] = thread
	}
	return thread
}

// threadOfLoop is threadOf for a loop.
func (t *tasks) threadOfLoop(loop uint64) int {
	if c, err := t.o.typeOf(loop); err != nil || !c.heap() {
		return 0
	}
	id, err := t.o.attribute(loop, "_thread_id")
	if err != nil {
		return 0
	}
	return t.threadByID(id)
}

// threadByID returns the system's ID of the thread whose pthread_self() is an integer object; 0 if
// there is none.
func (t *tasks) threadByID(object uint64) int {
	if object == 0 {
		return 0
	}
	n, _, err := t.o.integer(object)
	if err != nil || n == nil || !n.IsUint64() {
		return 0
	}
	for i := range t.states {
		if t.states[i].id == n.Uint64() {
			return int(t.states[i].native)
		}
	}
	return 0
}
