package native

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/internal/guard"
	"github.com/sfwalk/sfwalk/internal/jobcontrol"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/internal/procdir"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// Process is a live process, or some of its threads, under control. It implements
// [inferior.Process].
type Process struct {
	PID int
	Exe string // the program's path as the process names it; "" if that cannot be read

	look    *live.Target
	before  []*live.Target // looks that came before
	maps    [32]byte       // a sum of the text of the mappings that look has
	ran     bool           // the process has run since they were read
	memory  memory
	threads map[int]*Thread
	late    []int // threads that could not be stopped
	order   []int // of the threads: the thread of the last event first

	socket *os.File
	guard  int // its process ID
	in     *guard.Reader
	mu     sync.Mutex // guards writes to socket
	held   bool
	closed bool
}

var _ inferior.Process = (*Process)(nil)

// Attach is Open and Hold in one.
func Attach(ctx context.Context, pid int, o Options) (*Process, error) {
	p, err := Open(pid)
	if err != nil {
		return nil, err
	}
	if err := p.Hold(ctx, o); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Open finds the modules of the process pid and starts the guard, while the process runs. The error
// wraps an error of package live if one says what is wrong.
func Open(pid int) (*Process, error) {
	look, err := live.Look(pid)
	if err != nil {
		return nil, err
	}
	p := &Process{PID: pid, Exe: look.Exe, look: look, threads: map[int]*Thread{}}
	p.maps, _ = mapsSum(pid)
	p.memory = memory{process: p, breakpoints: map[uint64][]byte{}}
	if err := p.startGuard(); err != nil {
		look.Close()
		return nil, fmt.Errorf("attach %d: the process that holds it: %w", pid, err)
	}
	return p, nil
}

// Hold stops threads, and holds them until the Process is closed. It is called once. After an error
// the process runs as it did.
func (p *Process) Hold(ctx context.Context, o Options) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("attach %d: %w", p.PID, context.Cause(ctx))
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	for _, tid := range o.Threads {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d", p.PID, tid)); err != nil {
			return fmt.Errorf("attach %d: thread %d: %w", p.PID, tid, live.ErrNoThread)
		}
	}
	for _, tid := range o.Threads {
		if guard.Ended(p.PID, tid) {
			return fmt.Errorf("attach %d: thread %d has ended, and others live on: %w", p.PID, tid, live.ErrNoThread)
		}
	}
	jobcontrol.Hold()
	p.held = true
	a, err := p.ask(&guard.Request{Op: guard.OpAttach, PID: p.PID, TIDs: o.Threads, Timeout: int64(o.Timeout), Arch: p.Arch().Name})
	switch {
	case err == nil:
		p.ran = true // since Open has looked at it
		p.hold(a.TIDs)
		p.late = a.Late
		return nil
	case errors.Is(err, unix.ESRCH) && len(o.Threads) > 0:
		err = fmt.Errorf("attach %d: thread %v: %w", p.PID, o.Threads, live.ErrNoThread)
	case err == errNotStoppedAnswer:
		err = fmt.Errorf("attach %d: %w: it is blocked in the kernel", p.PID, live.ErrNotStopped)
	default:
		err = live.Refused(p.PID, err)
	}
	p.Close()
	return err
}

// startGuard starts the guard, or takes the one that was prepared.
func (p *Process) startGuard() error {
	g, err := guard.Take()
	if err != nil {
		return err
	}
	p.socket, p.guard = g.Socket, g.PID
	p.in = guard.NewReader(p.socket)
	return nil
}

// Prepare starts the guard of the process that will be opened next, before anybody knows which one
// that is: a guard takes some milliseconds to begin. If no process is opened, the guard ends with
// this program.
func Prepare() { guard.Prepare() }

// reap waits for a guard's end.
func reap(pid int) {
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR {
			return
		}
	}
}

// send sends a request. Interrupts may be sent while an answer is waited for.
func (p *Process) send(r *guard.Request) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return r.Send(p.socket)
}

// errNotStoppedAnswer is errNotStopped, as it comes from the guard.
var errNotStoppedAnswer = errors.New(guard.ErrNotStopped.Error())

var errClosed = errors.New("the process was let go")

// ask sends a request, and waits for the answer.
func (p *Process) ask(r *guard.Request) (*guard.Reply, error) {
	if p.closed {
		return nil, errClosed
	}
	if err := p.send(r); err != nil {
		return nil, p.ended(err)
	}
	return p.answer()
}

// ended returns the error of a guard that does not answer.
func (p *Process) ended(err error) error {
	return fmt.Errorf("the guard of process %d has ended: %w", p.PID, err)
}

func (p *Process) answer() (*guard.Reply, error) {
	a, err := guard.ReceiveReply(p.in)
	if err != nil {
		return nil, p.ended(err)
	}
	switch {
	case a.Errno != 0:
		return a, a.Errno
	case a.Err == guard.ErrNotStopped.Error():
		return a, errNotStoppedAnswer
	case a.Err != "":
		return a, errors.New(a.Err)
	}
	return a, nil
}

// hold notes which threads are held.
func (p *Process) hold(tids []int) {
	for tid := range p.threads {
		if !slices.Contains(tids, tid) {
			delete(p.threads, tid)
		}
	}
	slices.Sort(tids)
	first := func(tid int) {
		if i := slices.Index(tids, tid); i > 0 {
			copy(tids[1:], tids[:i])
			tids[0] = tid
		}
	}
	first(p.PID)
	p.order = tids
	for _, tid := range tids {
		if p.threads[tid] == nil {
			p.threads[tid] = &Thread{process: p, id: tid}
		}
	}
}

// Arch returns the process's architecture.
func (p *Process) Arch() *arch.Arch { return p.look.Arch() }

