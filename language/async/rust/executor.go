package rust

import (
	"debug/dwarf"
	"strings"

	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// Names of the crate async-executor, which smol and async-std have their tasks in.
const (
	executorCrate = "async_executor::"
	executorName  = "async_executor::Executor"
	stateName     = "async_executor::State"
	slabName      = "slab::Slab"
	wakerName     = "core::task::wake::Waker"
)

// executor is how something leads to the state of an executor.
type executor struct {
	// steps are offsets of pointers, each in what the one before it points to.
	steps []uint64
	state *value.Type
}

// globals are the executors that smol and async-std have in variables, by the variable's name and
// scope; those with a thread of their own have the scope of a thread-local variable's parts.
var globals = [...]struct {
	name, scope string
}{
	{"GLOBAL_EXECUTOR", "async_global_executor::executor::"}, {"GLOBAL", "smol::spawn::spawn::"},
}

const localScope = "async_global_executor::executor::LOCAL_EXECUTOR::"

// global is an executor in a variable.
type global struct {
	at uint64 // its address; its offset in a thread's storage if local
	executor
}

// executors are what a program has of async-executor.
type executors struct {
	globals []global
	locals  []global
	task    *taskLayout
	active  map[*value.Type]*slab // by the type of the state
}

// findExecutors finds the executors of smol and async-std. It is nil if the module has nothing of
// the crate async-task.
func (r *program) findExecutors(work *int) *executors {
	layout := r.taskLayout(work)
	if layout == nil {
		return nil
	}
	x := &executors{task: layout, active: map[*value.Type]*slab{}}
	_, bias, err := r.module.PeekImage()
	if err != nil {
		return x
	}
	for _, g := range globals {
		for _, e := range r.variables(g.name, g.scope, work) {
			if at, ok := addressOf(e); ok {
				if to, ok := executorOf(r.types.TypeOf(e)); ok {
					x.globals = append(x.globals, global{at + bias, to})
				}
			}
		}
	}
	for _, name := range contextNames {
		for _, e := range r.variables(name, localScope, work) {
			if at, ok := threadOffset(e); ok {
				if to, ok := executorOf(r.types.TypeOf(e)); ok {
					x.locals = append(x.locals, global{at, to})
				}
			}
		}
	}
	return x
}

// variables returns the variables of a name in a scope, or in one that begins with it.
func (r *program) variables(name, scope string, work *int) (list []*symbol.Entry) {
	s := symbol.Search{Name: name, Tag: dwarf.TagVariable, Work: work}
	hits, _ := s.InModule(r.symbols, r.module) // what was found counts
	for _, h := range hits {
		if strings.HasPrefix(h.Scope, scope) {
			if e, err := r.symbols.Entry(h.Ref); err == nil {
				list = append(list, e)
			}
		}
	}
	return list
}

// executorOf says how an object of a type leads to the state of an executor that it has, or that it
// points to.
func executorOf(t *value.Type) (x executor, ok bool) {
	t = t.Strip()
	if t.Kind == value.Pointer {
		if to := t.Elem().Strip(); to.Kind == value.Struct {
			if s, ok := within(to, stateName); ok {
				return executor{[]uint64{0, s.offset}, s.typ}, true
			}
			if x, ok = executorOf(to); ok {
				x.steps = append([]uint64{0}, x.steps...)
			}
			return x, ok
		}
		return x, false
	}
	if s, ok := within(t, stateName); ok { // a StaticExecutor has it in itself, and lists nothing there
		return executor{[]uint64{s.offset}, s.typ}, true
	}
	at, ok := within(t, executorName)
	if !ok {
		return x, false
	}
	p, ok := search(at.typ, func(t *value.Type) bool {
		if t.Kind != value.Pointer {
			return false
		}
		_, ok := within(t.Elem(), stateName)
		return ok
	})
	if !ok {
		return x, false
	}
	s, _ := within(p.typ.Elem(), stateName)
	return executor{[]uint64{at.offset + p.offset, s.offset}, s.typ}, true
}

// slab is how a state leads to the wakers of its tasks.
type slab struct {
	data, count uint64 // offsets of the pointer to the entries, and of how many there are
	size        uint64 // bytes of an entry
	kind        choice // whether an entry is there: the case without parts is a vacant one
	occupied    int    // its number among the cases
	waker       uint64 // offset of the pointer to the task in an entry
}

// slabOf lays out the list of tasks in a state; nil if it is not as it should be.
func slabOf(state *value.Type) *slab {
	at, ok := within(state, slabName)
	if !ok {
		return nil
	}
	entries, ok := member(at.typ, "entries")
	if !ok {
		return nil
	}
	args := entries.typ.TemplateArguments()
	ptr, ok1 := pointee(entries.typ)
	count, ok2 := member(entries.typ, "len")
	if !ok1 || !ok2 || len(args) == 0 || args[0].Type == nil {
		return nil
	}
	elem := args[0].Type.Strip()
	size, ok := elem.SizeOf()
	if !ok || size == 0 {
		return nil
	}
	s := &slab{data: at.offset + entries.offset + ptr.offset, count: at.offset + entries.offset + count.offset, size: size, occupied: -1}
	d, cases, ok := elem.VariantCases()
	if !ok {
		return nil
	}
	if d != nil {
		n, _ := d.Type.SizeOf()
		s.kind.offset, s.kind.size = uint64(d.Offset), int(n)
	}
	for i, c := range cases {
		s.kind.cases = append(s.kind.cases, variant{labels: c.Labels})
		for j := range c.Fields {
			if w, ok := within(c.Fields[j].Type, wakerName); ok {
				if data, ok := member(w.typ, "data"); ok {
					s.occupied, s.waker = i, uint64(c.Fields[j].Offset)+w.offset+data.offset
				}
			}
		}
	}
	if s.occupied < 0 {
		return nil
	}
	return s
}

// executors lists the tasks of the executors that are in variables.
func (t *tasks) executors(threads []target.Thread) {
	if t.async == nil {
		return
	}
	for i := range t.async.globals {
		g := &t.async.globals[i]
		if len(g.steps) == 1 && t.isRun(g.at+g.steps[0], g.state) {
			t.fail("the program's StaticExecutor keeps no list of its tasks: only tasks that others wait for, and tasks that run, are there")
		}
		t.executor(g.at, &g.executor)
	}
	for _, th := range threads {
		tp, ok := threadPointer(t.arch, th)
		if !ok || len(t.async.locals) == 0 {
			continue
		}
		storage, err := t.storage.Storage(t.memory, t.module, tp)
		if err != nil {
			continue // the thread has never used it
		}
		for i := range t.async.locals {
			g := &t.async.locals[i]
			t.executor(storage+g.at, &g.executor)
		}
	}
}

// isRun reports whether threads run the executor whose state is at an address: each has a queue in
// it.
func (t *tasks) isRun(at uint64, state *value.Type) bool {
	queues, ok := member(state, "local_queues")
	if !ok {
		return false
	}
	count, ok := member(queues.typ, "len")
	return ok && t.Uint(at+queues.offset+count.offset, 8) != 0 && t.Err() == nil
}

// executor lists the tasks of the executor to which an object leads. One that has never been used
// has no state.
func (t *tasks) executor(at uint64, x *executor) {
	for _, offset := range x.steps[:len(x.steps)-1] {
		if at = t.Pointer(at + offset); at == 0 {
			t.Err()
			return
		}
	}
	t.state(at+x.steps[len(x.steps)-1], x.state)
}

// state lists the tasks of an executor whose state is at an address.
func (t *tasks) state(at uint64, typ *value.Type) {
	if t.async == nil || t.begun(at) {
		return
	}
	s, ok := t.async.active[typ]
	if !ok {
		s = slabOf(typ)
		t.async.active[typ] = s
	}
	if s == nil {
		t.fail("the type %s has no list of tasks that is known", plain(typ.FullName()))
		return
	}
	data, n := t.Pointer(at+s.data), t.Uint(at+s.count, 8)
	if err := t.Err(); err != nil {
		t.fail("the executor at %#x: %w", at, err)
		return
	}
	if n > mostTasks {
		t.fail("the executor at %#x has room for %d tasks", at, n)
		return
	}
	for i := range n {
		entry, is := data+i*s.size, uint64(0)
		if s.kind.size > 0 {
			is = t.Uint(entry+s.kind.offset, s.kind.size)
		}
		if !t.step() {
			return
		}
		if v := s.kind.pick(is); v != &s.kind.cases[s.occupied] {
			continue
		}
		task := t.Pointer(entry + s.waker)
		if err := t.Err(); err != nil {
			t.fail("the executor at %#x: %w", at, err)
			return
		}
		t.addAsync(task)
	}
}

// begun notes that the tasks of a scheduler at an address are listed. It reports whether they were
// before, or there are too many schedulers.
func (t *tasks) begun(at uint64) bool {
	if at == 0 || t.scheduled[at] {
		return true
	}
	if len(t.scheduled) == mostLists {
		t.fail("there are more than %d schedulers", mostLists)
		return true
	}
	t.scheduled[at] = true
	return false
}
