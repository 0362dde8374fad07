package java

import "github.com/sfwalk/sfwalk/language"

// initializationKind is of waits for a class that another thread initializes.
const initializationKind = "class initialization"

// initialization returns the class whose initialization a thread waits for, with the thread that
// runs it. object is the one whose monitor the thread waits on: the virtual machine makes an empty
// array of int for each class that it initializes, to which the class's java.lang.Class refers.
// Threads that wait so are RUNNABLE for Java, unlike the ones that wait on an array of their own.
func (x *threads) initialization(r *reading, object uint64, status threadStatus) (l language.Lock, ok bool) {
	const runnable = 0x005
	class := r.classOf(object)
	if status != runnable || r.className(class) != "[I" {
		return l, false
	}
	if _, n, ok := r.arrayOf(object, class); !ok || n != 0 {
		return l, false
	}
	of := x.initialized(r, object)
	if of == 0 {
		return l, false
	}
	thread, _ := r.word(of, "InstanceKlass::_init_thread")
	l = language.Lock{Kind: initializationKind, Name: className(r.className(of)), Address: object}
	if thread != 0 {
		l.Owner = r.native(thread)
	}
	return l, l.Name != ""
}

// initialized returns the class that is being initialized, and refers to object as its lock; 0 if
// there is none. Many threads may wait for one, which is found anew only if it was not the last
// one.
func (x *threads) initialized(r *reading, object uint64) (found uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r.initializes(x.initializing, object) {
		return x.initializing
	}
	loader, _ := r.static("ClassLoaderDataGraph::_head")
	turn := newTurn(loader)
	for left := mostClasses; loader != 0 && left > 0 && found == 0; left-- {
		left -= r.classesOf(loader, func(class uint64) bool {
			if r.initializes(class, object) {
				found = class
			}
			return found == 0
		})
		if loader, _ = r.word(loader, "ClassLoaderData::_next"); turn.back(loader) {
			break
		}
	}
	if found != 0 {
		x.initializing = found
	}
	return found
}

// initializes reports whether a class is being initialized, and refers to object as its lock.
func (r *reading) initializes(class, object uint64) bool {
	during, ok := r.tables.Constants["InstanceKlass::being_initialized"]
	state, is := r.number(class, "InstanceKlass::_init_state")
	if !ok || !is || state&0xff != during {
		return false
	}
	mirror := r.handle(class, "Klass::_java_mirror")
	if r.classOfMirror(mirror) != class {
		return false
	}
	// The field is the virtual machine's own, and has no name. Behind the fields of a
	// java.lang.Class lie the class's static ones.
	size, _ := r.number(r.classOf(mirror), "Klass::_layout_helper")
	for at := uint64(0); at < min(uint64(max(size, 0)), mostMirror); at += r.referenceSize() {
		if field := r.reference(mirror + at); field != 0 && r.moved(field) == r.moved(object) {
			return true
		}
	}
	return false
}

// mostMirror bounds what a java.lang.Class itself takes, in bytes.
const mostMirror = 512
