package guard

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/sfwalk/sfwalk/arch/control"
)

// attach stops threads of a process, which the owner has looked at before.
func (g *guard) attach(r *Request) (err error) {
	g.pid, g.timeout, g.all = r.PID, time.Duration(r.Timeout), len(r.TIDs) == 0
	if g.arch = control.ByName(r.Arch); g.arch == nil {
		return errors.New("the guard does not know processor " + r.Arch)
	}
	options := uintptr(traceAlways)
	if g.all {
		options = traceThreads
	}
	for again := true; again; {
		tids := r.TIDs
		if g.all {
			if tids, err = tasks(g.pid); err != nil {
				return err
			}
		}
		again = false
		for _, tid := range tids {
			if g.threads[tid] != nil {
				continue
			}
			err := ptrace(ptraceSeize, tid, 0, options)
			mayBeLeftOut := err == syscall.ESRCH || err == syscall.EPERM && (isZombie(g.pid, tid) || isWorker(g.pid, tid))
			if g.all && mayBeLeftOut {
				continue
			} else if err != nil {
				return err
			}
			t := &tracee{tid: tid, state: running, asked: true}
			g.threads[tid] = t
			again = g.all
			if g.mem == nil {
				go g.watch()
				if g.mem, err = openMem(g.pid, tid); err != nil {
					return err
				}
			}
			ptrace(ptraceInterrupt, tid, 0, 0)
		}
		some := func() bool {
			for _, t := range g.threads {
				if t.state == running && !t.exiting {
					return true
				}
			}
			return false
		}
		if !g.awaitStops(some) && !g.all {
			return ErrNotStopped
		}
	}
	if len(g.threads) == 0 {
		return syscall.ESRCH
	}
	return nil
}

func tasks(pid int) (tids []int, err error) {
	entries, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids, err
}

// taskFile returns the path of a file of a thread's folder in /proc.
func taskFile(pid, tid int, name string) string {
	return "/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(tid) + "/" + name
}

// taskState returns the state of a thread as the kernel names it (proc(5)): 'R' runs or waits for a
// processor. It is 0 if there is no such thread.
func taskState(pid, tid int) byte {
	text, err := os.ReadFile(taskFile(pid, tid, "stat"))
	if after := text[bytes.LastIndexByte(text, ')')+1:]; err == nil && len(after) > 1 {
		return after[1]
	}
	return 0
}

// isWorker reports whether a thread is one that the kernel runs for the process (io_uring's,
// vhost's): some releases of the kernel let nobody trace it.
func isWorker(pid, tid int) bool {
	const ioWorker, userWorker = 0x10, 0x4000 // PF_IO_WORKER, PF_USER_WORKER (linux/sched.h)
	text, err := os.ReadFile(taskFile(pid, tid, "stat"))
	f := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if err != nil || len(f) < 7 {
		return false
	}
	flags, err := strconv.ParseUint(string(f[6]), 10, 64)
	return err == nil && flags&(ioWorker|userWorker) != 0
}

// isZombie reports whether a thread has ended.
func isZombie(pid, tid int) bool {
	s := taskState(pid, tid)
	return s == 0 || s == 'Z' || s == 'X'
}

// Ended reports whether a thread of a process has ended. The first thread stays as a zombie while
// others live on.
func Ended(pid, tid int) bool { return isZombie(pid, tid) }

// ownID returns the ID that a process has in its own PID namespace.
func ownID(pid int) int {
	ids := bytes.Fields(statusField(pid, pid, "NSpid"))
	if len(ids) > 0 {
		if id, err := strconv.Atoi(string(ids[len(ids)-1])); err == nil {
			return id
		}
	}
	return pid
}

// ownSignal reports whether the process has sent a signal to itself.
func (g *guard) ownSignal(s *siginfo) bool {
	switch {
	case s.code() > 0:
		return false
	case s.sender() == g.pid:
		return true
	case g.ownID == 0:
		g.ownID = ownID(g.pid)
	}
	return s.sender() == g.ownID
}

// resume lets threads run, unless there are events that the owner was not told.
func (g *guard) resume(r *Request, named *tracee) error {
	if named != nil && named.state == stopped && !slices.ContainsFunc(g.events, func(e Event) bool { return e.TID == r.TID }) {
		named.choose(r.Signal) // also if it does not run yet
	}
	if len(g.events) > 0 || g.ended {
		return nil
	}
	if r.TID != 0 && named == nil {
		return errNoThread
	}
	g.runs++
	g.named, g.alone = r.TID, nil
	list := []*tracee{named}
	if r.Alone {
		g.alone = named
	} else {
		list = list[:0]
		for _, t := range g.threads {
			list = append(list, t)
		}
	}
	// First the threads at breakpoints, one after the other, while nobody runs.
	steps := map[*tracee]bool{}
	for _, t := range list {
		pc, ok := t.pc(g.arch)
		b := g.breakpoints[pc]
		if t.state != stopped || !ok || b == nil || t != named && t.group || !t.passes(b) {
			continue
		}
		steps[t] = t.stepOver(g, b, pc)
		if t.state == stopped && !steps[t] {
			return nil // something has happened, and is an event
		}
		if t == named && r.Step {
			if steps[t] {
				g.events = append(g.events, Event{Kind: Stepped, TID: t.tid})
				return nil
			}
		} else if t.state == running {
			t.late = true
		}
	}
	g.resumed = true
	for _, t := range list {
		if t.state != stopped {
			t.asked = false // the stop that was asked for has not come in time: when it comes the thread goes on
			t.steps = r.Step && t == named && !t.stepping
			continue
		}
		t.noteBlock(g.arch)
		t.asked, t.late, t.steps = false, false, false
		if t.group && t != named {
			g.stayStopped(t)
			continue
		}
		step := r.Step && t == named
		if step && !t.beginStep(g) {
			t.asked, t.steps = false, true // as above
			continue
		}
		t.loaded = false
		signal, ok := t.deliver(g, t == named && t.signal != nil)
		t.chosen = false
		if ok {
			t.atBreakpoint, t.stepping, t.through, t.pass = false, step, t.group, pass{ran: g.runs}
			if ptrace(t.request(), t.tid, 0, uintptr(signal)) == nil {
				t.state = running
			}
		}
	}
	return nil
}

