//go:build linux && (amd64 || arm64)

package delve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/target"
)

// heldProcess is a process that Delve controls, for calls of C functions. It implements
// [inferior.Process] with Delve's own means: to resume is Delve's continue, so all threads run.
//
// A thread that comes to one of Delve's breakpoints meanwhile stays there, and Delve reports it the
// next time that the user lets the process run. The thread of the call passes them. Delve delivers
// signals without asking; a fault of the thread is noticed where the handler of its signal begins
// (see [heldProcess.watchFaults]).
//
// The caller holds Delve's lock of the target, and closes it.
type heldProcess struct {
	*Target
	group *proc.TargetGroup
	entry uint64
	tid   int // of the thread that Resume has named

	set      map[uint64]int // breakpoints that were set here, with how often; 0 for one that Delve had already
	handlers map[uint64]bool
	handler  uint64           // of signals that had none
	barred   map[uint64]error // functions that end the call, with the reason, when the thread comes to them

	// faultPC is where the thread was when the last event of a fault came.
	faultPC uint64

	found found
}

// found is what Delve has chosen, and its breakpoints' state.
type found struct {
	thread, goroutine int64
	reason            proc.StopReason
	groupReason       proc.StopReason
	at                map[int64]proc.BreakpointState // by goroutine, or by the negative thread
	hits              map[*proc.LogicalBreakpoint]hits
}

type hits struct {
	total uint64
	by    map[int64]uint64
}

var (
	_ inferior.Process = (*heldProcess)(nil)

	errRecording = errors.New("a core file or a recording runs no functions")
)

// newHeldProcess returns the heldProcess of t, the target that Delve has selected in group.
func newHeldProcess(t *Target, group *proc.TargetGroup) (*heldProcess, error) {
	if recorded(t.Proc) {
		return nil, errRecording
	}
	entry, err := t.Proc.EntryPoint()
	if err != nil {
		return nil, err
	}
	group.ResumeNotify(nil) // the last command's channel may be closed
	p := &heldProcess{Target: t, group: group, entry: entry, handler: entry + 4, set: map[uint64]int{}, handlers: map[uint64]bool{}, barred: map[uint64]error{}}
	f := &p.found
	f.thread, f.reason, f.groupReason = int64(t.Proc.CurrentThread().ThreadID()), t.Proc.StopReason, group.StopReason
	if g := t.Proc.SelectedGoroutine(); g != nil {
		f.goroutine = g.ID
	}
	f.at, f.hits = map[int64]proc.BreakpointState{}, map[*proc.LogicalBreakpoint]hits{}
	for _, th := range t.Proc.ThreadList() {
		f.at[runner(th)] = *th.Breakpoint()
	}
	for _, b := range group.LogicalBreakpoints {
		f.hits[b] = hits{b.TotalHitCount, maps.Clone(b.HitCount)}
	}
	return p, nil
}

// Close takes all breakpoints away that were set here, and has Delve as it was found: the thread
// and the goroutine that are selected, and why the process has stopped. Target stays open.
func (p *heldProcess) Close() error {
	if ok, _ := p.Proc.Valid(); !ok {
		return nil
	}
	err := p.settle()
	if ok, _ := p.Proc.Valid(); !ok {
		return err
	}
	for addr, n := range p.set {
		if n > 0 {
			p.set[addr] = 1
			err = errors.Join(err, p.ClearBreakpoint(addr))
		}
	}
	p.Proc.ClearCaches()
	p.forgetAll()
	for b, h := range p.found.hits {
		b.TotalHitCount = h.total
		if b.HitCount = h.by; b.HitCount == nil {
			b.HitCount = map[int64]uint64{}
		}
	}
	for _, th := range p.Proc.ThreadList() {
		at := p.found.at[runner(th)]
		if regs, e := th.Registers(); th.ThreadID() == p.tid || e == nil && p.kept(&at) && regs.PC() == at.Addr {
			*th.Breakpoint() = at
		}
	}
	if p.Proc.SwitchThread(int(p.found.thread)) == nil && p.found.goroutine != 0 {
		if g := p.Proc.SelectedGoroutine(); g == nil || g.ID != p.found.goroutine {
			if g, e := proc.FindGoroutine(p.Proc, p.found.goroutine); e == nil && g != nil {
				err = errors.Join(err, p.Proc.SwitchGoroutine(g))
			}
		}
	}
	p.Proc.StopReason, p.group.StopReason = p.found.reason, p.found.groupReason
	return err
}

