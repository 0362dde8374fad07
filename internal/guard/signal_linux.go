package guard

import (
	"os"
	"syscall"
)

// choose has signal, 0 for none, delivered to the thread instead of the one that has come. What was
// chosen stays so if the thread has not run since, but for another signal.
func (t *tracee) choose(signal int) {
	if t.chosen && signal == 0 {
		return
	}
	t.chosen = true
	switch {
	case signal == 0:
		t.signal = nil
	case t.signal == nil || t.signal.number() != signal:
		t.signal = sent(signal, os.Getpid())
	}
}

// deliver returns the signal with which the thread must be resumed. What it is owed is delivered
// before, unless it is in a state that will be undone. If that cannot be done at once, the thread
// runs and ok is false.
func (t *tracee) deliver(g *guard, always bool) (signal int, ok bool) {
	if t.signal != nil && !t.delivery {
		t.owe(t.signal)
		t.signal = nil
	}
	if len(t.saved) == 0 || always {
		for len(t.owed) > 0 && t.redeliver(g) {
			t.owed = t.owed[1:]
		}
	}
	t.quiet = false
	if t.state != stopped {
		return 0, false
	}
	if t.signal != nil {
		// The stop may be for something else than this signal.
		setSigInfo(t.tid, t.signal)
		signal = t.signal.number()
		t.signal = nil
	}
	return signal, true
}

// siTKill is the code of a signal from tgkill(2).
const siTKill = -6

// maxOthers bounds the signals that may come before one that is delivered anew.
const maxOthers = 64

// redeliver has the thread stop because the first signal that it is owed is about to be delivered.
// ptrace can deliver a signal only then, so another one of the same number is sent.
func (t *tracee) redeliver(g *guard) bool {
	s := &t.owed[0]
	if tgkill(g.pid, t.tid, syscall.Signal(s.number())) != nil {
		return false
	}
	for range maxOthers {
		signal := 0
		if t.signal != nil {
			setSigInfo(t.tid, t.signal)
			signal = t.signal.number()
		}
		if ptrace(ptraceCont, t.tid, 0, uintptr(signal)) != nil {
			return false
		}
		t.state, t.signal, t.quiet = running, nil, true
		if !g.awaitStops(func() bool { return t.state == running }) || t.state != stopped {
			return false
		}
		if t.signal != nil && t.signal.number() == s.number() && t.signal.code() == siTKill && (t.signal.sender() == os.Getpid() || t.signal.sender() == 0) {
			*t.signal = *s
			return true
		}
	}
	return false
}

// settle has the threads that were stopped take the faults that they have run into just before: a
// stop that was asked for comes first. It reports whether there was one: then the thread must be
// awaited.
//
// A breakpoint's fault would end the process after the breakpoint is gone, and so would the fault
// of a function that was called, after the thread is put back.
func (g *guard) settle() (any bool) {
	for _, t := range g.threads {
		if t.state != stopped || t.delivery || t.exiting || !t.stepping && len(t.saved) == 0 && len(g.breakpoints) == 0 {
			continue
		}
		if hasFault(t.tid) && ptrace(ptraceCont, t.tid, 0, 0) == nil {
			t.state = running
			any = true
		}
	}
	return any
}

// hasFault reports whether a fault waits for its delivery to a thread.
func hasFault(tid int) bool {
	var infos [16]siginfo
	for off := 0; ; off += len(infos) {
		n := peekSigInfo(tid, off, infos[:])
		for i := range n {
			if isFault(&infos[i]) {
				return true
			}
		}
		if n < len(infos) {
			return false
		}
	}
}