// Memory returns the process's memory, a [target.WritableMemory], as it is while the threads stand
// still. If some threads are not held, what these write may be seen or not.
func (p *Process) Memory() target.Memory { return &p.memory }

// Modules returns what is mapped.
func (p *Process) Modules() *target.Modules {
	if p.ran {
		p.ran = false
		if maps, err := mapsSum(p.PID); err == nil && maps != p.maps {
			if look, err := p.look.LookAgain(); err == nil {
				p.before = append(p.before, p.look) // others may still use its modules
				p.look, p.maps = look, maps
			}
		}
	}
	return p.look.Modules()
}

// mapsSum sums the text of a process's mappings, which may be long.
func mapsSum(pid int) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(procdir.File(pid, "maps"))
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	h.Sum(sum[:0])
	return sum, err
}

// Threads returns the threads that are held, each a [*Thread].
func (p *Process) Threads() ([]target.Thread, error) {
	var list []target.Thread
	for _, tid := range p.order {
		list = append(list, p.threads[tid])
	}
	return list, nil
}

// Inferiors implements [inferior.Process].
func (p *Process) Inferiors() []inferior.Thread {
	var list []inferior.Thread
	for _, tid := range p.order {
		list = append(list, p.threads[tid])
	}
	return list
}

// Thread returns the thread with an ID, nil if it is not held.
func (p *Process) Thread(tid int) *Thread { return p.threads[tid] }

// SetBreakpoint implements [inferior.Process].
func (p *Process) SetBreakpoint(addr uint64) error {
	a, err := p.ask(&guard.Request{Op: guard.OpInsert, Addr: addr})
	if err == nil {
		p.memory.breakpoints[addr] = a.Data
	}
	return err
}

// ClearBreakpoint implements [inferior.Process].
func (p *Process) ClearBreakpoint(addr uint64) error {
	a, err := p.ask(&guard.Request{Op: guard.OpRemove, Addr: addr})
	if err == nil && a.N == 0 {
		delete(p.memory.breakpoints, addr)
	}
	return err
}

// EntryPoint implements [inferior.Process].
func (p *Process) EntryPoint() (uint64, error) {
	text, err := os.ReadFile(procdir.File(p.PID, "auxv"))
	if err != nil {
		return 0, err
	}
	if entry := linkmap.ParseAuxv(text, p.Arch())[linkmap.ATEntry]; entry != 0 {
		return entry, nil
	}
	return 0, fmt.Errorf("/proc/%d/auxv has no entry point", p.PID)
}

// Resume implements [inferior.Process]. If Thread has ended, Wait says so.
func (p *Process) Resume(r inferior.Resume) error {
	q := &guard.Request{Op: guard.OpResume, Alone: r.Alone, Step: r.Step, Signal: r.Signal}
	if r.Thread != nil {
		q.TID = r.Thread.ID()
	}
	if p.closed {
		return errClosed
	}
	if err := p.send(q); err != nil {
		return p.ended(err)
	}
	p.forget()
	return nil
}

// forget forgets what was read: the process has run.
func (p *Process) forget() {
	p.ran = true
	p.memory.forget()
	for _, t := range p.threads {
		t.sets = nil
	}
}

// Wait implements [inferior.Process].
func (p *Process) Wait(ctx context.Context) (inferior.Event, error) {
	if p.closed {
		return inferior.Event{}, errClosed
	}
	if err := p.send(&guard.Request{Op: guard.OpWait}); err != nil {
		return inferior.Event{}, p.ended(err)
	}
	sent := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { p.send(&guard.Request{Op: guard.OpInterrupt}); close(sent) })
	a, err := p.answer()
	if !stop() {
		<-sent // or it would interrupt the next Wait
	}
	p.forget()
	if err != nil {
		return inferior.Event{}, err
	}
	p.hold(a.TIDs)
	e := inferior.Event{Kind: kinds[a.Event.Kind], TID: a.Event.TID, Status: a.Event.Status, Signal: inferior.Signal(a.Event.Signal)}
	if t := p.threads[e.TID]; t != nil {
		e.Thread = t
		i := slices.Index(p.order, e.TID)
		copy(p.order[1:], p.order[:i])
		p.order[0] = e.TID
	}
	if e.Kind == inferior.Execed {
		clear(p.memory.breakpoints)
		p.Modules() // and the memory are others
	}
	return e, nil
}

// kinds are the guard's kinds of events.
var kinds = [...]inferior.EventKind{
	guard.Interrupted: inferior.Interrupted, guard.Breakpoint: inferior.Breakpoint, guard.Stepped: inferior.Stepped, guard.Signalled: inferior.Signalled,
	guard.ThreadExited: inferior.ThreadExited, guard.Exited: inferior.Exited, guard.Killed: inferior.Killed, guard.Execed: inferior.Execed,
}

// OpenNamed is [live.Target.OpenNamed].
func (p *Process) OpenNamed(root, path string) (*os.File, error) { return p.look.OpenNamed(root, path) }

// Warnings returns what the user should know about the answers so far, one sentence each.
func (p *Process) Warnings() []string {
	list := p.look.Warnings()
	for _, tid := range p.late {
		list = append(list, fmt.Sprintf("thread %d cannot be stopped: it is blocked in the kernel, and is held when it comes back", tid))
	}
	return list
}

// Close lets the process go, as [inferior.Process] says.
func (p *Process) Close() error {
	if p.closed {
		return nil
	}
	_, err := p.ask(&guard.Request{Op: guard.OpDetach})
	p.closed = true
	p.socket.Close()
	go reap(p.guard) // it has let the process go
	if p.held {
		jobcontrol.Release()
	}
	for _, look := range append(p.before, p.look) {
		look.Close()
	}
	return err
}
