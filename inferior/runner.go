package inferior

import (
	"context"
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
)

// Runner runs a thread of an inferior until something has happened to its frames: GDB's finish,
// nexti, next and return. It knows frames by their IDs. So another call of the same function, in a
// recursion or in a signal handler, is not taken for the frame; and a frame that longjmp(3) or an
// exception has ended is not waited for.
type Runner struct {
	// Alone holds all other threads while the thread runs. It may wait for ever for one of them
	// then.
	Alone bool
	// Stop, if it is not nil, is asked about signals and breakpoints, of all threads, which the run
	// does not wait for. If it returns true, the run ends with the event; else it goes on, and a
	// signal is delivered. If Stop is nil, a run ends at signals that the thread has brought upon
	// itself, and at breakpoints that are not the run's own.
	Stop func(Event) bool
	// Signal is delivered to the thread when the next run begins, and is 0 then. A run that ends at
	// a signal of the thread leaves it here.
	Signal int

	process Process
	thread  Thread
	table   *frame.Table
	atEntry arch.Registers // of the thread where the last UntilReturn has begun at a function's entry
}

// NewRunner returns a Runner for a thread that stands still. table has the sniffers that walk its
// stack.
func NewRunner(p Process, t Thread, table *frame.Table) *Runner {
	return &Runner{process: p, thread: t, table: table}
}

// Stack returns the thread's stack as it is now. After a run, call it again: the stack from before
// is of another moment.
func (r *Runner) Stack() (*frame.Stack, error) { return frame.New(r.process, r.thread, r.table) }

// Frame returns a frame of the thread's stack as it is now.
func (r *Runner) Frame(level int) (*frame.Frame, error) {
	s, err := r.Stack()
	if err != nil {
		return nil, err
	}
	f, err := s.Frame(level)
	if f == nil && err == nil {
		err = fmt.Errorf("thread %d: its stack has no frame %d", r.thread.ID(), level)
	}
	return f, err
}

// End says how a run has ended.
type End uint8

const (
	// Arrived: the frame is frame 0, at another instruction.
	Arrived End = iota
	// Returned: the frame has returned, and its PREVIOUS is frame 0.
	Returned
	// Left: the frame is no more, but has not returned: longjmp(3), an exception or a tail call has
	// ended it.
	Left
	// Happened: an event has ended the run, see [Run].Event. The frame is still there, unless the
	// event says that the thread is no more.
	Happened
)

// Run is the end of a run.
type Run struct {
	End   End
	Event Event // of Happened
}

// UntilReturn runs the thread until the frame with an ID has returned: GDB's finish. The error says
// that there is no such frame, or that it returns to nowhere.
func (r *Runner) UntilReturn(ctx context.Context, id frame.ID) (Run, error) {
	s, err := r.Stack()
	if err != nil {
		return Run{}, err
	}
	f, err := s.Find(id)
	if err != nil {
		return Run{}, err
	}
	if f == nil {
		return Run{}, fmt.Errorf("thread %d: no frame on its stack has the ID %v", r.thread.ID(), id)
	}
	r.noteEntry(f)
	return r.untilBack(ctx, f)
}

// untilBack runs the thread until f is no more.
func (r *Runner) untilBack(ctx context.Context, f *frame.Frame) (Run, error) {
	prev, err := f.Prev()
	if err != nil {
		return Run{}, err
	}
	if prev == nil {
		return Run{}, fmt.Errorf("frame %v is outermost: it returns to nowhere", f)
	}
	w := &wait{Runner: r, id: f.ID(), back: prev.PC(), to: prev.ID()}
	if sp := f.PrevRegister(r.process.Arch().SP); sp.Known() && f.Type() == frame.Normal {
		w.sp = sp.Bits
	}
	return w.run(ctx)
}

// StepOver has the thread execute one instruction; if that is a call, until it has come back: GDB's
// nexti. Signal handlers that begin meanwhile count as calls.
func (r *Runner) StepOver(ctx context.Context) (Run, error) {
	this, err := r.Frame(0)
	if err != nil {
		return Run{}, err
	}
	id, from := this.ID(), this.PC()
	prev := frame.ID{}
	if f, _ := this.Prev(); f != nil {
		prev = f.ID()
	}
	for {
		run, err := r.step(ctx)
		if err != nil || run.End == Happened {
			return run, err
		}
		called, now, err := r.calledBy(id)
		if err != nil {
			return Run{}, err
		}
		handled := called != nil && called.Type() == frame.SigTramp
		if called != nil {
			if run, err := r.untilBack(ctx, called); err != nil || run.End == Happened {
				return run, err
			}
			if called, now, err = r.calledBy(id); err != nil {
				return Run{}, err
			}
		}
		switch {
		case called != nil:
			return Run{}, fmt.Errorf("thread %d: the call from %#x has come back, and its frame is still there", r.thread.ID(), from)
		case !now.ID().Equal(id) && now.ID().Equal(prev):
			return Run{End: Returned}, nil
		case !now.ID().Equal(id):
			return Run{End: Left}, nil
		case !handled || now.PC() != from:
			return Run{End: Arrived}, nil
		}
	}
}

// calledBy walks the stack. It returns frame 0, and the NEXT frame of the frame with an ID, nil if
// there is none.
func (r *Runner) calledBy(id frame.ID) (called, now *frame.Frame, err error) {
	s, err := r.Stack()
	if err != nil {
		return nil, nil, err
	}
	if now, err = s.Frame(0); err != nil || id.Equal(now.ID()) {
		return nil, now, err
	}
	f, _ := s.Find(id)
	if f == nil {
		return nil, now, nil // a stack that ends early does not have it as far as anybody can know
	}
	return f.Next(), now, nil
}

// Next has the thread run until it leaves its frame or the code from lo to below hi, which may be
// the code of a source line: GDB's next. Calls are stepped over.
func (r *Runner) Next(ctx context.Context, lo, hi uint64) (Run, error) {
	for {
		run, err := r.StepOver(ctx)
		if err != nil || run.End != Arrived {
			return run, err
		}
		if pc, err := r.register(r.process.Arch().PC); err != nil || pc < lo || pc >= hi {
			return run, err
		}
	}
}
