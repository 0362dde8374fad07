package guard

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/sfwalk/sfwalk/arch/control"
)

// guardComm is the name that the system shows of a guard.
const guardComm = "inferior-guard"

func init() {
	if os.Args[0] != Name || len(os.Args) != 1 {
		return
	}
	if kind, err := syscall.GetsockoptInt(FD, syscall.SOL_SOCKET, syscall.SO_TYPE); err != nil || kind != syscall.SOCK_STREAM {
		return // a program with the same name
	}
	// Signals that end the owner are not for the guard: it ends when the owner has ended.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGPIPE, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM)
	setComm(guardComm)
	syscall.RawSyscall(sysCloseRange, FD+1, 1<<31-1, closeRangeCloexec)
	runtime.LockOSThread() // ptrace(2) wants one thread
	newGuard(os.NewFile(FD, "owner")).run()
	os.Exit(0)
}

// setComm sets the name that the system shows of this process. os.WriteFile would begin to poll.
func setComm(name string) {
	if fd, err := syscall.Open("/proc/self/comm", syscall.O_WRONLY|syscall.O_CLOEXEC, 0); err == nil {
		syscall.Write(fd, []byte(name))
		syscall.Close(fd)
	}
}

// guard traces the threads of one process.
type guard struct {
	arch    *control.Control
	owner   *os.File
	changed int           // the end of a pipe that can be read when a traced thread has something to tell
	watched int           // the other end
	looked  chan struct{} // that thread was asked

	pid     int
	ownID   int      // what the process has for its ID, in its own PID namespace; 0 until it is asked for
	mem     *os.File // the process's memory
	all     bool     // all threads are held
	timeout time.Duration
	threads map[int]*tracee
	early   map[int]syscall.WaitStatus // what threads have told before their parent told of them
	events  []Event                    // that the owner was not told
	waiting bool                       // the owner waits for an event
	refused error                      // why the last resume was refused
	resumed bool                       // threads run because the owner has resumed them
	runs    int                        // how often the owner has resumed threads
	alone   *tracee                    // the only one that was resumed; nil for all
	named   int                        // the ID of the thread that was named then
	ended   bool                       // the process is no more

	breakpoints map[uint64]*breakpoint
	letting     bool // the process is let go: breakpoints are removed for good
	lifted      int  // how many vfork(2) children have the memory: then no breakpoint is in it
}

func newGuard(owner *os.File) *guard {
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		os.Exit(1) // the owner finds out
	}
	return &guard{
		arch: control.ByName(runtime.GOARCH), owner: owner,
		changed: pipe[0], watched: pipe[1], looked: make(chan struct{}),
		threads: map[int]*tracee{}, early: map[int]syscall.WaitStatus{}, breakpoints: map[uint64]*breakpoint{},
	}
}

// run serves the owner until it is gone, and then puts everything back.
func (g *guard) run() {
	defer func() {
		recover() // a fault of ours must not cost the process
		g.putBack()
		g.putBackLate()
	}()
	in := NewReader(g.owner)
	for {
		if !in.has() && !g.asked() {
			continue
		}
		r, err := receiveRequest(in)
		if err != nil {
			return // the owner is gone
		}
		a := g.serve(&r)
		if r.Op == OpDetach {
			g.putBack()
		}
		late := r.Op == OpResume || r.Op == OpInterrupt || r.Op == OpWait && g.waiting // tell answers
		if !late && a.send(g.owner) != nil || r.Op == OpDetach {
			return
		}
		if g.waiting {
			g.soon()
		}
		g.tell()
	}
}

// spin is how long the guard asks again and again for the owner's next request, which comes at
// once, mostly: to wake up takes longer.
const spin = 60 * time.Microsecond

// asked waits until the owner asks for something, or a traced thread has something to tell. It
// takes what that is, and returns false. One thread waits for both: handing requests from another
// one to it would take longer than most requests do.
func (g *guard) asked() bool {
	for {
		list := []pollFD{{fd: FD, events: pollIn}, {fd: int32(g.changed), events: pollIn}}
		n, err := 0, error(nil)
		for end := time.Now().Add(spin); n == 0 && err == nil && time.Now().Before(end); {
			n, err = poll(list, false)
		}
		if n == 0 && err == nil {
			_, err = poll(list, true)
		}
		if err != nil {
			continue // EINTR
		}
		if list[1].revents == 0 {
			return true
		}
		syscall.Read(g.changed, make([]byte, 1))
		g.reap()
		g.looked <- struct{}{}
		g.tell()
		return false
	}
}

// soon asks the threads for some time, for most functions that are called take no longer.
func (g *guard) soon() {
	for end := time.Now().Add(100 * time.Microsecond); len(g.events) == 0 && !g.ended && time.Now().Before(end); {
		g.reap()
	}
}

// watch says when a traced thread has something to tell. Any thread of the guard can ask that, but
// only the tracer may take the answer.
func (g *guard) watch() {
	for {
		err := awaitAny()
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return // no thread is traced any more
		}
		syscall.Write(g.watched, []byte{0})
		<-g.looked
	}
}

