package java

// mostClasses bounds the classes of the run time's own that are looked through: there are some
// thousands.
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
	class, _ = r.word(loader, "ClassLoaderData::_klasses") // the newest first
	turn := newTurn(class)
	for range mostClasses {
		if class == 0 {
			break
		}
		if r.className(class) == name {
			if x.classes == nil {
				x.classes = map[string]uint64{}
			}
			x.classes[name] = class
			return class
		}
		if class, _ = r.word(class, "Klass::_next_link"); turn.back(class) {
			break
		}
	}
	return 0
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
