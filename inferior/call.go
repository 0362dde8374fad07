package inferior

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/sniffer/dummy"
	"github.com/sfwalk/sfwalk/target"
)

// Caller has a thread of an inferior call functions, one after the other. It is GDB's
// call_function_by_hand. Make one with [NewCaller].
type Caller struct {
	// Alone holds all other threads while the thread is in a call. A call may then wait for ever
	// for another thread, for instance for a lock that it has.
	Alone bool
	// OnStack has functions return to an address on the stack, where nobody else comes: GDB's
	// ON_STACK. Else they return to the program's entry point, at which a breakpoint is for as
	// long. Functions return to the stack, too, where the entry point is not known.
	OnStack bool
	// Dummies has the calls that are under way, for the sniffer of package dummy. It may be nil.
	Dummies *dummy.Frames
	// Stopped, if it is not nil, is called if a call has not come back. The thread stands where it
	// has stopped, unless the event says that it is no more: its stack can be walked, and goes on
	// through the dummy frame. When Stopped returns, the thread is put back.
	Stopped func(Event)

	process Process
	thread  Thread
	entry   uint64 // calls return there
	sp      uint64 // inward of it nothing is in use
}

// room is how many bytes of stack must be free, at least.
const room = 8 << 10

// NewCaller returns a Caller for a thread that stands still. The error says why the thread cannot
// call functions.
func NewCaller(p Process, t Thread) (*Caller, error) {
	var regs arch.Registers
	if err := t.Registers(&regs); err != nil {
		return nil, err
	}
	a := p.Arch()
	sp, ok := regs.Get(a.SP)
	if !ok {
		return nil, fmt.Errorf("thread %d: the stack pointer is not known", t.ID())
	}
	return NewCallerOn(p, t, sp-uint64(a.RedZone))
}

// NewCallerOn returns a Caller whose functions run on a stack of which nothing inward of sp is in
// use. It need not be the one that the thread is on: a goroutine's stack has no room for C.
func NewCallerOn(p Process, t Thread, sp uint64) (*Caller, error) {
	if err := t.CanCall(); err != nil {
		return nil, err
	}
	if a := p.Arch(); a.Calls == nil {
		return nil, fmt.Errorf("calls of functions are not known for %s", a.Name)
	}
	c := &Caller{process: p, thread: t, sp: sp}
	entry, err := p.EntryPoint()
	c.entry, c.OnStack = entry, err != nil
	if _, err := p.Memory().ReadMemory(c.sp-room, make([]byte, 1)); err != nil {
		return nil, fmt.Errorf("thread %d: less than %d bytes of its stack are left at %#x", t.ID(), room, sp)
	}
	if left, ok := leftOfAlternate(p, sp); ok && left < room {
		return nil, fmt.Errorf("thread %d is in a signal handler, and only %d bytes of its alternate stack are left", t.ID(), left)
	}
	return c, nil
}

// leftOfAlternate returns how many bytes are left of the alternate stack that sp points into. What
// lies inward of one is other memory, a heap's for instance, that can be written as well.
func leftOfAlternate(p Process, sp uint64) (left uint64, ok bool) {
	const span = 64 << 10
	a := p.Arch()
	stack := make([]byte, span)
	n, _ := p.Memory().ReadMemory(sp, stack)
	for off := int(-sp & uint64(a.PtrSize-1)); off+a.UContextEnd() <= n; off += a.PtrSize {
		base, size, ok := a.AlternateStack(sp, off, stack)
		if !ok || base == 0 || sp == base {
			continue
		}
		// What was interrupted was on another stack.
		from := a.Word(stack[off+a.UContext.SP:])
		if from-base <= size {
			continue
		}
		if _, err := p.Memory().ReadMemory(from, make([]byte, 1)); err == nil {
			return sp - base, true
		}
	}
	return 0, false
}

