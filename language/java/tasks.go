package java

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// Bounds of the virtual threads of one process, and of the frames of all of them, where equal
// stacks count once.
const (
	mostTasks      = 1 << 20
	mostTaskFrames = 1 << 20
)

const (
	threadClass   = "java/lang/Thread"
	virtualThread = "java/lang/VirtualThread"
	containers    = "jdk/internal/vm/ThreadContainers"
)

// tasks are the virtual threads of one process, as they are found.
type tasks struct {
	*objects
	vm                            *machine
	interpreter, interpreterBytes uint64

	code   map[uint64]code             // by PC
	stacks map[string][]language.Frame // by their spots
	frames int
	words  int    // of chunks that were read
	room   []byte // for the words of one chunk
	spots  []spot // room for the frames of one thread
	key    []byte // room for a key of stacks
	states map[int]string
	seen   map[uint64]bool
	list   []language.Task
	err    error
}

// code is a piece of code that the virtual machine has made.
type code struct {
	b       vmstructs.Blob
	method  bool // it is a compiled method
	handler bool // the PC is a handler's, to which a method that is to be taken apart returns
	enters  bool // a thread enters a continuation by it
	barrier bool // what is behind it is on the heap
}

func (vm *machine) newTasks(r *reading) *tasks {
	t := &tasks{objects: newObjects(r), vm: vm, code: map[uint64]code{}, stacks: map[string][]language.Frame{}, seen: map[uint64]bool{}}
	if vm.layout != nil {
		t.interpreter, t.interpreterBytes, _ = vm.layout.code.Code(r.Reader)
	}
	return t
}

// Tasks implements [language.Tasker]: the virtual threads. As Java's own dumps do, it lists the
// ones that the thread containers know, and the ones that run.
func (vm *machine) Tasks(m target.Memory) ([]language.Task, error) {
	p := vm.pages.Of(m)
	defer vm.pages.Free(p)
	r := &reading{Reader: &vmstructs.Reader{Memory: p, Order: vm.arch.Order}, heap: &vm.threads.heap}
	if !r.ready() {
		return nil, fmt.Errorf("how objects lie in memory is not known")
	}
	t := vm.newTasks(r)
	for _, record := range r.records(nil) {
		if object := r.handle(record, "JavaThread::_vthread"); object != 0 {
			t.add(object)
		}
	}
	registry := vm.threads.ownClass(r, containers)
	if registry == 0 {
		return t.list, t.err // no virtual thread has been started
	}
	root := vm.threads.ownClass(r, containers+"$RootContainer$TrackingRootContainer")
	for _, name := range []string{"VTHREADS", "THREADS"} {
		t.members(r.staticReference(root, name), t.add)
	}
	t.members(r.staticReference(registry, "CONTAINER_REGISTRY"), func(reference uint64) {
		t.container(t.follow(reference, "java/lang/ref/Reference", "referent"))
	})
	slices.SortFunc(t.list, func(a, b language.Task) int { return cmp.Compare(a.Number, b.Number) })
	return t.list, t.err
}

// container adds the virtual threads of a thread container.
func (t *tasks) container(object uint64) {
	t.members(t.follow(object, "jdk/internal/vm/SharedThreadContainer", "virtualThreads"), t.add)
	t.members(t.follow(object, "java/util/concurrent/ThreadPerTaskExecutor", "threads"), t.add)
	flock := t.follow(object, "jdk/internal/misc/ThreadFlock$ThreadContainerImpl", "flock")
	t.members(t.follow(flock, "jdk/internal/misc/ThreadFlock", "threads"), t.add)
}

// add adds a virtual thread, unless it is over.
func (t *tasks) add(object uint64) {
	if t.seen[object] || t.base(object, virtualThread) == 0 {
		return
	}
	t.seen[object] = true
	state, ok := t.integer(object, virtualThread, "state")
	at, has := t.at(object, threadClass, "tid")
	number, is := t.Word(at)
	if !ok || !has || !is {
		t.fail(fmt.Errorf("the virtual thread at %#x cannot be read", object))
		return
	}
	x := language.Task{ID: object, Number: number, Kind: "virtual thread", Name: t.text(t.follow(object, threadClass, "name"))}
	name := t.state(object, state)
	if name == "TERMINATED" {
		return
	}
	if len(t.list) == mostTasks {
		t.fail(fmt.Errorf("there are more than %d virtual threads", mostTasks))
		return
	}
	x.State = name
	if carrier := t.follow(object, virtualThread, "carrierThread"); carrier != 0 {
		t.carried(&x, object, carrier)
	} else {
		t.parked(&x, object)
	}
	t.list = append(t.list, x)
}

