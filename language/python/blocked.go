package python

import (
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/language"
)

// Much of what threads wait for is written in Python (Lib/threading.py, Lib/queue.py,
// Lib/concurrent/futures, Lib/importlib/_bootstrap.py): a thread waits for a lock that is inside of
// it. Which object that is say the methods that run.

// blocker is a kind of object in whose methods threads wait.
type blocker struct {
	kind    string
	class   string // with its module
	file    string // the end of its path
	methods string
	lock    string // the attribute with the lock for which threads wait; "" if it is a Condition's waiter
}

const (
	kindImport = "import lock"
	kindFuture = "Future"
	kindThread = "Thread"
)

var blockers = []blocker{
	{"Condition", "threading.Condition", "threading.py", "wait wait_for", ""},
	{"Event", "threading.Event", "threading.py", "wait", ""},
	{"Semaphore", "threading.Semaphore", "threading.py", "acquire", ""},
	{"Barrier", "threading.Barrier", "threading.py", "wait _wait _enter", ""},
	{kindThread, "threading.Thread", "threading.py", "join _wait_for_tstate_lock", "_tstate_lock"},
	{"Queue", "queue.Queue", "queue.py", "get put join", ""},
	{kindFuture, "concurrent.futures._base.Future", "concurrent/futures/_base.py", "result exception", ""},
	{kindImport, "_frozen_importlib._ModuleLock", "importlib._bootstrap>", "acquire", "wakeup"},
}

// mostInside bounds the functions in which a thread is inside of what it waits for.
const mostInside = 8

// method returns the name of a frame's function without its class, which earlier releases lack.
func method(f *language.Frame) string { return f.Function[strings.LastIndexByte(f.Function, '.')+1:] }

// blocked returns for what a thread of an interpreter waits that is in futex(2).
func (r *interpreter) blocked(o *objects, s *language.Stack, interp uint64, groups []language.Group, frames []language.Frame, futex arch.Futex) (x language.Lock, lock lock, ok bool) {
	lock, ok = r.waitedLock(o, s, groups, futex.Word)
	if ok && !o.madeIn(interp, lock.object) {
		return x, lock, false
	}
	if !ok {
		lock.object = 0 // what is there is no lock
	}
	outside := outsideOf(blockers, frames)
	b, self, at := o.inside(blockers, frames[:outside], func(b *blocker, self uint64) bool { return o.waitsInside(b, self, lock.object, &frames[0]) })
	if b != nil {
		x = language.Lock{Kind: b.kind, Address: self, Timed: futex.Timed, Name: o.nameAround(self, frames, at+1, outside)}
		switch b.kind {
		case kindThread:
			x.Ends = true
			x.Owner = r.threadIn(o, self, "_ident")
		case kindImport:
			x.Owner = r.threadIn(o, self, "owner")
			x.Name, _ = o.attributeText(self, "name")
		}
		return x, lock, true
	}
	if outside > 0 && method(&frames[0]) == "_shutdown" {
		if thread := r.ending(o, interp, lock.object, futex.Word); thread != 0 {
			return language.Lock{Kind: kindThread, Ends: true, Address: thread, Owner: r.threadIn(o, thread, "_ident")}, lock, true
		}
	}
	if !ok {
		return x, lock, false
	}
	x = r.tell(o, lock, 0, nil)
	x.Timed, x.Name = futex.Timed, o.nameAround(lock.object, frames, 0, outside)
	return x, lock, true
}

// madeIn reports whether an object is of an interpreter's run time: a process may have several, and
// their locks look alike. Each has a type of types of its own.
func (o *objects) madeIn(interp, object uint64) bool {
	modules, err := o.pointer(interp, interpreterModules)
	if err != nil {
		return true
	}
	types := func(object uint64) uint64 {
		typ, _ := o.pointer(object, objectType)
		typ, _ = o.pointer(typ, objectType)
		return typ
	}
	return types(object) == types(modules)
}

// nameAround returns by which name frames know an object. The ones from outside on are the
// program's own, whose names say more than the library's from inside on.
func (o *objects) nameAround(object uint64, frames []language.Frame, inside, outside int) string {
	if name := o.nameIn(object, frames[outside:]); name != "" {
		return name
	}
	return o.nameIn(object, frames[inside:outside])
}

// outsideOf returns how many of the innermost frames are of files that have methods of blockers.
func outsideOf(of []blocker, frames []language.Frame) int {
	for i := range frames[:min(len(frames), mostInside)] {
		if !slices.ContainsFunc(of, func(b blocker) bool { return strings.HasSuffix(frames[i].File, b.file) }) {
			return i
		}
	}
	return min(len(frames), mostInside)
}