// Place puts bytes on the thread's stack, and returns their address, a multiple of 16. Call it for
// texts and structs that arguments point to. No function of this Caller overwrites the bytes. They
// stay there until the thread runs on.
func (c *Caller) Place(b []byte) (addr uint64, err error) {
	at := (c.sp - uint64(len(b))) &^ 15
	if at > c.sp {
		return 0, fmt.Errorf("%d bytes do not fit on the stack", len(b))
	}
	if err := c.write(at, b); err != nil {
		return 0, err
	}
	c.sp = at
	return at, nil
}

func (c *Caller) write(addr uint64, b []byte) error {
	m, ok := c.process.Memory().(target.WritableMemory)
	if !ok {
		return errors.New("the process's memory cannot be written")
	}
	_, err := m.WriteMemory(addr, b)
	return err
}

// Call has the thread call the function at address fn, and returns the bytes of the result; none if
// the function has none. The arguments have the types of the parameters (see [abi.Convention]).
// Then the thread is as it was before the call, but for what the function has changed elsewhere,
// the signals that the thread blocks among that. If the function does not come back before ctx
// ends, the error is a [*CallError], and the thread blocks the signals that it has blocked before,
// if it is known which ones.
func (c *Caller) Call(ctx context.Context, fn uint64, f *abi.Func, args []abi.Value) (result []byte, err error) {
	a, t := c.process.Arch(), c.thread
	to, sp := c.entry, c.sp
	if c.OnStack {
		// Stacks hold no code: the return is a fault there. Where it is none, it comes to a
		// breakpoint.
		to = (c.sp - uint64(len(a.Control.Breakpoint))) &^ 15
		sp = to
	}
	call, err := a.Calls.PushDummyCall(f, args, sp, to)
	if err != nil {
		return nil, err
	}
	where, err := a.Calls.ReturnValue(f)
	if err != nil {
		return nil, err
	}
	frame := &dummy.Frame{Thread: t.ID(), PC: to, SP: call.SP - uint64(int64(a.RAOffset))}
	if c.Dummies != nil {
		if err := frame.Save(t, a); err != nil {
			return nil, err
		}
	}
	if !c.OnStack {
		if err := c.process.SetBreakpoint(to); err != nil {
			return nil, err
		}
		defer func() { err = first(err, c.clear()) }()
	}
	if err := t.Save(); err != nil {
		return nil, err
	}
	returned := false
	defer func() { err = first(err, c.restore(returned, err)) }()
	if c.OnStack {
		if err := c.write(to, a.Control.Breakpoint); err != nil {
			return nil, err
		}
	}
	if err := c.write(call.SP, call.Stack); err != nil {
		return nil, err
	}
	m, marks := t.(X87Marker)
	if marks && slices.ContainsFunc(where.Pieces, func(p abi.Piece) bool { return a.IsX87(p.Reg) }) {
		if err := m.MarkX87(); err != nil {
			return nil, err
		}
	}
	if err := begin(t, call.Registers, fn); err != nil {
		return nil, err
	}
	if c.Dummies != nil {
		c.Dummies.Add(frame)
		defer c.Dummies.Remove(frame)
	}
	if err := c.run(ctx, to, frame.SP, call.Popped); err != nil {
		return nil, err
	}
	returned = true
	if where.Memory {
		result = make([]byte, where.Size)
		_, err := c.process.Memory().ReadMemory(call.Result, result)
		return result, err
	}
	return where.Bytes(t.ReadRegister)
}

// begin writes registers, and sets the PC.
func begin(t Thread, registers []abi.Register, pc uint64) error {
	if b, ok := t.(Beginner); ok {
		return b.Begin(registers, pc)
	}
	for _, r := range registers {
		if err := t.WriteRegister(r.Reg, r.Offset, r.Bytes); err != nil {
			return err
		}
	}
	return t.Jump(pc)
}

// first returns the first error of two.
func first(err, next error) error {
	if err == nil {
		return next
	}
	return err
}

// clear removes the breakpoint at which calls return.
func (c *Caller) clear() error {
	if len(c.process.Inferiors()) == 0 {
		return nil // there is no process any more
	}
	return c.process.ClearBreakpoint(c.entry)
}