func (t *tasks) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// parked fills in what a virtual thread does that no thread carries.
func (t *tasks) parked(x *language.Task, object uint64) {
	if blocker := t.follow(object, threadClass, "parkBlocker"); blocker != 0 {
		if l, ok := t.blocker(blocker); ok {
			x.Waits = append(x.Waits, l)
		}
	}
	if t.vm.layout == nil || x.State == "NEW" {
		return
	}
	spots, err := t.onHeap(t.follow(object, virtualThread, "cont"), t.spots[:0])
	t.spots = spots
	t.fill(x, spots, err)
}

// fill gives a task its frames.
func (t *tasks) fill(x *language.Task, spots []spot, err error) {
	x.Frames = t.framesOf(spots)
	if err != nil {
		x.Early = err.Error()
	}
	if len(x.Frames) == 0 && len(spots) > 0 {
		x.Early = fmt.Sprintf("the virtual threads have more than %d frames", mostTaskFrames)
	}
}

// framesOf returns the frames of a stack. Equal stacks share them.
func (t *tasks) framesOf(spots []spot) (list []language.Frame) {
	key := t.key[:0]
	for _, s := range spots {
		key = binary.LittleEndian.AppendUint64(key, s.pc)
		key = binary.LittleEndian.AppendUint64(key, s.method)
		key = binary.LittleEndian.AppendUint64(key, s.bytecode)
	}
	t.key = key
	if known, ok := t.stacks[string(key)]; ok {
		return known
	}
	if t.frames > mostTaskFrames {
		return nil
	}
	for _, s := range spots {
		list = append(list, t.frameAt(s)...)
	}
	t.frames += len(list)
	t.stacks[string(key)] = list
	return list
}

// frameAt returns the frames of one spot.
func (t *tasks) frameAt(s spot) []language.Frame {
	if s.method != 0 {
		m := t.vm.method(t.Reader, s.method)
		if m == nil {
			return []language.Frame{{Function: fmt.Sprintf("the method at %#x, which cannot be read", s.method), Kind: "interpreted"}}
		}
		bci := int32(-2)
		if s.bytecode-m.codes < m.size {
			bci = int32(s.bytecode - m.codes)
		}
		return t.vm.interpreted(m, bci)
	}
	code := t.codeAt(s.pc)
	list, _, _ := t.vm.compiledAt(t.Reader, t.vm.arch, &code.b, s.pc)
	if list == nil {
		list = []language.Frame{{Function: fmt.Sprintf("the method with the code at %#x, which cannot be read", s.pc), Kind: "compiled"}}
	}
	return list
}

// codeAt returns the code that returns to pc.
func (t *tasks) codeAt(pc uint64) code {
	c, known := t.code[pc]
	if !known {
		b, err := t.vm.blobs.Find(t.Reader, pc-1, nil)
		if err == nil {
			name := t.vm.nameOf(t.Reader, &b)
			c = code{b: b, method: name == "nmethod" || name == "native nmethod"}
			c.handler = c.method && t.vm.isHandler(t.Reader, &b, pc)
			c.enters = c.method && t.vm.enters(t.Reader, &b)
		} else {
			c.barrier = t.vm.parked.IsReturnBarrier(t.Reader, &b, pc)
		}
		t.code[pc] = c
	}
	return c
}

// virtualStates are what the states of a virtual thread mean, in jstack's words, by the names of
// the constants for them.
var virtualStates = map[string]string{
	"NEW":           "NEW",
	"STARTED":       "RUNNABLE",
	"RUNNABLE":      "RUNNABLE", // 21
	"RUNNING":       "RUNNABLE",
	"PARKING":       "RUNNABLE",
	"TIMED_PARKING": "RUNNABLE",
	"YIELDING":      "RUNNABLE",
	"YIELDED":       "RUNNABLE",
	"UNPARKED":      "RUNNABLE",
	"BLOCKING":      "RUNNABLE",
	"UNBLOCKED":     "RUNNABLE",
	"WAITING":       "RUNNABLE", // it is going to
	"TIMED_WAITING": "RUNNABLE",
	"PARKED":        "WAITING (parking)",
	"PINNED":        "WAITING (parking)",
	"TIMED_PARKED":  "TIMED_WAITING (parking)",
	"TIMED_PINNED":  "TIMED_WAITING (parking)",
	"WAIT":          "WAITING (on object monitor)",
	"TIMED_WAIT":    "TIMED_WAITING (on object monitor)",
	"BLOCKED":       "BLOCKED (on object monitor)",
	"TERMINATED":    "TERMINATED",
}

// state returns what a virtual thread does. The numbers of states differ between releases.
func (t *tasks) state(object uint64, state int) string {
	const suspended = 1 << 8
	if t.states == nil {
		t.states = map[int]string{}
		class := t.base(object, virtualThread)
		for name, means := range virtualStates {
			if at, ok := t.staticAt(class, name); ok {
				if v, ok := t.small(at); ok {
					t.states[int(v)] = means
				}
			}
		}
	}
	return t.states[state&^suspended]
}
