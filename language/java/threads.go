package java

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// threads are the threads of a virtual machine.
type threads struct {
	heap

	mu      sync.Mutex
	list    []javaThread      // in the order of their stacks
	records []uint64          // the virtual machine's own list
	spare   []uint64          // room for the list, when it is read again
	classes map[string]uint64 // of the run time's own, by name

	safepoints safepoints
	raisedIn   func(r *reading, exception uint64) *language.Frame // nil if methods cannot be read

	owners   map[uint64]uint64 // who has owned monitors, by what these call the owner
	monitors monitors

	initializing uint64 // a class for whose initialization threads have waited
}

// javaThread is a thread that runs Java.
type javaThread struct {
	at          uint64 // the virtual machine's record of it
	base, limit uint64 // its stack: [limit, base)
}

// mostThreads bounds the threads of a virtual machine.
const mostThreads = 1 << 16

// newThreads returns the threads of the virtual machine that a module is, by its tables.
func newThreads(t *vmstructs.Tables, m *target.Module) *threads {
	return &threads{heap: heap{tables: t}, safepoints: safepoints{module: m}}
}

// tell says what the virtual machine knows of a thread, nil if it knows nothing. has are the
// monitors that the thread's frames have entered.
func (x *threads) tell(memory *vmstructs.Reader, s *language.Stack, has entered) *language.Thread {
	r := &reading{Reader: memory, heap: &x.heap}
	sp, ok := outermost(s)
	if !ok || !r.ready() {
		return nil
	}
	th, ok := x.of(r, sp)
	if !ok {
		about := r.worker(s, sp)
		x.operator(r, s, about)
		if about != nil && about.Name == operatorName {
			about.State = strings.TrimPrefix(about.State+", "+r.started(), ", ")
		}
		return about
	}
	return x.about(r, s, th, has)
}

// about says what the virtual machine knows of a thread that runs Java.
func (x *threads) about(r *reading, s *language.Stack, th javaThread, has entered) *language.Thread {
	object := r.threadObject(th.at)
	about := language.Thread{Name: r.text(r.threadField(object, "name"))}
	status := r.status(object)
	about.State = status.String()
	if about.State == "" {
		about.State = r.doing(th.at)
	}
	if r.threadFlag(object, "daemon") {
		about.State = strings.TrimSuffix("daemon, "+about.State, ", ")
	}
	if more := r.compiles(th.at, about.Name); more != "" {
		about.State += ", " + more
	}
	if id, name := r.carried(th.at, object); id != 0 {
		about.State += fmt.Sprintf(", carries virtual thread #%d", id)
		if name != "" {
			about.State += fmt.Sprintf(" %q", name)
		}
	}
	about.Waits = x.waits(r, th.at, object, status)
	x.atSafepoint(r, s, th.at, &about)
	about.Holds = x.holds(r, s, th, has)
	about.Exception = x.inFlight(r, th.at)
	return &about
}

// outermost returns an address on the thread's own stack: a signal's handler may be on another.
func outermost(s *language.Stack) (sp uint64, ok bool) {
	for i := len(s.Frames) - 1; i >= 0; i-- {
		if v := s.Frames[i].Register(s.Arch.SP); v.Known() {
			return v.Bits, true
		}
	}
	return 0, false
}

// of returns the thread whose stack has sp.
func (x *threads) of(r *reading, sp uint64) (th javaThread, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.spare = r.records(x.spare[:0]); !slices.Equal(x.spare, x.records) {
		x.records, x.spare = x.spare, x.records
		x.refresh(r)
	}
	for range 2 {
		i := sort.Search(len(x.list), func(i int) bool { return x.list[i].base > sp })
		if i == len(x.list) || sp < x.list[i].limit {
			return th, false
		}
		if th, ok = r.stackOf(x.list[i].at); ok && th == x.list[i] {
			return th, true
		}
		x.refresh(r) // another thread has got the memory of this one
	}
	return th, false
}

// records adds where the virtual machine's records of its threads are to an empty list.
func (r *reading) records(list []uint64) []uint64 {
	at, ok := r.static("ThreadsSMRSupport::_java_thread_list")
	if !ok {
		// Up to JDK 9 each thread leads to the next one.
		at, _ = r.static("Threads::_thread_list")
		for seen := map[uint64]bool{}; at != 0 && !seen[at] && len(list) < mostThreads; {
			list, seen[at] = append(list, at), true
			at, _ = r.word(at, "JavaThread::_next")
		}
		return list
	}
	length, _ := r.small(at + r.tables.Fields["ThreadsList::_length"].Offset)
	first, _ := r.word(at, "ThreadsList::_threads")
	for length = min(length, mostThreads); uint64(len(list)) < length; {
		n := int(min(8*(length-uint64(len(list))), vmstructs.MostRead))
		got := r.Read(first+8*uint64(len(list)), n)
		for i := 0; i+8 <= len(got); i += 8 {
			list = append(list, r.Order.Uint64(got[i:]))
		}
		if len(got) < n {
			break
		}
	}
	return list
}

// refresh reads where the threads' stacks are.
func (x *threads) refresh(r *reading) {
	x.list = x.list[:0]
	for _, at := range x.records {
		if th, ok := r.stackOf(at); ok {
			x.list = append(x.list, th)
		}
	}
	slices.SortFunc(x.list, func(a, b javaThread) int { return cmp.Compare(a.base, b.base) })
}

// stackOf returns a thread with its stack.
func (r *reading) stackOf(at uint64) (th javaThread, ok bool) {
	base, ok := r.word(at, "JavaThread::_stack_base", "Thread::_stack_base")
	size, is := r.word(at, "JavaThread::_stack_size", "Thread::_stack_size")
	return javaThread{at, base, base - size}, ok && is && base != 0 && size < base
}

