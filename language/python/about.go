package python

import (
	"path"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/language"
)

// about returns what Python knows of a thread, beside its frames: its name, whether it has the GIL
// or waits for it, and its exception. What cannot be read is left out: the thread may be changing
// it. within has frames in whose statements locks may be held, by thread state; frames are the ones
// of all groups.
func (r *interpreter) about(o *objects, s *language.Stack, states []threadState, within [][]entered, groups []language.Group, frames []language.Frame) (t language.Thread) {
	var words []string
	futex, waiting := waitedWord(o.memory, s)
	for i := range states {
		state := &states[i]
		r.names.add(state.id, s.Thread.ID())
		if t.Name == "" {
			name, daemon := r.threadName(o, state)
			t.Name = name
			if daemon {
				words = append(words, "daemon")
			}
		}
		switch gil, holder, ok := r.gil(o.memory, state); {
		case !ok:
		case holder == state.addr:
			t.Holds = append(t.Holds, language.Lock{Kind: "GIL", Address: gil, Owner: s.Thread.ID(), Level: -1})
			words = append(words, "has the GIL")
		case waiting && r.ofGIL(futex.Word, gil):
			lock := language.Lock{Kind: "GIL", Address: gil, Level: -1}
			if id, err := o.pointer(holder, threadID); holder != 0 && err == nil {
				lock.Owner = r.threadOf(o, id)
			}
			t.Waits = append(t.Waits, lock)
		}
		if t.Exception == "" {
			t.Exception = r.exceptionOf(o, state)
		}
	}
	var waited lock
	if waiting && len(t.Waits) == 0 {
		x, lock, ok := r.blocked(o, s, states[0].interpreter, groups, frames, futex)
		if waited = lock; ok {
			t.Waits = append(t.Waits, x)
		}
	}
	t.Holds = append(t.Holds, o.futures(frames, s.Thread.ID())...)
	for i := range within {
		for j := range within[i] {
			e := &within[i][j]
			for _, k := range slices.Backward(append(r.givesBack(o, e, states[i].id), o.held(e, states[i].id)...)) {
				if k.object == waited.object {
					continue // its with statement begins
				}
				level := slices.IndexFunc(frames, func(f language.Frame) bool { return f.Place == e.frame })
				if level < 0 || slices.ContainsFunc(t.Holds, func(x language.Lock) bool { return x.Address == k.object }) {
					continue
				}
				if !k.recursive && slices.ContainsFunc(frames[:level], func(f language.Frame) bool { return o.letsGo(f, k.object) }) {
					continue
				}
				x := r.tell(o, k, level, frames[level:level+1])
				x.Owner = s.Thread.ID()
				t.Holds = append(t.Holds, x)
			}
		}
	}
	t.State = strings.Join(words, ", ")
	return t
}

// framesOf returns the frames of all groups.
func framesOf(groups []language.Group) (list []language.Frame) {
	for i := range groups {
		list = append(list, groups[i].Frames...)
	}
	return list
}

// gil returns the address of the GIL of a thread state's interpreter, and the thread state that
// holds it, 0 if none does. ok is false where there is no GIL, or nobody knows it.
func (r *interpreter) gil(m *memory, t *threadState) (gil, holder uint64, ok bool) {
	l := r.layout
	if !l.has(gilLocked, gilHolder) {
		return 0, 0, false
	}
	switch {
	case l.minor >= 12 && l.has(interpreterGIL):
		at, err := m.pointer(t.interpreter, interpreterGIL)
		if err != nil || at == 0 {
			return 0, 0, false
		}
		gil = at
	case l.minor < 12 && l.has(runtimeGIL):
		gil = r.runtime + l.at[runtimeGIL]
	default:
		return 0, 0, false
	}
	if l.freeThreaded {
		if !l.has(gilEnabled) {
			return 0, 0, false
		}
		if n, err := m.int32(gil + l.at[gilEnabled]); err != nil || n == 0 {
			return 0, 0, false
		}
	}
	locked, err := m.int32(gil + l.at[gilLocked])
	if err != nil {
		return 0, 0, false
	}
	if locked != 1 { // the last holder has let it go
		return gil, 0, true
	}
	holder, err = m.word(gil + l.at[gilHolder])
	return gil, holder, err == nil
}

// int32 reads a number of C's type int.
func (m *memory) int32(addr uint64) (int32, error) {
	var room [4]byte
	n, err := m.ReadMemory(addr, room[:])
	if n < len(room) {
		return 0, err
	}
	return int32(m.order.Uint32(room[:])), nil
}

// ofGIL reports whether a word for which a thread waits is the GIL's: of its condition variable, or
// of the mutex of that.
func (r *interpreter) ofGIL(word, gil uint64) bool {
	l := r.layout
	// The mutex is the last that is known: pthread_mutex_t has at least 24 bytes.
	return l.has(gilCond, gilMutex) && word >= gil+l.at[gilCond] && word < gil+l.at[gilMutex]+24
}

// letsGo reports whether a function has let a lock go whose with statement its caller is in, and
// will take it again: Condition.wait of the module threading, of the condition's own lock.
func (o *objects) letsGo(f language.Frame, lock uint64) bool {
	return (f.Function == "Condition.wait" || f.Function == "wait") && path.Base(f.File) == "threading.py" && o.nameOf(lock, &f) == "self._lock"
}