// tell tells the owner the first event if it waits for one.
func (g *guard) tell() {
	if !g.waiting || len(g.events) == 0 {
		return
	}
	g.stopAll()
	e := g.events[0]
	g.events = g.events[1:]
	g.waiting, g.resumed = false, false
	if t := g.threads[e.TID]; t != nil && e.Kind != Signalled {
		t.pass.may = true
	}
	if a := (&Reply{Event: e, TIDs: g.tids()}); a.send(g.owner) != nil {
		g.owner.Close() // listen notices
	}
}

// tids returns the IDs of the threads that are held.
func (g *guard) tids() (list []int) {
	for tid, t := range g.threads {
		if t.state == stopped {
			list = append(list, tid)
		}
	}
	return list
}

// late returns the IDs of the threads that were asked to stop and have not.
func (g *guard) late() (list []int) {
	for tid, t := range g.threads {
		if t.state == running && !t.exiting {
			list = append(list, tid)
		}
	}
	return list
}

var (
	errRuns       = errors.New("the thread is not stopped")
	errNoThread   = errors.New("the thread has ended")
	ErrNotStopped = errors.New("a thread cannot be stopped: it is blocked in the kernel")
)

// serve does what the owner asks for.
func (g *guard) serve(r *Request) *Reply {
	a := &Reply{}
	fail := func(err error) *Reply {
		if err != nil && !errors.As(err, &a.Errno) {
			a.Err = err.Error()
		}
		return a
	}
	t := g.threads[r.TID]
	switch r.Op {
	case OpGet, OpSet, OpSave, OpRestore, OpReturned, OpDrop:
		if t == nil {
			return fail(errNoThread)
		}
		if t.state != stopped {
			return fail(errRuns)
		}
	}
	switch r.Op {
	case OpAttach:
		err := g.attach(r)
		a.TIDs, a.Late = g.tids(), g.late()
		return fail(err)
	case OpGet:
		err := t.getSets(g.arch, r.Notes, a)
		return fail(err)
	case OpSet:
		if r.Note == control.NTPRStatus {
			before, _ := t.pc(g.arch)
			pc, _ := pcIn(g.arch, r.Data)
			t.pass.may = t.pass.may || pc != before
		}
		if err := putSet(t.tid, r.Note, r.Data); err != nil {
			return fail(err)
		}
		room := make([]byte, maxSet)
		n, err := getSet(t.tid, r.Note, room) // the kernel may have changed it
		a.Data = room[:n]
		return fail(err)
	case OpSave:
		return fail(t.save(g.arch))
	case OpRestore, OpReturned:
		return fail(t.restore(g, r.Op == OpReturned))
	case OpDrop:
		return fail(t.drop())
	case OpWrite:
		n, err := g.write(r.Addr, r.Data)
		a.N = n
		return fail(err)
	case OpInsert:
		original, err := g.insert(r.Addr)
		a.Data = original
		return fail(err)
	case OpRemove:
		err := g.remove(r.Addr)
		if b := g.breakpoints[r.Addr]; b != nil {
			a.N = b.count
		}
		return fail(err)
	case OpResume:
		g.refused = g.resume(r, t)
	case OpWait:
		if g.refused != nil {
			return fail(g.refused)
		}
		if g.ended && len(g.events) == 0 {
			return fail(syscall.ESRCH)
		}
		g.waiting = true
	case OpInterrupt:
		if g.waiting {
			g.stopAll()
			if len(g.events) == 0 {
				g.events = append(g.events, Event{Kind: Interrupted})
			}
		}
	}
	return a
}

// getSets reads register sets. The first one must be there; the size of another one that is not is
// -1.
func (t *tracee) getSets(of *control.Control, notes []uint32, a *Reply) error {
	for i, note := range notes {
		room := make([]byte, maxSet)
		n, err := getSet(t.tid, note, room)
		if err == nil && note == control.NTPRStatus && n != of.StatusSize {
			return errOtherWidth
		}
		if err != nil && i == 0 {
			return err
		}
		if err != nil {
			n = -1
		}
		a.Data, a.Sizes = append(a.Data, room[:max(n, 0)]...), append(a.Sizes, n)
	}
	return nil
}

// maxSet bounds a register set, bytes: x86's with AMX has 11 KiB, arm64's scalable vectors have 8.
const maxSet = 64 << 10

func openMem(pid, tid int) (*os.File, error) {
	return os.OpenFile(taskFile(pid, tid, "mem"), os.O_RDWR|syscall.O_CLOEXEC, 0)
}

// write writes memory. Breakpoints stay: what is written there is what a later removal puts back.
func (g *guard) write(addr uint64, data []byte) (n int, err error) {
	for at, b := range g.breakpoints {
		b.overlay(at, addr, data)
	}
	n, err = g.mem.WriteAt(data, int64(addr))
	if n < len(data) && err == nil {
		err = io.ErrShortWrite
	}
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return n, err
}
