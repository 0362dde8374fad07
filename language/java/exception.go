package java

// exception returns an exception as the first line of its trace has it: its class and its message.
// "" is for what is no exception. A class may have code that makes another text, which cannot run.
func (r *reading) exception(object uint64) string {
	object = r.moved(object)
	class := r.classOf(object)
	base := r.derived(class, "java/lang/Throwable")
	if base == 0 {
		return ""
	}
	text := className(r.className(class))
	if f, ok := r.place(base, "detailMessage"); ok {
		if message := r.text(r.moved(r.reference(object + f.offset))); message != "" {
			text += ": " + message
		}
	}
	return text
}

// inFlight returns the exception that a thread has on its way to a handler: one that the virtual
// machine or a native method has thrown, or one that compiled code passes to its caller.
func (r *reading) inFlight(at uint64) string {
	for _, name := range [...]string{"ThreadShadow::_pending_exception", "JavaThread::_exception_oop"} {
		if object, _ := r.word(at, name); object != 0 {
			if text := r.exception(object); text != "" {
				return text
			}
		}
	}
	return ""
}
