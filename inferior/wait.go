package inferior

import (
	"context"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// wait is a run until a frame is no more.
type wait struct {
	*Runner
	id   frame.ID // of the frame
	back uint64   // the PC of PREVIOUS
	to   frame.ID // of PREVIOUS
	sp   uint64   // of PREVIOUS; 0 if it may be on another stack
	set  map[uint64]purpose
}

// purpose says why a run has put a breakpoint somewhere.
type purpose uint8

const (
	returns  purpose = iota // the frame returns there
	jumps                   // longjmp(3) begins there
	installs                // _Unwind_SetIP begins there
	lands                   // an exception is handled there
)

func (w *wait) run(ctx context.Context) (run Run, err error) {
	w.set = map[uint64]purpose{}
	defer func() {
		if left := w.clear(); err == nil {
			err = left
		}
	}()
	for _, x := range exits(w.process.Modules()) {
		if err := w.breakAt(x.addr, x.purpose); err != nil {
			return Run{}, err
		}
	}
	if err := w.breakAt(w.back, returns); err != nil {
		return Run{}, err
	}
	for {
		e, err := w.resume(ctx, Resume{Thread: w.thread, Alone: w.Alone, Signal: w.takeSignal()})
		if err != nil {
			return Run{}, err
		}
		if e.Kind == Breakpoint && e.TID == w.thread.ID() {
			pc, err := w.register(w.process.Arch().PC)
			if err != nil {
				return Run{}, err
			}
			if why, own := w.set[pc]; own {
				if why == jumps && w.judge(e, w.set) {
					return Run{End: Happened, Event: e}, nil
				}
				run, ended, err := w.reached(ctx, pc, why)
				if err != nil || ended {
					return run, err
				}
				if why == jumps {
					continue // the thread is elsewhere now
				}
			}
		}
		if w.judge(e, w.set) {
			return Run{End: Happened, Event: e}, nil
		}
	}
}

// reached says whether the run has ended at one of its own breakpoints.
func (w *wait) reached(ctx context.Context, pc uint64, why purpose) (run Run, ended bool, err error) {
	switch why {
	case jumps:
		return w.jump(ctx)
	case installs:
		second, ok := secondArgument(w.process.Arch())
		if !ok {
			return Run{}, false, nil
		}
		pad, err := w.register(second)
		if err != nil || !w.process.Modules().IsCode(pad) {
			return Run{}, false, err
		}
		if _, own := w.set[pad]; !own {
			err = w.breakAt(pad, lands)
		}
		return Run{}, false, err
	case returns:
		sp, err := w.register(w.process.Arch().SP)
		if err != nil || w.sp != 0 && w.process.Arch().InnerThan(sp, w.sp) {
			return Run{}, false, err // of another call
		}
	}
	return w.look(pc)
}

// look walks the stack to find out whether the frame is still there.
func (w *wait) look(pc uint64) (run Run, ended bool, err error) {
	s, err := w.Stack()
	if err != nil {
		return Run{}, false, err
	}
	now, err := s.Frame(0)
	if err != nil {
		return Run{}, false, err
	}
	if now.ID().Equal(w.to) {
		if pc == w.back {
			return Run{End: Returned}, true, nil
		}
		return Run{End: Left}, true, nil
	}
	f, err := s.Find(w.id)
	if f != nil || err != nil {
		return Run{}, false, nil // if the stack ends early, nobody knows
	}
	return Run{End: Left}, true, nil
}

// maxJump is how many instructions longjmp(3) may take. glibc's takes less than two hundred.
const maxJump = 2000

// jump has a thread that has begun longjmp(3) execute it to its end. The address to which it goes
// is encrypted in the jmp_buf; but it is one behind a call, where SP is as far out as the caller's
// is.
func (w *wait) jump(ctx context.Context) (run Run, ended bool, err error) {
	a := w.process.Arch()
	begin, err := w.register(a.SP)
	if err != nil {
		return Run{}, false, err
	}
	if a.RA == a.PC {
		begin++ // the call has pushed the return address
	}
	last, err := w.register(a.PC)
	for range maxJump {
		if err != nil {
			return Run{}, false, err
		}
		e, err := w.resume(ctx, Resume{Thread: w.thread, Alone: true, Step: true})
		if err != nil {
			return Run{}, false, err
		}
		waits := w.Signal
		if w.judge(e, w.set) {
			return Run{End: Happened, Event: e}, true, nil
		}
		if waits != 0 && w.Signal != waits {
			break // two cannot wait
		}
		pc, err := w.register(a.PC)
		if err != nil {
			return Run{}, false, err
		}
		sp, err := w.register(a.SP)
		if err != nil {
			return Run{}, false, err
		}
		if sp >= begin && (pc < last || pc > last+maxInstruction) && w.behindCall(pc) {
			return w.look(pc)
		}
		last = pc
	}
	return Run{}, false, nil
}

// maxInstruction is the length of the longest instruction of any architecture, bytes.
const maxInstruction = 15

// behindCall reports whether pc can be an address that a function returns to.
func (w *wait) behindCall(pc uint64) bool {
	code := make([]byte, arch.MaxCall)
	if _, err := w.process.Memory().ReadMemory(pc-arch.MaxCall, code); err != nil || !w.process.Arch().AfterCall(code) {
		return false
	}
	m := w.process.Modules().Find(pc)
	if m == nil {
		return true
	}
	entry, ok := m.FunctionEntry(pc)
	return !ok || entry != pc
}

func (w *wait) breakAt(addr uint64, why purpose) error {
	err := w.process.SetBreakpoint(addr)
	if err == nil {
		w.set[addr] = why
	}
	return err
}

// clear takes the run's breakpoints away, if there still is a process that has them.
func (w *wait) clear() (err error) {
	if len(w.process.Inferiors()) == 0 {
		return nil
	}
	for addr := range w.set {
		if left := w.process.ClearBreakpoint(addr); err == nil {
			err = left
		}
	}
	return err
}

// resume resumes threads, and returns what has happened.
func (r *Runner) resume(ctx context.Context, how Resume) (Event, error) {
	if err := r.process.Resume(how); err != nil {
		return Event{}, err
	}
	return r.process.Wait(ctx)
}

// step has the thread execute one instruction, or begin a signal handler.
func (r *Runner) step(ctx context.Context) (Run, error) {
	for {
		e, err := r.resume(ctx, Resume{Thread: r.thread, Alone: r.Alone, Step: true, Signal: r.takeSignal()})
		if err != nil {
			return Run{}, err
		}
		if e.Kind == Stepped && e.TID == r.thread.ID() {
			return Run{End: Arrived}, nil
		}
		if r.judge(e, nil) {
			return Run{End: Happened, Event: e}, nil
		}
	}
}

func (r *Runner) takeSignal() int {
	signal := r.Signal
	r.Signal = 0
	return signal
}

// judge reports whether a run ends at an event that it has not waited for. It keeps the thread's
// signals. own has the breakpoints of the run.
func (r *Runner) judge(e Event, own map[uint64]purpose) (ends bool) {
	this := e.TID == r.thread.ID()
	switch e.Kind {
	case Stepped:
		return false
	case ThreadExited:
		return this
	case Breakpoint:
		if r.Stop != nil {
			return r.Stop(e)
		}
		pc, err := registerOf(e.Thread, r.process.Arch(), r.process.Arch().PC)
		_, is := own[pc]
		return err != nil || !is
	case Signalled:
		if this {
			r.Signal = e.Signal.Number
		}
		if r.Stop != nil {
			return r.Stop(e)
		}
		return this && e.Signal.ByItself()
	}
	return true
}

// register returns a register of the thread.
func (r *Runner) register(reg trad.Reg) (uint64, error) {
	return registerOf(r.thread, r.process.Arch(), reg)
}

func registerOf(t Thread, a *arch.Arch, reg trad.Reg) (uint64, error) {
	b, err := RegisterBytes(t, reg, a.PtrSize)
	if err != nil {
		return 0, err
	}
	if a.PtrSize == 4 {
		return uint64(a.Order.Uint32(b)), nil
	}
	return a.Order.Uint64(b), nil
}
