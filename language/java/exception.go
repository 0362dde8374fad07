package java

import (
	"fmt"

	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/language"
)

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

// inFlight returns the exception that a thread has on its way to a handler, and where it was made:
// one that the virtual machine or a native method has thrown, or one that compiled code passes to
// its caller.
func (x *threads) inFlight(r *reading, at uint64) string {
	for _, name := range [...]string{"ThreadShadow::_pending_exception", "JavaThread::_exception_oop"} {
		object, _ := r.word(at, name)
		text := r.exception(object)
		if object == 0 || text == "" {
			continue
		}
		if x.raisedIn == nil {
			return text
		}
		switch f := x.raisedIn(r, object); {
		case f == nil:
		case f.File == "" || f.Line == 0:
			text += ", raised in " + f.Function
		default:
			text += fmt.Sprintf(", raised in %s at %s:%d", f.Function, f.File, f.Line)
		}
		return text
	}
	return ""
}

// raisedIn returns the frame in which an exception was made, nil if it does not know that: it has
// the numbers of methods and bytecodes, and the classes of the methods, in arrays of an array.
func (vm *machine) raisedIn(r *reading, object uint64) *language.Frame {
	object = r.moved(object)
	f, ok := r.place(r.derived(r.classOf(object), "java/lang/Throwable"), "backtrace")
	if !ok {
		return nil
	}
	trace := r.moved(r.reference(object + f.offset))
	data, n, ok := r.elements(trace, "[Ljava/lang/Object;")
	if !ok || n < 3 {
		return nil
	}
	part := func(i uint64, class string) (first uint64, ok bool) {
		first, n, ok := r.elements(r.moved(r.reference(data+i*r.referenceSize())), class)
		return first, ok && n > 0
	}
	numbers, ok := part(0, "[S")
	bytecodes, is := part(1, "[I")
	classes, has := part(2, "[Ljava/lang/Object;")
	if !ok || !is || !has {
		return nil
	}
	number, ok := r.Number(numbers, vmstructs.Field{Size: 2, Unsigned: true})
	bci, is := r.small(bytecodes)
	if !ok || !is {
		return nil
	}
	m := vm.methodOf(r, r.classOfMirror(r.moved(r.reference(classes))), number)
	if m == nil {
		return nil
	}
	return &language.Frame{Function: m.function, File: m.file, Line: vm.line(m, int32(bci&0xffff))} // the rest is a version
}

// elements returns where the elements of an array of a class are, and how many there are.
func (r *reading) elements(array uint64, name string) (data, n uint64, ok bool) {
	class := r.classOf(array)
	if r.className(class) != name {
		return 0, 0, false
	}
	return r.arrayOf(array, class)
}

// mostMethods bounds the methods of one class: a class file has at most 65,535.
const mostMethods = 1 << 16

// methodOf returns the method of a class that has a number, nil if there is none.
func (vm *machine) methodOf(r *reading, class uint64, number int64) *method {
	list, _ := r.word(class, "InstanceKlass::_methods")
	data, ok := r.tables.Fields["Array<Method*>::_data"]
	n, is := r.small(list)
	if list == 0 || !ok || !is {
		return nil
	}
	for i := range min(n, mostMethods) {
		at, _ := r.Word(list + data.Offset + 8*i)
		constants, _ := r.word(at, "Method::_constMethod")
		if v, ok := r.number(constants, "ConstMethod::_method_idnum"); !ok {
			return nil
		} else if v == number {
			return vm.method(r.Reader, at)
		}
	}
	return nil
}
