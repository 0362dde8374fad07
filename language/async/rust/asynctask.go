package rust

import (
	"debug/dwarf"
	"strings"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/value"
)

// Names of the crate async-task.
const (
	runName     = "async_task::raw::RawTask::run"
	taskName    = "async_task::task::Task"
	headerScope = "async_task::header::"
	localsName  = "async_std::task::builder::SupportTaskLocals" // around each task of async-std
)

// Bits of the word that has a task's state (async-task's state.rs; the same since 4.0).
const (
	asyncScheduled = 1
	asyncRunning   = 2
	asyncComplete  = 4
	asyncClosed    = 8
	asyncAwaiter   = 32
)

// taskLayout is where async-task keeps what all tasks have.
type taskLayout struct {
	state, awaiter, table uint64 // offsets in the header; awaiter is of the pointer to who waits for the task
	run, layout           uint64 // offsets in the table: of the function that runs, and of the pointer to the layout
	future, schedule      uint64 // offsets in the layout: of where the future and the function that schedules are
}

// taskLayout works out the layout; nil if the module has nothing of the crate.
func (r *program) taskLayout(work *int) *taskLayout {
	s := symbol.Search{Name: "Header", Begins: true, Tag: dwarf.TagStructType, Work: work}
	hits, _ := s.InModule(r.symbols, r.module) // what was found counts
	for _, h := range hits {
		if h.Scope == headerScope && !h.Declared {
			if l := newTaskLayout(r.types.TypeAt(h.Ref).Strip()); l != nil {
				return l
			}
		}
	}
	return nil
}

func newTaskLayout(header *value.Type) *taskLayout {
	state, ok1 := member(header, "state")
	awaiter, ok2 := member(header, "awaiter")
	table, ok3 := member(header, "vtable")
	if !ok1 || !ok2 || !ok3 || table.typ.Kind != value.Pointer {
		return nil
	}
	waker, ok := within(awaiter.typ, wakerName)
	if !ok {
		return nil
	}
	data, ok := member(waker.typ, "data")
	if !ok {
		return nil
	}
	of := table.typ.Elem().Strip()
	run, ok1 := member(of, "run")
	layout, ok2 := member(of, "layout_info")
	if !ok1 || !ok2 || layout.typ.Kind != value.Pointer {
		return nil
	}
	future, ok1 := member(layout.typ.Elem(), "offset_f")
	schedule, ok2 := member(layout.typ.Elem(), "offset_s")
	if !ok1 || !ok2 {
		return nil
	}
	return &taskLayout{
		state: state.offset, awaiter: awaiter.offset + waker.offset + data.offset, table: table.offset,
		run: run.offset, layout: layout.offset, future: future.offset, schedule: schedule.offset,
	}
}

// asyncCell is the type of async-task's tasks with one type of future.
type asyncCell struct {
	future *value.Type // nil if it is not known
	kind   string
	by     *executor // how the function that schedules it leads to its executor; nil if it does not
	number place     // of async-std: offset of the number in the future
	name   place     // of async-std: offset of the pointer to the name in the future
	text   *text
	plain  string // the name of the future's type, where nothing else is known
}

// text is how a String lies in memory: offsets of the pointer, and of the length.
type text struct{ data, length uint64 }

// asyncCellOf returns what is known of tasks that a function runs; nil if it is not async-task's.
func (r *program) asyncCellOf(run uint64) *asyncCell {
	if c, ok := r.asyncCells[run]; ok {
		return c
	}
	if len(r.asyncCells) >= mostShapes {
		clear(r.asyncCells)
	}
	c := r.newAsyncCell(run)
	r.asyncCells[run] = c
	return c
}

func (r *program) newAsyncCell(run uint64) *asyncCell {
	code := r.codeAt(run)
	if plain(code.name) != runName {
		return nil
	}
	c := &asyncCell{kind: "smol task"}
	_, args, _ := strings.Cut(code.name, "<")
	c.plain = firstArgument(args)
	if len(code.generic) == 0 {
		return c
	}
	c.future = code.generic[0].Strip()
	if strings.HasPrefix(r.nameOf(c.future), "blocking::") {
		c.kind = "blocking task"
	}
	if len(code.generic) > 2 {
		s := code.generic[2].Strip()
		p, ok := search(s, func(t *value.Type) bool { _, ok := executorOf(t); return ok && t.Kind == value.Pointer })
		if ok {
			x, _ := executorOf(p.typ)
			x.steps[0] += p.offset
			c.by = &x
		}
	}
	if locals, ok := within(c.future, localsName); ok {
		c.kind = "async-std task"
		c.number, c.name, c.text = taskOfStd(locals)
	}
	return c
}

