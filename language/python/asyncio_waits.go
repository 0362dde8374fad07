package python

import (
	"path"

	"github.com/sfwalk/sfwalk/language"
)

// asyncioBlockers are what tasks of asyncio wait for, beside each other. A task waits for a future
// within, which the innermost method keeps as a variable.
var asyncioBlockers = []blocker{
	{"Lock", "asyncio.locks.Lock", "asyncio/locks.py", "acquire", ""},
	{"Event", "asyncio.locks.Event", "asyncio/locks.py", "wait", ""},
	{"Condition", "asyncio.locks.Condition", "asyncio/locks.py", "wait wait_for", ""},
	{"Semaphore", "asyncio.locks.Semaphore", "asyncio/locks.py", "acquire", ""},
	{"Barrier", "asyncio.locks.Barrier", "asyncio/locks.py", "wait _wait _block", ""},
	{"Queue", "asyncio.queues.Queue", "asyncio/queues.py", "get put join", ""},
}

// waitsFor adds the object for which a task waits, if it is not another task.
func (t *tasks) waitsFor(x *found) {
	if x.waits == 0 {
		return
	}
	outside := outsideOf(asyncioBlockers, x.Frames)
	if outside == 0 {
		return
	}
	o, f := t.o, &x.Frames[0]
	known := false
	for _, name := range []string{"fut", "getter", "putter"} {
		known = known || o.variable(f, name) == x.waits
	}
	if !known {
		return
	}
	b, self, at := o.inside(asyncioBlockers, x.Frames[:outside], func(*blocker, uint64) bool { return true })
	if b != nil {
		x.Waits = []language.Lock{{Kind: b.kind, Address: self, Name: o.nameAround(self, x.Frames, at+1, outside)}}
	}
}

// helped calls do with the tasks for which a task waits in asyncio.wait or asyncio.wait_for: these
// keep the futures as a variable, and wait for another future.
func (t *tasks) helped(x *found, do func(task int)) {
	if len(x.Frames) == 0 || path.Base(x.Frames[0].File) != "tasks.py" {
		return
	}
	o, f := t.o, &x.Frames[0]
	if f.Function != "wait_for" && f.Function != "_wait" || o.variable(f, "waiter") != x.waits {
		return
	}
	switch f.Function {
	case "wait_for": // up to 3.11
		if future := o.variable(f, "fut"); future != 0 {
			t.futures(future, 1, do)
		}
	case "_wait":
		of := o.variable(f, "fs")
		c, err := o.typeOf(of)
		if of == 0 || err != nil {
			return
		}
		if c.flags&(flagList|flagTuple) != 0 {
			list, _, _ := o.items(of, mostTasks)
			for _, future := range list {
				t.futures(future, 1, do)
			}
		} else if c.name == "set" || c.name == "frozenset" {
			_ = o.members(of, func(future uint64) bool { t.futures(future, 1, do); return true })
		}
	}
}

// shielded returns the future around which asyncio.shield has put another one; 0 if it has not. Up
// to 3.13 the outer one's first callback has the inner one in a cell.
func (t *tasks) shielded(outer uint64) uint64 {
	o, l := t.o, t.o.layout
	callback, err := o.word(outer + o.head() + uint64(o.size))
	if err != nil || callback == 0 || !l.has(functionName) {
		return 0
	}
	if _, is := o.isA(callback, "function"); !is {
		return 0
	}
	if name, err := o.fieldText(callback, functionName); err != nil || name != "shield.<locals>._outer_done_callback" {
		return 0
	}
	// PyFunctionObject: func_closure is the fourth word behind the qualified name, up to 3.9 the
	// fifth one behind the head.
	closure := l.at[functionName]
	if l.minor < 10 {
		closure = o.head()
	}
	cells, err := o.word(callback + closure + 4*uint64(o.size))
	if err != nil {
		return 0
	}
	list, _, err := o.items(cells, mostFutures)
	if err != nil {
		return 0
	}
	for _, cell := range list {
		inner := o.inCell(cell)
		if c, err := o.typeOf(inner); inner != 0 && err == nil && c.name != "function" {
			return inner
		}
	}
	return 0
}
