package python

import "fmt"

// Bounds of the threads that have run trio, and of the words of an object of thread-local
// variables.
const (
	mostLocals     = 1 << 12
	mostLocalWords = 16
)

// ofTrio adds the tasks of trio: each of its runs keeps them in a set. A run is a variable
// of the thread that it is in.
func (t *tasks) ofTrio(modules uint64) {
	o := t.o
	dict := o.dictOf(modules, "trio._core._run")
	if dict == 0 {
		return
	}
	context, err := o.lookUp(dict, "GLOBAL_RUN_CONTEXT")
	if err != nil || context == 0 {
		t.fail(fmt.Errorf("trio has no GLOBAL_RUN_CONTEXT: %w", orNone(err)))
		return
	}
	err = o.eachThreadLocal(context, "runner", func(run uint64) { t.ofRun(run) })
	if err != nil {
		t.fail(fmt.Errorf("trio's GLOBAL_RUN_CONTEXT: %w", err))
	}
}

// eachThreadLocal calls do with the values that a variable of a threading.local has in the threads.
// Such an object has a dictionary of the threads' own ones (localobject in Modules/_threadmodule.c;
// which of its words that is depends on the release).
func (o *objects) eachThreadLocal(object uint64, name string, do func(value uint64)) error {
	c, err := o.typeOf(object)
	if err != nil {
		return err
	}
	for n := 0; !c.isLocal(); n++ {
		if c.base == 0 || n == mostBases {
			return fmt.Errorf("the %s at %#x has no variables of threads", c.name, object)
		}
		if c, err = o.class(c.base); err != nil {
			return err
		}
	}
	size, err := o.pointer(c.addr, typeBasicSize)
	if err != nil {
		return err
	}
	head := o.head()
	words, err := o.words(object+head, int(min((max(size, head)-head)/uint64(o.size), mostLocalWords)))
	if err != nil {
		return err
	}
	for _, w := range words {
		if w == 0 || w%uint64(o.size) != 0 {
			continue
		}
		if _, is := o.isA(w, "dict"); !is {
			continue
		}
		n := 0
		err := o.each(w, func(_, of uint64) bool {
			if _, is := o.isA(of, "dict"); is {
				if value, err := o.lookUp(of, name); err == nil && value != 0 {
					do(value)
				}
			}
			n++
			return n < mostLocals
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// isLocal reports whether a type is threading.local as C has it.
func (c *class) isLocal() bool { return c.name == "_thread._local" }

// ofRun adds the tasks of one run of trio.
func (t *tasks) ofRun(run uint64) {
	o := t.o
	set, err := o.attribute(run, "tasks")
	if err != nil || set == 0 {
		t.fail(fmt.Errorf("the run of trio at %#x has no tasks: %w", run, orNone(err)))
		return
	}
	thread := t.threadOfRun(run)
	err = o.members(set, func(task uint64) bool {
		t.add(task, func(object uint64) (found, error) {
			x, err := t.readTrio(object)
			x.Thread = thread
			return x, err
		})
		return true
	})
	if err != nil {
		t.fail(fmt.Errorf("the tasks of the run of trio at %#x: %w", run, err))
	}
}

// threadOfRun returns the system's ID of the thread in which a run is: one of its functions has it
// as a variable. It is 0 if that is not known, as of a run that is a guest of another loop.
func (t *tasks) threadOfRun(run uint64) int {
	for i := range t.states {
		c := chain{r: t.r, m: t.o.memory}
		for _, f := range c.all(&t.states[i]) { // what cannot be read is not the run's
			if (f.Function == "run" || f.Function == "unrolled_run") && t.o.nameOf(run, &f) == "runner" {
				return int(t.states[i].native)
			}
		}
	}
	return 0
}

// readTrio reads one task of trio.
func (t *tasks) readTrio(object uint64) (x found, err error) {
	o := t.o
	var coroutine, nursery uint64
	ready := false
	err = o.eachAttribute(object, func(key, value uint64) bool {
		name, err := o.text(key, maxName)
		switch {
		case err != nil:
		case name == "coro":
			coroutine = value
		case name == "name":
			x.Name = o.taskName(value)
		case name == "_parent_nursery":
			nursery = value
		case name == "_next_send_fn": // what lets it go on
			c, err := o.typeOf(value)
			ready = err == nil && c.name != "NoneType"
		}
		return true
	})
	if err != nil {
		return x, err
	}
	if coroutine == 0 || !o.isCoroutine(coroutine) {
		return x, errNoCoroutine
	}
	x.ID = object
	if c, err := o.typeOf(nursery); nursery != 0 && err == nil && c.name != "NoneType" {
		if x.below, err = o.attribute(nursery, "_parent_task"); err != nil {
			return x, err
		}
	}
	t.runs(&x, coroutine, "trio task", !ready)
	return x, nil
}