// native returns the system's ID of a thread, as its own PID namespace has it; 0 if that is not
// known.
func (r *reading) native(at uint64) int {
	of, _ := r.word(at, "JavaThread::_osthread", "Thread::_osthread")
	if f, ok := r.tables.Fields["OSThread::_thread_id"]; ok && of != 0 {
		id, _ := r.small(of + f.Offset)
		return int(int32(id))
	}
	return 0
}

// threadObject returns the thread's java.lang.Thread, 0 if it has none yet.
func (r *reading) threadObject(at uint64) uint64 {
	f := r.tables.Fields["JavaThread::_threadObj"]
	if f.Type == "oop" {
		return r.oop(at + f.Offset)
	}
	return r.handle(at, "JavaThread::_threadObj")
}

// handle returns the object to which a field of a structure has a handle.
func (r *reading) handle(at uint64, name string) uint64 {
	to, _ := r.word(at, name)
	if to == 0 {
		return 0
	}
	return r.oop(to)
}

// threadPart finds a field of a java.lang.Thread: in the object, or, from JDK 19 on, in the object
// that its field "holder" leads to.
func (r *reading) threadPart(object uint64, name string) (at uint64, ok bool) {
	class := r.derived(r.classOf(object), "java/lang/Thread")
	if class == 0 {
		return 0, false
	}
	if f, ok := r.place(class, name); ok {
		return object + f.offset, true
	}
	holder, ok := r.place(class, "holder")
	if !ok {
		return 0, false
	}
	object = r.reference(object + holder.offset)
	if class = r.classOf(object); r.className(class) != "java/lang/Thread$FieldHolder" {
		return 0, false
	}
	f, ok := r.place(class, name)
	return object + f.offset, ok
}

// threadField reads a field of a java.lang.Thread that is a reference.
func (r *reading) threadField(object uint64, name string) uint64 {
	if at, ok := r.threadPart(object, name); ok {
		return r.reference(at)
	}
	return 0
}

func (r *reading) threadFlag(object uint64, name string) bool {
	at, ok := r.threadPart(object, name)
	b := r.Read(at, 1)
	return ok && len(b) == 1 && b[0] == 1
}

// threadStatus is what a java.lang.Thread says of itself: bits of JVMTI's GetThreadState.
type threadStatus uint32

const (
	parked  threadStatus = 0x200
	limited threadStatus = 0x20 // waits until some time
)

// statuses are in jstack's words.
var statuses = map[threadStatus]string{
	0x000: "NEW",
	0x002: "TERMINATED",
	0x005: "RUNNABLE",
	0x0e1: "TIMED_WAITING (sleeping)",
	0x191: "WAITING (on object monitor)",
	0x1a1: "TIMED_WAITING (on object monitor)",
	0x291: "WAITING (parking)",
	0x2a1: "TIMED_WAITING (parking)",
	0x401: "BLOCKED (on object monitor)",
}

func (s threadStatus) String() string { return statuses[s] }

// unknownStatus is of threads without an object.
const unknownStatus = threadStatus(1 << 31)

func (r *reading) status(object uint64) threadStatus {
	at, ok := r.threadPart(object, "threadStatus")
	v, is := r.small(at)
	if !ok || !is {
		return unknownStatus
	}
	return threadStatus(v)
}

// doing says where a thread is by the virtual machine's own account: "in native", "blocked".
func (r *reading) doing(at uint64) string {
	f, ok := r.tables.Fields["JavaThread::_thread_state"]
	v, is := r.small(at + f.Offset)
	if !ok || !is {
		return ""
	}
	for _, name := range []string{"new", "in_native", "in_vm", "in_Java", "blocked"} {
		n, ok := r.tables.Constants["_thread_"+name]
		if ok && uint64(n) == v {
			return strings.ReplaceAll(name, "_", " ")
		}
	}
	return ""
}

// carried returns the virtual thread that runs on a thread; 0 if none does.
func (r *reading) carried(at, object uint64) (id uint64, name string) {
	runs := r.handle(at, "JavaThread::_vthread")
	if runs == 0 || runs == object || r.derived(r.classOf(runs), "java/lang/BaseVirtualThread") == 0 {
		return 0, ""
	}
	if place, ok := r.threadPart(runs, "tid"); ok {
		id, _ = r.Word(place)
	}
	return id, r.text(r.threadField(runs, "name"))
}

// compiles says what a thread compiles.
func (r *reading) compiles(at uint64, name string) string {
	if !strings.Contains(name, "CompilerThread") {
		return ""
	}
	env, _ := r.word(at, "CompilerThread::_env")
	task, _ := r.word(env, "ciEnv::_task")
	of, _ := r.word(task, "CompileTask::_method")
	constants, _ := r.word(of, "Method::_constMethod")
	pool, _ := r.word(constants, "ConstMethod::_constants")
	holder, _ := r.word(pool, "ConstantPool::_pool_holder")
	class := r.className(holder)
	index, ok := r.number(constants, "ConstMethod::_name_index")
	if class == "" || !ok {
		return ""
	}
	symbol, _ := r.Word(pool + r.tables.Types["ConstantPool"].Size + 8*uint64(index))
	function := r.symbol(symbol)
	if function == "" {
		return ""
	}
	text := "compiles " + strings.ReplaceAll(class, "/", ".") + "." + function
	if level, ok := r.number(task, "CompileTask::_comp_level"); ok {
		text += fmt.Sprintf(", level %d", level)
	}
	return text
}