// taskOfStd finds what async-std keeps of a task in its future: its number, and the pointer to its
// name.
func taskOfStd(locals place) (number, name place, _ *text) {
	task, ok := within(locals.typ, "async_std::task::task::Task")
	if !ok {
		return number, name, nil
	}
	at := locals.offset + task.offset
	if number, ok = within(task.typ, "async_std::task::task_id::TaskId"); ok {
		number.offset += at
	}
	p, ok := pointee(task.typ)
	if !ok {
		return number, name, nil
	}
	s, ok := within(p.typ, "alloc::string::String")
	if !ok {
		return number, name, nil
	}
	data, ok1 := pointee(s.typ)
	length, ok2 := member(s.typ, "len")
	if !ok1 || !ok2 {
		return number, name, nil
	}
	return number, place{at + p.offset, p.typ}, &text{s.offset + data.offset, s.offset + length.offset}
}

// addAsync adds the task of async-task at an address.
func (t *tasks) addAsync(at uint64) {
	if _, known := t.known[at]; known || t.async == nil {
		return
	}
	l := t.async.task
	table := t.Pointer(at + l.table)
	c := t.asyncCellOf(t.Pointer(table + l.run))
	if err := t.Err(); err != nil || c == nil {
		t.fail("the task at %#x is none of async-task's", at)
		return
	}
	if len(t.list) == mostTasks {
		t.fail("there are more than %d tasks", mostTasks)
		return
	}
	word, layout := t.Uint(at+l.state, 8), t.Pointer(table+l.layout)
	future, schedule := at+t.Uint(layout+l.future, 8), at+t.Uint(layout+l.schedule, 8)
	x := language.Task{ID: at, Kind: c.kind, State: asyncStateOf(word)}
	if word&asyncAwaiter != 0 {
		if by := t.Pointer(at + l.awaiter); by != 0 {
			t.awaiters = append(t.awaiters, [2]uint64{at, by})
		}
	}
	if err := t.Err(); err != nil {
		x.Early = err.Error()
	} else if c.future != nil && word&(asyncComplete|asyncClosed) == 0 {
		t.ofStd(&x, future, c)
	}
	i := len(t.list)
	t.known[at] = i
	t.list = append(t.list, x)
	switch {
	case x.Early != "":
	case c.future == nil:
		t.list[i].Early = errNoAsyncTypes.Error()
		t.list[i].Frames = []language.Frame{{Function: plain(c.plain)}}
	case x.State == "done" || x.State == "cancelled": // its future is gone
	case x.State == "running":
		t.list[i].Frames = []language.Frame{{Function: t.nameOf(c.future), Kind: "running"}}
	default:
		t.chain(i, future, c.future)
	}
	if c.by != nil {
		t.executor(schedule, c.by)
	}
}

// ofStd reads what async-std keeps of a task.
func (t *tasks) ofStd(x *language.Task, future uint64, c *asyncCell) {
	if c.number.typ != nil {
		x.Number = t.Uint(future+c.number.offset, 8)
	}
	if c.text != nil {
		if s := t.Pointer(future + c.name.offset); s != 0 {
			x.Name = t.Text(t.Pointer(s+c.text.data), t.Uint(s+c.text.length, 8))
		}
	}
	if err := t.Err(); err != nil {
		x.Number, x.Name = 0, ""
	}
}

// asyncStateOf says what a task of async-task does, by the word of its state.
func asyncStateOf(word uint64) string {
	switch {
	case word&asyncRunning != 0:
		return "running"
	case word&asyncComplete != 0:
		return "done"
	case word&asyncClosed != 0:
		return "cancelled"
	case word&asyncScheduled != 0:
		return "ready"
	}
	return "waiting"
}
