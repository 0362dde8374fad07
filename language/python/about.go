package python

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/language"
	"strings"
)

// about returns what Python knows of a thread, beside its frames: its name, whether it has the GIL
// or waits for it, and its exception. What cannot be read is left out: the thread may be changing
// it.
func (r *interpreter) about(o *objects, s *language.Stack, states []threadState) (t language.Thread) {
	var words []string
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
		case r.waitsForGIL(o.memory, s, gil):
			lock := language.Lock{Kind: "GIL", Address: gil, Level: -1}
			if id, err := o.pointer(holder, threadID); holder != 0 && err == nil {
				lock.Owner = r.names.of(id)
			}
			t.Waits = append(t.Waits, lock)
			words = append(words, "waits for the GIL")
		}
		if t.Exception == "" {
			t.Exception = o.exceptionOf(state)
		}
	}
	t.State = strings.Join(words, ", ")
	return t
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

// waitsForGIL reports whether the stack's thread waits in the system for the GIL: for its condition
// variable or the mutex of that, which the GIL's record has.
func (r *interpreter) waitsForGIL(m *memory, s *language.Stack, gil uint64) bool {
	l := r.layout
	if s.Arch.SystemCalls == nil || !l.has(gilCond, gilMutex) {
		return false
	}
	var regs arch.Registers
	if s.Thread.Registers(&regs) != nil {
		return false
	}
	pc, ok := regs.Get(s.Arch.PC)
	if !ok {
		return false
	}
	code := make([]byte, arch.SystemCallCode)
	if n, _ := m.ReadMemory(pc-arch.SystemCallCode/2, code); n < len(code) {
		return false
	}
	at, ok := s.Arch.Futex(&regs, code)
	// The mutex is the last that is known: pthread_mutex_t has at least 24 bytes.
	return ok && at.Word >= gil+l.at[gilCond] && at.Word < gil+l.at[gilMutex]+24
}
