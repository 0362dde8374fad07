package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// StopKind says what a stub tells of when it has stopped the target.
type StopKind uint8

const (
	// Stopped by a signal, or, if that is SIGTRAP, by a breakpoint or a step.
	Stopped StopKind = iota
	// Exited is the end of the process by exit(2).
	Exited
	// Killed is the end of the process by a signal.
	Killed
	// ThreadExited is the end of one thread. Few stubs tell of it.
	ThreadExited
	// NoThread says that no resumed thread is left.
	NoThread
	// Forked and VForked: the process has made a child, which the stub holds, too.
	Forked
	VForked
	// VForkDone: the child no longer uses the memory of the process.
	VForkDone
	// Execed: the process runs another program.
	Execed
	// Created: the thread has just begun.
	Created
)

// Stop is an answer of the stub to a packet that has let the target run.
type Stop struct {
	Kind   StopKind
	Thread *Thread // nil if the stub does not name it
	TID    int     // of Thread, or of the thread that has ended; 0 if the stub does not name it
	Signal int     // as Linux numbers signals
	Status int     // of Exited and ThreadExited
	// Breakpoint says that Thread has come to a breakpoint. Not all stubs tell.
	Breakpoint bool
	// Interrupts is how often the target was asked to stop. If it has stopped for another reason,
	// the interrupt is still to come; if it was asked more than once, the others may be.
	Interrupts int

	child threadID
}

// Action says how a thread runs.
type Action struct {
	Thread *Thread // nil stands for all that no other action names
	Step   bool    // one instruction
	Signal int     // is delivered; 0 for none
}

// text returns the action in the words of vCont.
func (a *Action) text(s *session) (string, error) {
	verb := "c"
	if a.Step {
		verb = "s"
	}
	if a.Signal != 0 {
		n, ok := gdbSignal(a.Signal)
		if !ok {
			return "", fmt.Errorf("gdb has no number for signal %d", a.Signal)
		}
		if s.features[nativeSignals] {
			n = byte(a.Signal)
		}
		verb = strings.ToUpper(verb) + string(hexByte(n))
	}
	return verb, nil
}

// Run lets threads run, each as its first action says; a thread without one stands still if the
// stub can do that. [Target.Await] waits for what happens.
func (t *Target) Run(actions ...Action) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.run(actions); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	return nil
}

func (t *Target) run(actions []Action) error {
	if len(actions) == 0 {
		return errors.New("no thread is to run")
	}
	vCont, err := t.s.hasVCont()
	if err != nil {
		return err
	}
	packet := "vCont"
	for i := range actions {
		a := &actions[i]
		text, err := a.text(t.s)
		if err != nil {
			return err
		}
		if !vCont {
			// The first action is for the thread that Hc selects, or for all.
			thread := "-1"
			if a.Thread != nil {
				thread = a.Thread.id.text
			}
			if err := t.s.selectToStep(thread); err != nil {
				return err
			}
			packet = text
			break
		}
		packet += ";" + text
		if a.Thread != nil {
			packet += ":" + a.Thread.id.text
		}
	}
	t.forget()
	t.s.thread = "" // stubs make the stopped thread the current one
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	_, err = t.s.link.within(t.s.link.timeout, func() ([]byte, error) { return nil, t.s.link.send([]byte(packet)) })
	return err
}

// hasVCont asks, once, whether the stub resumes threads by vCont, with signals.
func (s *session) hasVCont() (bool, error) {
	if s.vCont == 0 {
		reply, err := s.exchange("vCont?")
		if err != nil {
			return false, err
		}
		s.vCont = -1
		if verbs := strings.Split(string(reply), ";"); verbs[0] == "vCont" && slices.Contains(verbs, "C") && slices.Contains(verbs, "c") {
			s.vCont = 1
		}
	}
	return s.vCont > 0, nil
}

// Await waits until the target stops after [Target.Run]. When ctx ends, Await interrupts the
// target.
func (t *Target) Await(ctx context.Context) (Stop, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.mu.Lock()
	reply, interrupts, err := t.s.link.await(ctx)
	t.s.mu.Unlock()
	if err != nil {
		return Stop{}, err
	}
	if len(reply) == 0 {
		return Stop{}, errors.New("resume: the stub cannot do that")
	}
	parsed, err := parseReply(reply)
	if err != nil {
		return Stop{}, err
	}
	stop := Stop{Kind: parsed.kind, Status: parsed.status, Breakpoint: parsed.breakpoint, Interrupts: interrupts, child: parsed.child}
	stop.Signal, _ = t.s.linuxSignal(parsed.signal)
	t.StopSignal, t.StopName = t.s.linuxSignal(parsed.signal)
	if stop.Kind == Exited || stop.Kind == Killed {
		t.threads = nil
		return stop, nil
	}
	if !parsed.known && stop.Kind != NoThread {
		if parsed.thread, err = t.currentThread(); err != nil {
			return Stop{}, err
		}
	}
	stop.TID = parsed.thread.tid
	switch {
	case stop.Kind == NoThread, stop.TID == 0 && parsed.thread.text == "":
	case stop.Kind == ThreadExited:
		t.threads = slices.DeleteFunc(t.threads, func(th *Thread) bool { return th.id.tid == stop.TID })
	case stop.Kind == Execed:
		t.threads = []*Thread{{t: t, id: parsed.thread}}
		stop.Thread = t.threads[0]
	default:
		stop.Thread = t.stoppedThread(parsed.thread)
	}
	for _, th := range t.threads {
		th.Current = th == stop.Thread
	}
	return stop, nil
}

