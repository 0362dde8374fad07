package php

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// mostObjects bounds the objects that are looked at.
const mostObjects = 4 << 20

// mostTasks bounds the tasks of a process.
const mostTasks = 1 << 17

// mostUnread bounds the objects that cannot be read. There are none in a process that is in order.
const mostUnread = 1000

// The states of a fiber: zend_fiber_status.
const (
	fiberInit      = 0
	fiberRunning   = 1
	fiberSuspended = 2
	fiberDead      = 3
)

// internalClass is the type of a class that is not written in PHP.
const internalClass = 1

// Tasks implements [language.Tasker]: fibers, and generators that do not run, in the order of the
// numbers of their objects, as var_dump has them.
func (e *engine) Tasks(m target.Memory) (list []language.Task, err error) {
	if e.where.threaded {
		return nil, errors.New("in a build for threads (ZTS) they are not known")
	}
	r := e.reader(m)
	defer r.Free()
	c := e.newChain(r, e.where.state)
	buckets := c.Pointer(c.globals + e.layout.at[globalsObjectBuckets])
	top := c.Uint(c.globals+e.layout.at[globalsObjectTop], 4)
	if err := c.Err(); err != nil || buckets == 0 {
		return nil, err
	}
	kinds := map[uint64]string{} // by class; "" for other classes
	awaited := map[uint64][]uint64{}
	seen := map[uint64]bool{} // of the list
	unread := 0
	for i := uint64(1); i < min(top, mostObjects); i++ {
		object := c.Pointer(buckets + 8*i)
		if err = c.Err(); err != nil {
			break
		}
		if object == 0 || object&1 != 0 {
			continue // the place is free
		}
		class := c.Pointer(object + e.layout.at[objectClass])
		kind, known := kinds[class]
		if !known && c.OK() {
			if name := c.className(class); c.Uint(class+e.layout.at[classType], 1) == internalClass && (name == "Fiber" || name == "Generator") {
				kind = name
			}
			if c.OK() && len(kinds) < mostTasks {
				kinds[class] = kind
			}
		}
		t := language.Task{ID: object, Number: i}
		is := false
		switch {
		case !c.OK():
			unread++
		case seen[object]: // no object has two numbers
		case kind == "Fiber" && e.layout.has(fiberStatus):
			is = c.fiber(&t)
		case kind == "Generator":
			is = c.generator(&t, awaited)
		}
		switch wrong := c.Err(); {
		case unread == mostUnread:
			err = wrong
		case is && (len(list) == mostTasks || c.left <= 0):
			err = fmt.Errorf("there are more than %d fibers and generators, or more than %d frames of them", mostTasks, mostCalls)
		case is:
			list, seen[t.ID] = append(list, t), true
		}
		if err != nil {
			break
		}
	}
	if top > mostObjects {
		err = cmp.Or(err, fmt.Errorf("there are %d objects: the last ones were not looked at", top))
	}
	for i := range list {
		list[i].AwaitedBy = awaited[list[i].ID]
	}
	return list, err
}

// fiber reads a fiber, and reports whether it has not ended.
func (c *chain) fiber(t *language.Task) bool {
	t.Kind = "fiber"
	switch c.Uint(t.ID+c.layout.at[fiberStatus], 4) {
	case fiberInit:
		t.State = "ready"
	case fiberRunning:
		t.State = "running" // a thread has its frames, or a fiber that it has resumed
	case fiberSuspended:
		t.State = "waiting"
		c.calls, c.bottom, c.waits = c.calls[:0], -1, nil
		bottom := c.Pointer(t.ID + c.layout.at[fiberBottom])
		if err := c.readUntil(c.Pointer(t.ID+c.layout.at[fiberCall]), bottom); err != nil {
			t.Early = err.Error()
		}
		t.Frames = c.parked()
	default:
		return false
	}
	return c.OK()
}

// generator reads a generator, and reports whether it waits.
func (c *chain) generator(t *language.Task, awaited map[uint64][]uint64) bool {
	record := c.Pointer(t.ID + c.layout.at[generatorCall])
	if record == 0 || c.runsGenerator(t.ID) {
		return false // it is over, or on a stack
	}
	one, _ := c.call(record)
	c.left--
	if !c.OK() || one.function == nil || !one.function.user() {
		return false
	}
	t.Kind, t.State = "generator", "waiting"
	c.calls = append(c.calls[:0], one)
	t.Frames = c.parked()
	if inner := c.Pointer(t.ID + c.layout.at[generatorParent]); inner != 0 { // it waits in a yield from
		awaited[inner] = append(awaited[inner], t.ID)
	}
	return c.OK()
}

// parked writes the calls that were read, none of which runs.
func (c *chain) parked() []language.Frame {
	p := placing{chain: c}
	p.add(0, len(c.calls), language.Anchor{}, nil)
	if len(p.groups) == 0 {
		return nil
	}
	return p.groups[0].Frames
}