// inside returns the outermost of the objects inside of whose methods the frames are, and which is
// accepted; and the frame of that method. b is nil if there is none.
func (o *objects) inside(of []blocker, frames []language.Frame, accepts func(b *blocker, self uint64) bool) (b *blocker, self uint64, at int) {
	for at = len(frames) - 1; at >= 0; at-- {
		f := &frames[at]
		for i := range of {
			b := &of[i]
			if !strings.HasSuffix(f.File, b.file) || !strings.Contains(" "+b.methods+" ", " "+method(f)+" ") {
				continue
			}
			if self := o.variable(f, "self"); self != 0 && o.isInstance(self, b.class) && accepts(b, self) {
				return b, self, at
			}
		}
	}
	return nil, 0, 0
}

// waitsInside reports whether a thread that waits for a lock, 0 for none, waits for an object.
func (o *objects) waitsInside(b *blocker, self, lock uint64, innermost *language.Frame) bool {
	switch {
	case b.kind == kindThread && o.layout.minor >= 13: // it waits for an event of the thread's handle
		return lock == 0 && method(innermost) == "join"
	case lock == 0:
		return false
	case b.lock == "":
		return method(innermost) == "wait" && o.variable(innermost, "waiter") == lock
	}
	at, err := o.attribute(self, b.lock)
	return err == nil && at == lock
}

// ending returns the Thread for whose end the module threading waits when the main thread is over;
// 0 if that is not known. lock is the lock for which it waits, 0 if it waits for a thread's handle.
func (r *interpreter) ending(o *objects, interp, lock, word uint64) (thread uint64) {
	active := r.activeThreads(o, interp)
	if active == 0 {
		return 0
	}
	attribute := "_handle" // 3.13
	if o.layout.minor >= 14 {
		attribute = "_os_thread_handle"
	}
	var event uint64 // see waitedLock
	if lock == 0 && o.layout.minor >= 13 {
		event, _ = o.word(word - uint64(o.size))
	}
	_ = o.each(active, func(_, x uint64) bool {
		if lock != 0 {
			if at, err := o.attribute(x, "_tstate_lock"); err == nil && at == lock {
				thread = x
			}
		} else if handle, err := o.attribute(x, attribute); err == nil && handle != 0 {
			// What the object points to has the event (ThreadHandle in Modules/_threadmodule.c).
			const most = 128
			if at, err := o.word(handle + o.layout.at[objectSize]); err == nil && event >= at && event-at < most {
				thread = x
			}
		}
		return thread == 0
	})
	return thread
}

// variable returns the object that a variable of a frame's function has; 0 if there is none.
func (o *objects) variable(f *language.Frame, name string) uint64 {
	list, values, err := o.variablesOf(f)
	if err != nil {
		return 0
	}
	for i, v := range list {
		if v.name == name && values[i] != 0 {
			if v.cell {
				return o.inCell(values[i])
			}
			return values[i]
		}
	}
	return 0
}

// isInstance reports whether an object is of a class, whose name has its module, or of one that
// extends it.
func (o *objects) isInstance(object uint64, name string) bool {
	c, err := o.classOf(object)
	if err != nil {
		return false
	}
	if c.qualified == name {
		return true
	}
	at, err := o.pointer(c.addr, typeMRO)
	if err != nil {
		return false
	}
	bases, _, _ := o.items(at, mostBases)
	for _, base := range bases {
		if c, err := o.class(base); err == nil && c.heap() {
			if o.describe(c); c.qualified == name {
				return true
			}
		}
	}
	return false
}

// threadIn returns the system's ID of the thread whose pthread_self() an attribute has; 0 if there
// is none.
func (r *interpreter) threadIn(o *objects, object uint64, attribute string) int {
	at, err := o.attribute(object, attribute)
	if err != nil || at == 0 {
		return 0
	}
	if c, err := o.typeOf(at); err != nil || c.flags&flagInt == 0 {
		return 0
	}
	v, _, err := o.integer(at)
	if err != nil || v == nil || !v.IsUint64() || v.Sign() == 0 {
		return 0
	}
	return r.threadOf(o, v.Uint64())
}

// attributeText returns the string that an attribute has.
func (o *objects) attributeText(object uint64, name string) (string, error) {
	at, err := o.attribute(object, name)
	if err != nil {
		return "", err
	}
	return o.text(at, maxName)
}

// futures returns the futures that a thread is to set when the work is done that it runs for an
// executor: until then it has them, as locks.
func (o *objects) futures(frames []language.Frame, thread int) (list []language.Lock) {
	for i := range frames {
		f := &frames[i]
		if method(f) != "run" || !strings.HasSuffix(f.File, "concurrent/futures/thread.py") {
			continue
		}
		self := o.variable(f, "self")
		if self == 0 || !o.isInstance(self, "concurrent.futures.thread._WorkItem") {
			continue
		}
		if future, err := o.attribute(self, "future"); err == nil && future != 0 {
			list = append(list, language.Lock{Kind: kindFuture, Address: future, Owner: thread, Level: i})
		}
	}
	return list
}
