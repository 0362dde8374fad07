package lastwords

import (
	"slices"
	"strings"
)

// Classes of exceptions (_Unwind_Exception.exception_class): the libraries that have made them. The
// last byte is 1 if the exception is thrown once more by a pointer to it.
const (
	gnuClass   = 0x474e5543432b2b00 // "GNUCC++\0": libstdc++
	clangClass = 0x434c4e47432b2b00 // "CLNGC++\0": libc++abi
)

// exceptionLayout is where a C++ exception has its fields, bytes before its _Unwind_Exception,
// behind which the object is (struct __cxa_exception of libstdc++'s unwind-cxx.h and of libc++abi's
// cxa_exception.h).
type exceptionLayout struct{ typ, next, handlers uint64 }

var (
	exceptions64 = exceptionLayout{typ: 80, next: 48, handlers: 40}
	exceptions32 = exceptionLayout{typ: 48, next: 32, handlers: 28}
)

const (
	// unwindSize is the size of an _Unwind_Exception, which is aligned, bytes.
	unwindSize = 32
	// clangMore is how many bytes of a struct __cxa_exception of libc++abi come before the type, in
	// 64-bit programs.
	clangMore = 16
)

// throwing are functions that end a process if nobody catches an exception, by their names without
// parameters.
var throwing = map[string]bool{
	"__cxa_throw": true, "__cxa_rethrow": true, "__cxa_call_terminate": true, "__gxx_personality_v0": true,
	"std::rethrow_exception": true, "_Unwind_Resume": true, "_Unwind_RaiseException": true, "_Unwind_Resume_or_Rethrow": true, "__clang_call_terminate": true,
}

// plainName returns the name of a function without its parameters.
func plainName(function string) string {
	name, _, _ := strings.Cut(function, "(")
	return name
}

// ofCxx returns the words of C++'s run-time library: the type of the exception that nobody has
// caught, and its message.
func (f *finder) ofCxx() []Words {
	terminates, last := false, -1
	for i := range f.Frames {
		for _, function := range f.Frames[i].Functions {
			switch name := plainName(function); {
			case name == "__cxa_pure_virtual":
				return []Words{{Text: "pure virtual method called", From: "the function __cxa_pure_virtual"}}
			case name == "__cxa_deleted_virtual":
				return []Words{{Text: "deleted virtual method called", From: "the function __cxa_deleted_virtual"}}
			case Dying(function):
				terminates = true
			case throwing[name] && terminates:
				last = i
			}
		}
	}
	if f.arch.ExceptionTables { // EHABI has other exceptions
		return nil
	}
	if list := f.terminated(); len(list) > 0 {
		return list
	}
	if last < 0 {
		return nil
	}
	x, ok := f.handled(last)
	if !ok {
		return nil
	}
	return f.exceptionWords(&x)
}

// exceptionWords returns the words about an exception that ends the process.
func (f *finder) exceptionWords(x *exception) []Words {
	typ, ok := f.typeInfo(x.typ)
	if !ok {
		return nil
	}
	text, from := "terminate called after throwing an instance of '"+typ+"'", "the exception of libstdc++"
	what, said := f.what(x)
	if x.class == clangClass {
		text, from = "uncaught exception of type "+typ, "the exception of libc++abi"
		if said {
			text += ": " + what
		}
	} else if said {
		text += "\n  what():  " + what
	}
	if value, ok := f.thrownValue(typ, x.object); ok && !said {
		text += "\n  value:  " + value
	}
	return []Words{{Text: text, From: from}}
}

// exception is an exception that is being handled.
type exception struct {
	class  uint64
	begin  uint64 // its address
	next   uint64 // the address of the exception that was being handled before; 0 if there is none
	typ    uint64 // the address of its type_info
	object uint64 // the address of what was thrown

	dependent bool // it throws another one once more
}

// mostStack bounds the stack on which an exception is sought, bytes.
const mostStack = 32 << 10