// runner returns the goroutine that a thread runs, which may be on another thread after a call; or
// minus the thread's ID.
func runner(th proc.Thread) int64 {
	if g, _ := proc.GetG(th); g != nil { // an error says that there is none
		return g.ID
	}
	return -int64(th.ThreadID())
}

// Memory returns the process's memory, which can be written.
func (p *heldProcess) Memory() target.Memory { return &writable{p.memory} }

// writable is memory that Delve writes.
type writable struct{ *memory }

var _ target.WritableMemory = (*writable)(nil)

// WriteMemory implements [target.WritableMemory].
//
// [target.WritableMemory]: https://pkg.go.dev/github.com/sfwalk/sfwalk/target#WritableMemory
func (m *writable) WriteMemory(addr uint64, b []byte) (n int, err error) {
	defer m.forget()
	for n < len(b) {
		done, err := m.proc.Memory().WriteMemory(addr+uint64(n), b[n:])
		if done <= 0 || err != nil {
			return n + max(done, 0), fmt.Errorf("write %d bytes at %#x: %w", len(b)-n, addr+uint64(n), errors.Join(target.ErrUnmapped, err))
		}
		n += done
	}
	return n, nil
}

// forgetAll forgets what was read before the process ran.
func (p *heldProcess) forgetAll() {
	p.memory.forget()
	p.goroutines.read = false
	p.Table.Forget()
}

// Inferiors implements [inferior.Process].
func (p *heldProcess) Inferiors() (list []inferior.Thread) {
	if ok, _ := p.Proc.Valid(); !ok {
		return nil
	}
	for _, th := range p.Proc.ThreadList() {
		if t := p.hold(th); th.ThreadID() == p.tid {
			list = append([]inferior.Thread{t}, list...)
		} else {
			list = append(list, t)
		}
	}
	return list
}

func (p *heldProcess) hold(th proc.Thread) *heldThread {
	return &heldThread{thread: thread{th, p.arch}, process: p}
}

// breakpointID is the number of the first breakpoint that is set here. Delve itself has used -1 to
// -3, and does not show users breakpoints with negative numbers.
const breakpointID = -1000

// SetBreakpoint implements [inferior.Process].
func (p *heldProcess) SetBreakpoint(addr uint64) error {
	n, known := p.set[addr]
	switch {
	case known && n == 0: // Delve's own
		return nil
	case n > 0:
		p.set[addr]++
		return nil
	}
	if _, err := p.Proc.SetBreakpoint(breakpointID-len(p.set), addr, proc.UserBreakpoint, nil); err != nil {
		if !errors.As(err, new(proc.BreakpointExistsError)) {
			return fmt.Errorf("set a breakpoint at %#x: %w", addr, err)
		}
		p.set[addr] = 0
		return nil
	}
	p.set[addr] = 1
	return nil
}

// ClearBreakpoint implements [inferior.Process].
func (p *heldProcess) ClearBreakpoint(addr uint64) error {
	switch n := p.set[addr]; n {
	case 0:
		return nil
	case 1:
		delete(p.set, addr)
	default:
		p.set[addr] = n - 1
		return nil
	}
	b := p.Proc.Breakpoints().M[addr]
	if err := p.Proc.ClearBreakpoint(addr); err != nil {
		return fmt.Errorf("clear the breakpoint at %#x: %w", addr, err)
	}
	maps.DeleteFunc(p.group.LogicalBreakpoints, func(id int, _ *proc.LogicalBreakpoint) bool { return id <= breakpointID })
	for _, th := range p.Proc.ThreadList() {
		if th.Breakpoint().Breakpoint == b {
			th.Breakpoint().Clear()
		}
	}
	return nil
}