// stayStopped has a thread wait for the end of a stop of the whole process.
func (g *guard) stayStopped(t *tracee) {
	if ptrace(ptraceListen, t.tid, 0, 0) != nil { // it has run since, and must come to that stop again
		ptrace(ptraceInterrupt, t.tid, 0, 0)
		if ptrace(ptraceCont, t.tid, 0, 0) != nil {
			return
		}
	}
	t.state = running
}

// execed is called when the process runs another program. It has one thread then, with the
// process's ID.
func (g *guard) execed(t *tracee) {
	clear(g.threads)
	clear(g.breakpoints)
	g.events, g.lifted = nil, 0
	*t = tracee{tid: g.pid, state: stopped}
	g.threads[g.pid] = t
	if g.mem != nil {
		g.mem.Close()
	}
	g.mem, _ = openMem(g.pid, g.pid)
	g.events = append(g.events, Event{Kind: Execed, TID: g.pid})
}

// exitPatience is how long the process has to end after its main thread.
const exitPatience = 50 * time.Millisecond

// exits is called when a thread is about to end.
func (g *guard) exits(t *tracee) {
	if ptrace(ptraceCont, t.tid, 0, 0) == nil {
		t.state = running
	}
	if t.tid != g.pid {
		return
	}
	// The main thread stays, as a zombie, as long as there are others.
	for end := time.Now().Add(g.timeout); !g.await(func() bool { return !g.ended }, exitPatience); {
		if g.others() || time.Now().After(end) {
			delete(g.threads, t.tid)
			g.threadEnded(t.tid)
			return
		}
	}
}

// others reports whether the process has threads that are not about to end.
func (g *guard) others() bool {
	tids, _ := tasks(g.pid)
	for _, tid := range tids {
		if t := g.threads[tid]; t != nil && t.exiting || isZombie(g.pid, tid) {
			continue
		}
		// The end of a process kills its other threads, one by one.
		pending, err := strconv.ParseUint(string(statusField(g.pid, tid, "SigPnd")), 16, 64)
		if err == nil && pending&(1<<(syscall.SIGKILL-1)) == 0 {
			return true
		}
	}
	return false
}

// statusField returns a field of a thread's status (proc(5)), nil if there is none.
func statusField(pid, tid int, name string) []byte {
	text, _ := os.ReadFile(taskFile(pid, tid, "status"))
	for line := range bytes.Lines(text) {
		if v, ok := bytes.CutPrefix(line, []byte(name+":")); ok {
			return bytes.TrimSpace(v)
		}
	}
	return nil
}

// threadEnded notes that a thread is no more.
func (g *guard) threadEnded(tid int) {
	kept := g.events[:0]
	for _, e := range g.events {
		if e.TID != tid {
			kept = append(kept, e)
		}
	}
	g.events = kept
	if tid != g.named {
		return
	}
	// If the process ends, the kernel first tells that its threads have ended.
	for range 3 {
		if g.all && !g.others() {
			return
		}
		g.await(func() bool { return !g.ended }, time.Millisecond)
	}
	if !g.ended {
		g.events = append(g.events, Event{Kind: ThreadExited, TID: tid})
	}
}

// end is called when the kernel says how a thread has ended.
func (g *guard) end(t *tracee, ws syscall.WaitStatus) {
	delete(g.threads, t.tid)
	if t.tid != g.pid && !(len(g.threads) == 0 && g.processEnded()) {
		g.threadEnded(t.tid)
		return
	}
	g.finish(ws)
}

// processEnded waits a moment for the end of the process that one of its threads may have been.
func (g *guard) processEnded() bool {
	for end := time.Now().Add(exitPatience); ; time.Sleep(time.Millisecond) {
		tids, err := tasks(g.pid)
		if err != nil || len(tids) == 0 || len(tids) == 1 && isZombie(g.pid, tids[0]) {
			return true
		}
		if g.all || time.Now().After(end) {
			return false
		}
	}
}

// finish notes the end of the process.
func (g *guard) finish(ws syscall.WaitStatus) {
	g.ended = true
	clear(g.threads)
	g.events = []Event{{Kind: Exited, TID: g.pid, Status: ws.ExitStatus()}}
	if ws.Signaled() {
		g.events[0] = Event{Kind: Killed, TID: g.pid, Signal: Signal{Number: int(ws.Signal())}}
	}
}