// handled finds the exception that a thread is handling, by the words of its stack up to the frame
// that has thrown, and by its registers: the function that has thrown keeps its address. Memory at
// the address must be an exception that is being handled; of several, the one that was thrown last
// is meant, which refers to the others.
func (f *finder) handled(thrower int) (exception, bool) {
	layout := &exceptions64
	if f.arch.PtrSize == 4 {
		layout = &exceptions32
	}
	var found []exception
	tried := map[uint64]bool{}
	try := func(word uint64) {
		// The word leads to the _Unwind_Exception, to the object, or to the beginning.
		for _, at := range [...]uint64{word, word - unwindSize, word + layout.typ, word + layout.typ + clangMore} {
			if tried[at] || at%uint64(f.arch.PtrSize) != 0 || len(found) == mostExceptions {
				continue
			}
			tried[at] = true
			if x, ok := f.exceptionAt(at, layout); ok {
				found = append(found, x)
			}
		}
	}
	inner := f.Frames[0].Registers
	if inner == nil {
		return exception{}, false
	}
	for _, r := range f.arch.Regs {
		if v, known := inner.Get(r.Num); known && v != 0 {
			try(v)
		}
	}
	sp, _ := inner.Get(f.arch.SP)
	if top := f.Frames[thrower].CFA; sp != 0 && top > sp && top-sp <= mostStack {
		data := f.part(sp, int(top-sp))
		for size := f.arch.PtrSize; len(data) >= size; data = data[size:] {
			if word := f.arch.Word(data); word != 0 {
				try(word)
			}
		}
	}
	return latest(found)
}

// latest returns the exception that was thrown last: no other one refers to it, neither as the one
// before nor as the one that it throws once more. ok is false if there are several.
func latest(list []exception) (x exception, ok bool) {
	for i := range list {
		this := &list[i]
		refers := func(other exception) bool {
			return other.next == this.begin || other.dependent && !this.dependent && other.object == this.object
		}
		if slices.ContainsFunc(list, refers) {
			continue
		}
		if ok {
			return exception{}, false
		}
		x, ok = list[i], true
	}
	return x, ok
}

// exceptionAt reads the exception whose _Unwind_Exception is at an address. ok is false if there is
// none, or if it is not being handled.
func (f *finder) exceptionAt(at uint64, l *exceptionLayout) (x exception, ok bool) {
	head := f.bytes(at, 8)
	if head == nil {
		return x, false
	}
	class := f.arch.Order.Uint64(head)
	x.class = class &^ 0xff
	x.dependent = class&0xff == 1
	if class&0xff > 1 || x.class != gnuClass && (x.class != clangClass || f.arch.PtrSize != 8) {
		return x, false
	}
	handlers, counted := f.half(at - l.handlers)
	typ, typed := f.word(at - l.typ)
	next, linked := f.word(at - l.next)
	const mostHandlers = 1 << 16
	if n := int32(handlers); !counted || !typed || !linked || n == 0 || n > mostHandlers || n < -mostHandlers {
		return x, false
	}
	x.begin, x.next, x.typ, x.object = at-l.typ, next, typ, at+unwindSize
	if x.class == clangClass {
		x.begin -= clangMore
	}
	if x.dependent {
		if x.class != gnuClass {
			return x, false
		}
		// The first word is the object, behind the exception that was thrown first.
		x.object = typ
		if x.typ, ok = f.word(typ - unwindSize - l.typ); !ok {
			return x, false
		}
	}
	if _, ok = f.typeName(x.typ); !ok {
		return x, false
	}
	return x, f.inUse(&x)
}

// inUse reports whether the number of users of an exception is one: the memory of an exception that
// was freed keeps the rest.
func (f *finder) inUse(x *exception) bool {
	const most = 1 << 16
	var n uint64
	var ok bool
	switch {
	case x.dependent:
		return true // it has no such number, and its first word would be no object
	case x.class == clangClass:
		n, ok = f.word(x.begin + 8)
	default:
		before := uint64(f.arch.StackAlign) // struct __cxa_refcounted_exception; the greatest alignment is also the stack's
		var users uint32
		users, ok = f.half(x.begin - before)
		n = uint64(users)
	}
	return ok && n > 0 && n < most
}

// mostExceptions bounds the exceptions that are found.
const mostExceptions = 16