// EntryPoint implements [inferior.Process].
func (p *heldProcess) EntryPoint() (uint64, error) { return p.entry, nil }

// Resume implements [inferior.Process]: the process runs when Wait is called. Delve can neither
// hold other threads nor deliver a signal.
func (p *heldProcess) Resume(r inferior.Resume) error {
	if r.Thread == nil || r.Alone || r.Step || r.Signal != 0 {
		return errors.New("all threads run, and get their signals: Delve can do nothing else")
	}
	p.tid = r.Thread.ID()
	p.keepOthers()
	return nil
}

// Wait implements [inferior.Process].
func (p *heldProcess) Wait(ctx context.Context) (inferior.Event, error) {
	defer p.stopWhenDone(ctx)()
	for {
		th, e, err := p.continueOnce(ctx)
		if th == nil || err != nil {
			return e, err
		}
		if e, ok, err := p.event(ctx, th); ok || err != nil {
			return e, err
		}
	}
}

// continueOnce lets the process run until Delve stops it. th is the thread that Resume has named;
// it is nil if the event says that there is none any more, or that ctx has ended.
func (p *heldProcess) continueOnce(ctx context.Context) (th proc.Thread, e inferior.Event, err error) {
	if ctx.Err() != nil {
		e, err = p.interrupted()
		return nil, e, err
	}
	err = p.group.Continue()
	p.forgetAll()
	var exited proc.ErrProcessExited
	if errors.As(err, &exited) {
		if exited.Status < 0 {
			return nil, inferior.Event{Kind: inferior.Killed, TID: p.tid, Signal: inferior.Signal{Number: -exited.Status}}, nil
		}
		return nil, inferior.Event{Kind: inferior.Exited, TID: p.tid, Status: exited.Status}, nil
	}
	if err != nil {
		return nil, e, err
	}
	th, ok := p.Proc.FindThread(p.tid)
	if !ok {
		return nil, inferior.Event{Kind: inferior.ThreadExited, TID: p.tid}, nil
	}
	p.keepOthers()
	return th, e, nil
}

// interrupted returns the event that ctx has ended. It has the thread leave Go code first, a
// handler of Go's signals for instance: the runtime's state would stay as if the thread still were
// there.
func (p *heldProcess) interrupted() (e inferior.Event, err error) {
	e = inferior.Event{Kind: inferior.Interrupted, TID: p.tid}
	th, ok := p.Proc.FindThread(p.tid)
	for end := time.Now().Add(patience); ok && time.Now().Before(end); {
		pc, err := p.pc(th)
		if err != nil || !p.IsGo(pc) || pc == p.entry {
			break
		}
		var other inferior.Event
		if th, other, err = p.continueOnce(context.Background()); th == nil || err != nil {
			return other, err
		}
	}
	if ok {
		e.Thread = p.hold(th)
	}
	return e, nil
}

// patience is how long a thread may take to leave what it cannot be left in.
const patience = time.Second

func (p *heldProcess) pc(th proc.Thread) (uint64, error) {
	regs, err := th.Registers()
	if err != nil {
		return 0, err
	}
	return regs.PC(), nil
}

// settle has the threads that were at the user's breakpoints be there again: a signal, as Go's
// runtime sends to whoever runs for long, has led them into its handler. The thread of the call
// waits at the entry point meanwhile.
func (p *heldProcess) settle() (err error) {
	th, ok := p.Proc.FindThread(p.tid)
	if !ok || !p.strayed() {
		return nil
	}
	t := p.hold(th)
	if err := p.SetBreakpoint(p.entry); err != nil {
		return err
	}
	if err := t.Save(); err != nil {
		return err
	}
	if err := t.Jump(p.entry); err != nil {
		return err
	}
	p.keepOthers()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		th.Breakpoint().Clear()
		if th, _, err = p.continueOnce(context.Background()); th == nil || err != nil {
			return err
		}
		if pc, err := p.pc(th); err == nil && pc == p.entry && !p.strayed() {
			break
		}
	}
	return t.Restore()
}

