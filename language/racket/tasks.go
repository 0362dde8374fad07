package racket

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/scan"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/target"
)

// Words of Racket's record of a thread (racket/src/thread/thread.rkt), the same from 8.7 to 8.18.
const (
	threadPrevious    = 1
	threadNext        = 2
	threadName        = 3
	threadEngine      = 4 // a procedure that goes on with it, or a symbol that says why there is none
	threadGroup       = 5
	threadSleeps      = 6
	threadDescheduled = 13

	threadWords = 15 // that are looked at
)

// False, as a whole word.
const falseObject = 6

// Bounds of what is looked at in one process.
const (
	mostSearched   = 4 << 30 // bytes that are searched for threads
	mostTasks      = 1 << 16
	mostTaskFrames = 1 << 20 // of all threads together
	mostKinds      = 1 << 18 // of records that are told apart
	mostTaskWork   = 1 << 26 // words of objects
)

// threads finds Racket's threads.
type threads struct {
	*reader
	kinds map[uint64]bool // which kinds of records are threads
	list  []uint64
}

// Tasks implements [language.Tasker]: Racket's threads that have not ended. Nothing that is cheap
// to find leads to ones that wait: their records are looked for in memory. One that nothing refers
// to any more is listed, too, until the collector has found that out.
func (x *runtime) Tasks(of target.Memory) ([]language.Task, error) {
	if x.writable == nil {
		return nil, errors.New("the memory that the process can change is not known")
	}
	r := &reader{Reader: structs.New(x.arch, of, &x.pages), left: mostTaskWork}
	defer r.Free()
	found := &threads{reader: r, kinds: map[uint64]bool{}}
	var room scan.Room
	whole := room.Words(of, x.writable(), mostSearched, found.piece)
	list, err := found.tasks()
	if !whole && err == nil {
		err = fmt.Errorf("the process has more than %d GiB of memory: the rest was not searched for threads", mostSearched>>30)
	}
	return list, err
}

// tasks returns the threads that were found. The error says why some may not be among them.
func (t *threads) tasks() (list []language.Task, err error) {
	left := mostTaskFrames
	for _, at := range t.list {
		task, ok := t.task(at)
		if !ok {
			continue
		}
		if left -= len(task.Frames); left < 0 {
			return list, fmt.Errorf("the threads have more than %d frames: the others are not shown", mostTaskFrames)
		}
		list = append(list, task)
	}
	switch {
	case len(t.list) >= mostTasks:
		return list, fmt.Errorf("there are more than %d threads: the others are not shown", mostTasks)
	case len(t.kinds) >= mostKinds:
		return list, errors.New("there are more kinds of records than can be: some threads may not be shown")
	case t.left < 0:
		return list, errors.New("there are more objects than can be: some threads may not be shown")
	}
	return list, nil
}

// piece takes note of the threads in a piece of memory.
func (t *threads) piece(at uint64, data []byte) {
	get := func(i uint64) uint64 { return t.Arch.Order.Uint64(data[word*i:]) }
	is := func(v, tag uint64) bool { return v&tags == tag || v == falseObject }
	for i := -(at / word) & 1; i+threadWords <= uint64(len(data)/word); i += 2 {
		kind, group := get(i), get(i+threadGroup)
		engine := get(i + threadEngine)
		if kind&tags != typedTag || group&tags != typedTag || !is(engine, closureTag) && engine&tags != symbolTag || !is(get(i+threadName), symbolTag) ||
			!is(get(i+threadPrevious), typedTag) || !is(get(i+threadNext), typedTag) {
			continue
		}
		one, known := t.kinds[kind]
		if !known && len(t.kinds) < mostKinds {
			one = t.isThread(kind)
			t.kinds[kind] = one
		}
		if begin := at + word*i; one && len(t.list) < mostTasks && (len(t.list) == 0 || t.list[len(t.list)-1] < begin) {
			t.list = append(t.list, begin)
		}
	}
}

// kindWords is how many words of a kind of records are looked at for its name.
const kindWords = 10

// isThread reports whether a kind of records is Racket's threads.
func (t *threads) isThread(kind uint64) bool {
	defer t.Err()
	at, ok := t.record(kind)
	for i := uint64(1); ok && i < kindWords; i++ {
		if name, ok := t.text(t.Pointer(at + word*i)); ok && name == "thread" {
			return true
		}
		t.Err()
	}
	return false
}

// engineWords is how many words of an engine are looked at.
const engineWords = 8

// task returns the thread of a record; ok is false if it has ended.
func (r *reader) task(at uint64) (t language.Task, ok bool) {
	defer r.Err()
	t = language.Task{ID: at, Kind: "thread", State: "runnable"}
	t.Name, _ = r.text(r.Pointer(at + word*threadName))
	r.Err()
	engine := r.Pointer(at + word*threadEngine)
	if engine&tags != closureTag {
		t.State, _ = r.text(engine)
		return t, t.State == "running" // a thread of the system has its frames
	}
	switch {
	case r.Pointer(at+word*threadSleeps) != falseObject:
		t.State = "sleeping"
	case r.Pointer(at+word*threadDescheduled) != falseObject:
		t.State = "waiting"
	}
	for i := uint64(1); i < engineWords; i++ {
		chains := r.field(engine, closureTag, i)
		first := r.field(chains, pairTag, 0)
		r.Err()
		if !r.isChain(first) {
			continue
		}
		calls, err := r.calls(context{link: r.field(first, typedTag, chainResume), chains: r.field(chains, pairTag, 1)})
		if err != nil {
			t.Early = err.Error()
		}
		known := map[uint64]language.Frame{}
		for _, c := range calls {
			t.Frames = append(t.Frames, r.known(known, c))
		}
		return t, true
	}
	return t, true // it has not begun
}
