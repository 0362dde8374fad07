package python

import (
	"fmt"
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/internal/threadlocal"
	"github.com/sfwalk/sfwalk/language"
)

// mostInterpreters and mostThreads bound lists of a process that may be broken.
const (
	mostInterpreters = 1 << 12
	mostThreads      = 1 << 16
)

// threadState is a PyThreadState: a thread has one for each interpreter in which it has been.
type threadState struct {
	addr, interpreter uint64
	id, native        uint64 // pthread_self(); the system's ID as its own PID namespace has it, 0 if that is not known
	frame, cframe     uint64 // 3.13 on and up to 3.10; 3.11, 3.12
}

// eachThread calls do with all thread states, until it returns false.
func (r *interpreter) eachThread(m *memory, do func(t *threadState) bool) error {
	interp, err := m.pointer(r.runtime, runtimeInterpreters)
	if err != nil {
		return err
	}
	threads := 0
	var interps, states loop
	for n := 0; interp != 0; n++ {
		if n == mostInterpreters || !interps.add(interp) {
			return fmt.Errorf("the list of interpreters at %#x does not end", r.runtime)
		}
		at, err := m.pointer(interp, interpreterThreads)
		if err != nil {
			return err
		}
		for ; at != 0; threads++ {
			if threads == mostThreads || !states.add(at) {
				return fmt.Errorf("the list of threads of the interpreter at %#x does not end", interp)
			}
			t, next, err := r.thread(m, at)
			if err != nil {
				return err
			}
			if t.interpreter != interp {
				return fmt.Errorf("the thread state at %#x is not of its interpreter, which is at %#x: the layout of another build is needed, or the list is being changed", at, interp)
			}
			if !do(&t) {
				return nil
			}
			at = next
		}
		if interp, err = m.pointer(interp, interpreterNext); err != nil {
			return err
		}
	}
	return nil
}

// thread reads the thread state at an address, and the address of the next one.
func (r *interpreter) thread(m *memory, at uint64) (t threadState, next uint64, err error) {
	rec, err := m.record(at, threadRoom, r.threadPart)
	if err != nil {
		return t, 0, fmt.Errorf("a thread state: %w", err)
	}
	t = threadState{addr: at, interpreter: rec.word(threadInterpreter), id: rec.word(threadID)}
	if r.layout.has(threadNativeID) {
		t.native = rec.word(threadNativeID)
	}
	if r.layout.has(threadFrame) {
		t.frame = rec.word(threadFrame)
	}
	if r.layout.has(threadFrameObject) {
		t.frame = rec.word(threadFrameObject)
	}
	if r.layout.has(threadCFrame) {
		t.cframe = rec.word(threadCFrame)
	}
	return t, rec.word(threadNext), nil
}

// threadStates returns the states of a stack's thread, the one that was made last first.
func (r *interpreter) threadStates(m *memory, s *language.Stack) (list []threadState, err error) {
	pointer, ok := threadPointer(s)
	if ok {
		if list = r.states.known(r, m, pointer); len(list) > 0 {
			return list, nil
		}
	}
	heads, _ := r.heads(m)
	byID := map[uint64][]uint64{}
	var byNative []threadState
	err = r.eachThread(m, func(t *threadState) bool {
		byID[t.id] = append(byID[t.id], t.addr)
		switch {
		case ok && t.id == pointer:
			list = append(list, *t)
		case t.native != 0 && t.native == uint64(s.Thread.ID()):
			byNative = append(byNative, *t)
		}
		return true
	})
	if err == nil && heads != nil {
		r.states.keep(heads, byID)
	}
	if len(list) == 0 && !(ok && r.pointerIsID(s)) {
		list = byNative
	}
	return slices.Clip(list), err
}

// threadLists is where the thread states were when all lists were read: to look for the state of
// each thread in all lists would take time by the square of the number of threads.
type threadLists struct {
	mu    sync.Mutex
	heads []listHead
	byID  map[uint64][]uint64 // addresses, by pthread_self()
}

// listHead is an interpreter and the first of its thread states.
type listHead struct{ interpreter, addr, id, next uint64 }

// keep keeps the addresses of all thread states.
func (k *threadLists) keep(heads []listHead, byID map[uint64][]uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.heads, k.byID = heads, byID
}

// known returns the states of a thread by what was kept. New states are put at the head of a list:
// as long as all heads are the same, there are no others. It returns none where that is not sure,
// or where a state is not the thread's any more.
func (k *threadLists) known(r *interpreter, m *memory, id uint64) (list []threadState) {
	k.mu.Lock()
	heads, addresses := k.heads, k.byID[id]
	k.mu.Unlock()
	if len(addresses) == 0 {
		return nil
	}
	if now, err := r.heads(m); err != nil || !slices.Equal(now, heads) {
		return nil
	}
	for _, at := range addresses {
		t, _, err := r.thread(m, at)
		if err != nil || t.id != id || !slices.ContainsFunc(heads, func(h listHead) bool { return h.interpreter == t.interpreter }) {
			return nil
		}
		list = append(list, t)
	}
	return list
}

// heads returns the first thread state of each interpreter.
func (r *interpreter) heads(m *memory) (list []listHead, err error) {
	interp, err := m.pointer(r.runtime, runtimeInterpreters)
	var interps loop
	for err == nil && interp != 0 {
		if len(list) == mostInterpreters || !interps.add(interp) {
			return nil, fmt.Errorf("the list of interpreters at %#x does not end", r.runtime)
		}
		h := listHead{interpreter: interp}
		if h.addr, err = m.pointer(interp, interpreterThreads); err == nil && h.addr != 0 {
			// What else is in it changes as soon as the thread runs.
			if h.id, err = m.pointer(h.addr, threadID); err == nil {
				h.next, err = m.pointer(h.addr, threadNext)
			}
		}
		list = append(list, h)
		if err == nil {
			interp, err = m.pointer(interp, interpreterNext)
		}
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// pointerIsID reports whether pthread_self() is the thread pointer: where thread-local variables
// lie below it, C libraries have their own record of the thread there.
func (r *interpreter) pointerIsID(s *language.Stack) bool {
	return s.Arch.ThreadBlock == 0
}

// threadPointer returns the address of the thread's own storage.
func threadPointer(s *language.Stack) (pointer uint64, ok bool) {
	if len(s.Frames) == 0 {
		return 0, false
	}
	return threadlocal.Pointer(s.Arch, s.Frames[0])
}
