package java

// mostClasses bounds the classes that are looked through: the run time has some thousands.
const mostClasses = 1 << 17

// ownClass returns a class of the run time's own, which is never unloaded; 0 if it is not loaded.
func (x *threads) ownClass(r *reading, name string) uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if class := x.classes[name]; class != 0 {
		return class
	}
	class, _ := r.static("vmClasses::_klasses[static_cast<int>(vmClassID::Thread_klass_knum)]")
	loader, _ := r.word(class, "Klass::_class_loader_data")
	var found uint64
	r.classesOf(loader, func(class uint64) bool {
		if r.className(class) == name {
			found = class
		}
		return found == 0
	})
	if found != 0 {
		if x.classes == nil {
			x.classes = map[string]uint64{}
		}
		x.classes[name] = found
	}
	return found
}

// classesOf calls do with the classes that a loader has defined, the newest first, until do returns
// false. It returns how many these were.
func (r *reading) classesOf(loader uint64, do func(class uint64) (more bool)) (n int) {
	class, _ := r.word(loader, "ClassLoaderData::_klasses")
	for turn := newTurn(class); class != 0 && n < mostClasses; n++ {
		if !do(class) {
			break
		}
		if class, _ = r.word(class, "Klass::_next_link"); turn.back(class) {
			break
		}
	}
	return n
}

// staticAt returns the address of a static field: in the class's java.lang.Class.
func (r *reading) staticAt(class uint64, name string) (addr uint64, ok bool) {
	f, ok := r.place(class, name)
	if !ok {
		return 0, false
	}
	mirror := r.handle(class, "Klass::_java_mirror")
	return mirror + f.offset, mirror != 0
}

// staticReference reads a static field that is a reference.
func (r *reading) staticReference(class uint64, name string) uint64 {
	at, ok := r.staticAt(class, name)
	if !ok {
		return 0
	}
	return r.reference(at)
}