// strayed reports whether a thread or a goroutine that was at one of the user's breakpoints is not
// there now.
func (p *heldProcess) strayed() bool {
	at, own := map[int64]uint64{}, int64(0)
	for _, th := range p.Proc.ThreadList() {
		who := runner(th)
		if at[who], _ = p.pc(th); th.ThreadID() == p.tid {
			own = who
		}
	}
	for who, found := range p.found.at {
		pc, ok := at[who]
		if ended := !ok && who < 0; who != own && !ended && p.kept(&found) && pc != found.Addr {
			return true
		}
	}
	return false
}

// kept reports whether a thread stays at one of the user's breakpoints.
func (p *heldProcess) kept(b *proc.BreakpointState) bool {
	return b.Breakpoint != nil && b.Active && p.set[b.Addr] == 0 && p.Proc.Breakpoints().M[b.Addr] == b.Breakpoint
}

// keepOthers has the other threads that are at one of the user's breakpoints come to it again: they
// stay there until the user lets the process run.
func (p *heldProcess) keepOthers() {
	for _, th := range p.Proc.ThreadList() {
		b := th.Breakpoint()
		if th.ThreadID() == p.tid || b.Breakpoint == nil {
			continue
		}
		if p.kept(b) {
			b.Clear()
		} else if b.Addr == p.handler {
			p.returnFromHandler(p.hold(th)) // it does again what it was signalled for
		}
	}
}

// event returns what has happened to the thread, if it is anything that ends Wait.
func (p *heldProcess) event(ctx context.Context, th proc.Thread) (e inferior.Event, ok bool, err error) {
	t := p.hold(th)
	var regs arch.Registers
	if err := t.Registers(&regs); err != nil {
		return e, false, err
	}
	pc, _ := regs.Get(p.arch.PC)
	e = inferior.Event{Kind: inferior.Breakpoint, Thread: t, TID: t.ID()}
	stopped := p.Proc.StopReason == proc.StopManual
	switch at := th.Breakpoint().Breakpoint; {
	case at == nil:
	case pc == p.entry:
		return e, true, nil
	case p.handlers[pc]:
		signal, fault := p.signal(t, &regs)
		if !fault && !stopped {
			return e, false, nil
		}
		if fault {
			p.faultPC = p.interruptedPC(&regs)
		}
		if err := p.leaveHandler(t, &regs); err != nil {
			return e, false, err
		}
		if fault {
			e.Kind, e.Signal = inferior.Signalled, signal
			return e, true, nil
		}
	case p.barred[pc] != nil:
		return e, false, p.barred[pc]
	}
	if stopped || ctx.Err() != nil {
		e, err = p.interrupted()
		return e, true, err
	}
	return e, false, nil
}

var (
	errNoGo  = errors.New("the function calls a Go function, which the thread cannot run where it stands: choose one that has called C; the thread was put back")
	errNoEnd = errors.New("the function would end its thread, by which Delve reads the process's memory; the thread was put back")
)

// bar has a call end with an error when the thread comes to a function.
func (p *heldProcess) bar(fn uint64, why error) error {
	if p.barred[fn] != nil {
		return nil
	}
	err := p.SetBreakpoint(fn)
	if err == nil {
		p.barred[fn] = why
	}
	return err
}

// stopWhenDone asks Delve to stop the process when ctx ends. Delve forgets what was asked before it
// lets the process run, so it is asked until over is called.
func (p *heldProcess) stopWhenDone(ctx context.Context) (over func()) {
	const again = 20 * time.Millisecond
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		tick := time.NewTicker(again)
		defer tick.Stop()
		for {
			p.group.RequestManualStop() // it fails if the process is gone, and then Wait ends
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(done); <-ended }
}