// currentThread asks for the thread that a stop reply has not named.
func (t *Target) currentThread() (threadID, error) {
	if len(t.threads) == 1 {
		return t.threads[0].id, nil
	}
	reply, err := t.s.exchange("qC")
	if err != nil {
		return threadID{}, err
	}
	text, ok := strings.CutPrefix(string(reply), "QC")
	if !ok {
		return threadID{}, errors.New("the stub does not tell which thread has stopped")
	}
	return parseThreadID(text)
}

// stoppedThread returns the thread with an ID, and puts it first in the list.
func (t *Target) stoppedThread(id threadID) *Thread {
	i := t.indexOf(id)
	th := &Thread{t: t, id: id}
	if i >= 0 {
		th = t.threads[i]
		t.threads = slices.Delete(t.threads, i, i+1)
	}
	t.threads = slices.Insert(t.threads, 0, th)
	return th
}

// ListThreads asks for the threads anew: call it when the target has run. Threads that were known
// keep their [*Thread]. The thread that has stopped last stays the first if it is still there.
func (t *Target) ListThreads() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.threads) == 0 {
		return nil
	}
	list, err := t.s.listThreads(stop{})
	if err != nil {
		return err
	}
	pid := t.threads[0].id.pid
	list = slices.DeleteFunc(list, func(th *Thread) bool { return th.id.pid != pid })
	if len(list) == 0 {
		return nil // if a stub lists none, the threads stay as before
	}
	for i, th := range list {
		th.t, th.Current = t, false
		if k := t.indexOf(th.id); k >= 0 {
			list[i] = t.threads[k]
		}
	}
	if i := slices.Index(list, t.threads[0]); i > 0 {
		list = slices.Insert(slices.Delete(list, i, i+1), 0, t.threads[0])
	}
	t.threads = list
	return nil
}

// indexOf returns the index of a thread that is known, -1 if there is none.
func (t *Target) indexOf(id threadID) int {
	return slices.IndexFunc(t.threads, func(th *Thread) bool { return th.id.tid == id.tid && th.id.pid == id.pid })
}

// interruptByte is what stops a running target (gdb's manual, "Interrupts").
const interruptByte = 3

// maxInterrupts is how often a target is asked to stop: gdbserver loses an interrupt that arrives
// before the target runs.
const maxInterrupts = 5

// await waits for a stop reply, without a bound on the time until ctx ends. Then it interrupts the
// target.
func (l *link) await(ctx context.Context) (reply []byte, interrupts int, err error) {
	if l.broken != nil {
		return nil, 0, l.broken
	}
	for {
		err := l.idle(ctx)
		if err == nil {
			reply, err = l.within(l.timeout, l.receive)
			if err == nil && isOutput(reply) {
				continue
			}
			return reply, interrupts, err
		}
		if ctx.Err() == nil {
			l.broken = ErrHungUp
			return nil, interrupts, l.broken
		}
		if interrupts == maxInterrupts {
			// gdbserver 13 sends SIGINT to the group that the process leads, though it may lead
			// none.
			l.broken = fmt.Errorf("the stub does not stop the target (%w to an interrupt in %v): gdbserver may stop only the leader of a group of processes, and qemu stop at none; kill -INT of the process (qemu: -TRAP) does it", errNoAnswer, l.timeout)
			return nil, interrupts, l.broken
		}
		interrupts++
		if _, err := l.within(l.timeout, func() ([]byte, error) {
			_, err := l.conn.Write([]byte{interruptByte})
			return nil, err
		}); err != nil {
			return nil, interrupts, err
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.Background(), l.timeout/maxInterrupts)
		defer cancel()
	}
}

// isOutput reports whether a packet has the target's output.
func isOutput(reply []byte) bool {
	return len(reply) > 0 && reply[0] == 'O' && string(reply) != "OK"
}

// idle waits until a packet arrives, or ctx ends. It reads nothing of the packet.
func (l *link) idle(ctx context.Context) error {
	for {
		c, err := l.peek(ctx)
		switch {
		case err != nil || c == '$':
			return err
		case c == '%': // a notification
			l.r.ReadByte()
			if _, err := l.within(l.timeout, func() ([]byte, error) { _, _, err := l.body(); return nil, err }); err != nil {
				return err
			}
		default:
			l.r.ReadByte()
		}
	}
}

// peek waits for the next byte, and leaves it unread.
func (l *link) peek(ctx context.Context) (byte, error) {
	l.conn.SetDeadline(time.Time{})
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		l.conn.SetDeadline(time.Unix(1, 0))
	})
	b, err := l.r.Peek(1)
	if !stop() {
		<-ended
	}
	if err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return 0, err
	}
	return b[0], nil
}