// restore puts the thread back, if there still is one.
func (c *Caller) restore(returned bool, why error) error {
	var call *CallError
	if errors.As(why, &call) && call.threadEnded() {
		return nil
	}
	if r, ok := c.thread.(Returner); ok && returned {
		return r.Returned()
	}
	return c.thread.Restore()
}

// run lets the thread run until it has returned from the function: to an address, with sp as SP, or
// further outward by popped bytes. A function that it calls may come to the same address with
// another SP.
func (c *Caller) run(ctx context.Context, to, sp, popped uint64) error {
	t := c.thread
	signal := 0
	for {
		if err := c.process.Resume(Resume{Thread: t, Alone: c.Alone, Signal: signal}); err != nil {
			return err
		}
		signal = 0
		e, err := c.process.Wait(ctx)
		if err != nil {
			return err
		}
		switch e.Kind {
		case Breakpoint:
			if e.TID == t.ID() && c.has(sp, popped, to, 0) {
				return nil
			}
			continue
		case Signalled:
			if e.TID != t.ID() {
				continue // it is delivered when that thread runs again
			}
			if c.OnStack && e.Signal.ByItself() && c.has(sp, popped, to, c.process.Arch().Control.BehindBreakpoint) {
				return nil
			}
			if !e.Signal.ByItself() {
				signal = e.Signal.Number
				continue
			}
		case ThreadExited:
			if e.TID != t.ID() {
				continue
			}
		case Stepped:
			continue
		}
		if c.Stopped != nil {
			c.Stopped(e)
		}
		return &CallError{Event: e, Cause: context.Cause(ctx)}
	}
}

// has reports whether the thread has an SP, or one popped bytes further outward, and a PC, or one
// that is behind more bytes further on.
func (c *Caller) has(sp, popped, pc, behind uint64) bool {
	a := c.process.Arch()
	nowSP, err := registerOf(c.thread, a, a.SP)
	if err != nil || nowSP != sp && nowSP != sp+popped {
		return false
	}
	now, err := registerOf(c.thread, a, a.PC)
	return err == nil && (now == pc || now == pc+behind)
}

// ByItself reports whether a thread has brought a signal upon itself: by an instruction, or as
// abort(3) and raise(3) do.
func (s *Signal) ByItself() bool {
	const sigill, sigtrap, sigabrt, sigbus, sigfpe, sigsegv, sigsys = 4, 5, 6, 7, 8, 11, 31
	switch s.Number {
	case sigill, sigtrap, sigabrt, sigbus, sigfpe, sigsegv, sigsys:
		return s.Code > 0 || s.Own
	}
	return false
}

// CallError says why a call has not come back.
type CallError struct {
	Event Event // what has ended the call
	Cause error // of Interrupted: why the context has ended
}

// threadEnded reports whether the thread is no more.
func (e *CallError) threadEnded() bool {
	switch e.Event.Kind {
	case ThreadExited, Exited, Killed, Execed:
		return true
	}
	return false
}

func (e *CallError) Error() string {
	s := &e.Event.Signal
	switch e.Event.Kind {
	case Signalled:
		text := fmt.Sprintf("the function was ended by %s", s)
		if s.HasAddress {
			text += fmt.Sprintf(" (address %#x)", s.Address)
		}
		return text + "; the thread was put back"
	case Interrupted:
		if errors.Is(e.Cause, context.DeadlineExceeded) {
			return "the function has not come back in time; the thread was put back"
		}
		return "the function was interrupted; the thread was put back"
	case ThreadExited:
		return "the function has ended the thread"
	case Exited:
		return fmt.Sprintf("the function has ended the process, with exit status %d", e.Event.Status)
	case Killed:
		return fmt.Sprintf("the process was ended by %s", s)
	case Execed:
		return "the process runs another program now"
	}
	return "the function has not come back"
}

// Unwrap returns the reason why the context has ended.
func (e *CallError) Unwrap() error { return e.Cause }
