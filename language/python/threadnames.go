package python

import (
	"sync"
)

// threadNames is what is kept of one run time's threads.
type threadNames struct {
	mu     sync.Mutex
	active map[uint64]uint64 // by interpreter: the dictionary threading._active; 0 if there is none
	ids    map[uint64]int    // the system's ID of a thread, by pthread_self()
}

// add notes the system's ID of a thread.
func (n *threadNames) add(id uint64, tid int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ids == nil || len(n.ids) >= mostThreads {
		n.ids = map[uint64]int{}
	}
	n.ids[id] = tid
}

// of returns the system's ID of a thread; 0 if it was not seen yet.
func (n *threadNames) of(id uint64) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ids[id]
}

// threadName returns the name that the module threading has for a thread, and whether it is a
// daemon; "" if there is none: the thread was not started by this module.
func (r *interpreter) threadName(o *objects, t *threadState) (name string, daemon bool) {
	thread := r.threadObject(o, t)
	if thread == 0 {
		return "", false
	}
	_ = o.eachOfThread(thread, func(key, value uint64) bool {
		switch {
		case o.isText(key, "_name"):
			name, _ = o.text(value, maxName)
		case o.isText(key, "_daemonic"):
			if v, _, err := o.integer(value); err == nil && v != nil {
				daemon = v.Sign() != 0
			}
		}
		return true
	})
	return name, daemon
}

// nativeID returns what the module threading says is the ID that the system has for a thread; 0 if
// it does not know the thread.
func (r *interpreter) nativeID(o *objects, t *threadState) (id uint64) {
	thread := r.threadObject(o, t)
	if thread == 0 {
		return 0
	}
	_ = o.eachOfThread(thread, func(key, value uint64) bool {
		if !o.isText(key, "_native_id") {
			return true
		}
		if v, _, err := o.integer(value); err == nil && v != nil && v.IsUint64() {
			id = v.Uint64()
		}
		return false
	})
	return id
}

// eachOfThread is eachAttribute for an object of the class Thread, which has no slots: a
// description of the class is not needed.
func (o *objects) eachOfThread(thread uint64, do func(key, value uint64) bool) error {
	c, err := o.typeOf(thread)
	if err != nil {
		return err
	}
	return o.eachInDict(thread, c, do)
}

// threadObject returns the object that the module threading has for a thread; 0 if there is none.
func (r *interpreter) threadObject(o *objects, t *threadState) (thread uint64) {
	active := r.activeThreads(o, t.interpreter)
	if active == 0 {
		return 0
	}
	// An integer below 2^61-1 is its own hash.
	_ = o.eachEntry(active, func(hash uint64, hashed bool, _, value uint64) bool {
		if hashed && hash == t.id {
			thread = value
		}
		return thread == 0
	})
	return thread
}

// activeThreads returns the dictionary of the threads that an interpreter's module threading knows,
// by their IDs; 0 if there is none.
func (r *interpreter) activeThreads(o *objects, interp uint64) uint64 {
	r.names.mu.Lock()
	active, known := r.names.active[interp]
	r.names.mu.Unlock()
	if known {
		return active
	}
	active = findActive(o, interp)
	r.names.mu.Lock()
	defer r.names.mu.Unlock()
	if r.names.active == nil || len(r.names.active) >= mostInterpreters {
		r.names.active = map[uint64]uint64{}
	}
	r.names.active[interp] = active
	return active
}

func findActive(o *objects, interp uint64) uint64 {
	if !o.layout.has(interpreterModules) {
		return 0
	}
	modules, err := o.pointer(interp, interpreterModules)
	if err != nil || modules == 0 {
		return 0
	}
	module, err := o.lookUp(modules, "threading")
	if err != nil || module == 0 {
		return 0
	}
	dict, err := o.pointer(module, moduleDict)
	if err != nil || dict == 0 {
		return 0
	}
	active, err := o.lookUp(dict, "_active")
	if err != nil {
		return 0
	}
	return active
}
