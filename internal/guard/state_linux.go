package guard

import (
	"errors"
	"slices"
	"syscall"
	"unsafe"

	"github.com/sfwalk/sfwalk/arch/control"
)

// state is all that makes up a thread but its memory.
type savedState struct {
	sets   [][]byte // by the position in Control.StateSets; nil for one that the thread lacks
	mask   sigmask
	masked bool
	signal *siginfo // that was about to be delivered
	// atBreakpoint, hit and pass are the tracee's.
	atBreakpoint bool
	hit          uint64
	pass         pass
}

func (t *tracee) save(a *control.Control) error {
	var s savedState
	room := make([]byte, maxSet)
	for i, note := range a.StateSets {
		n, err := getSet(t.tid, note, room)
		if err != nil && i == 0 {
			return err
		}
		if i == 0 && n != a.StatusSize {
			return errOtherWidth
		}
		var set []byte
		if err == nil {
			set = append(set, room[:n]...)
		}
		s.sets = append(s.sets, set)
	}
	s.masked = getSigMask(t.tid, &s.mask) == nil
	s.signal, t.signal, t.chosen = t.signal, nil, false
	s.atBreakpoint, s.hit, s.pass = t.atBreakpoint, t.hit, t.pass
	if len(t.saved) == 0 && a.BeginAgain != nil {
		t.forgotten, t.watched = false, a.BeginAgain(slices.Clone(s.sets[0]))
	}
	t.saved = append(t.saved, s)
	return nil
}

// errOtherWidth says that a thread executes code of another width than its program has: it has
// another processor's registers.
var errOtherWidth = errors.New("the thread executes code of another width than its program")

var errNotSaved = errors.New("no state of the thread was saved")

func (t *tracee) drop() error {
	if len(t.saved) == 0 {
		return errNotSaved
	}
	last := len(t.saved) - 1
	t.owe(t.saved[last].signal)
	t.saved = t.saved[:last]
	return nil
}

// restore puts the thread into the state that was saved last. If the function that it was made to
// call has returned, the thread blocks the signals that it blocks now: to change that may be what
// the function is for.
func (t *tracee) restore(g *guard, returned bool) error {
	if len(t.saved) == 0 {
		return errNotSaved
	}
	last := len(t.saved) - 1
	if returned {
		t.saved[last].masked = false
	}
	if err := t.put(g, &t.saved[last]); err != nil {
		return err
	}
	t.saved = t.saved[:last]
	return nil
}

// put makes s the state of the thread.
func (t *tracee) put(g *guard, s *savedState) error {
	if t.state != stopped {
		return errRuns
	}
	t.noteBlock(g.arch)
	for i, note := range g.arch.StateSets {
		set := s.sets[i]
		if set == nil {
			continue
		}
		if i == 0 && t.forgotten && g.arch.BeginAgain != nil {
			g.arch.BeginAgain(set)
		}
		if err := putSet(t.tid, note, set); err != nil && i == 0 {
			return err
		}
	}
	if s.masked {
		setSigMask(t.tid, &s.mask)
	}
	// What the thread has brought upon itself is undone with what it did.
	if t.signal != nil && (isFault(t.signal) || g.ownSignal(t.signal)) {
		t.signal = nil
	}
	t.chosen = false
	t.atBreakpoint, t.hit, t.pass = s.atBreakpoint, s.hit, s.pass
	t.owe(s.signal)
	if s == &t.saved[0] {
		t.watched = false
	}
	return nil
}

// noteBlock notes that the kernel has forgotten how to go on with the system call of the saved
// state: the thread stands in another one of that kind.
func (t *tracee) noteBlock(a *control.Control) {
	if !t.watched {
		return
	}
	room := make([]byte, maxSet)
	if n, err := getSet(t.tid, control.NTPRStatus, room); err == nil && a.BeginAgain(room[:n]) {
		t.forgotten, t.watched = true, false
	}
}

// systemCall is called when a watched thread begins or ends a system call.
func (t *tracee) systemCall(a *control.Control) {
	call := a.SystemCall
	room := make([]byte, maxSet)
	n, err := getSet(t.tid, call.Note, room)
	if err != nil || n < call.Off+call.Size {
		return
	}
	number := uint64(*(*uint32)(unsafe.Pointer(&room[call.Off])))
	if call.Size == 8 {
		number = *(*uint64)(unsafe.Pointer(&room[call.Off]))
	}
	if slices.Contains(a.Forgetting, number) {
		t.forgotten, t.watched = true, false
	}
}

// owe notes a signal that must be delivered yet.
func (t *tracee) owe(s *siginfo) {
	if s != nil {
		t.owed = append(t.owed, *s)
	}
}

// isFault reports whether the kernel has sent a signal because of an instruction.
func isFault(s *siginfo) bool {
	switch syscall.Signal(s.number()) {
	case syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGSYS:
		return s.code() > 0
	}
	return false
}
