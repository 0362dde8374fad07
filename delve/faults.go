//go:build linux && (amd64 || arm64)

package delve

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/internal/calling"
	"github.com/sfwalk/sfwalk/trad"
)

// Delve delivers a signal before anybody hears of it. So a fault in a called function is noticed where the handler of
// its signal begins: there is a breakpoint meanwhile. A signal without a handler gets one, which is nothing but
// the breakpoint. From there, the thread returns as a handler does (sigreturn(2)), which puts its signal mask
// back, but to the address to which calls return.

// faults are the signals that a thread brings upon itself. Delve handles SIGTRAP by itself.
var faults = []unix.Signal{unix.SIGILL, unix.SIGABRT, unix.SIGBUS, unix.SIGFPE, unix.SIGSEGV, unix.SIGSYS}

// sigaction is struct sigaction of C libraries on Linux (sigaction(2)): the handler, the mask, flags, and what a
// handler returns to.
type sigaction struct {
	Handler  uint64
	Mask     [16]uint64
	Flags    uint32
	_        uint32
	Restorer uint64
}

const (
	saSigInfo = 4          // SA_SIGINFO
	saOnStack = 0x08000000 // SA_ONSTACK
	siTKill   = -6         // SI_TKILL: sent by tgkill(2), as raise(3) and abort(3) do
	sigIgnore = 1          // SIG_IGN; SIG_DFL is 0
)

// watchFaults has faults of a thread, in functions that c calls, be events of [heldProcess.Wait]. It calls sigaction(3) in the process,
// which e evaluates. End undoes it.
func (p *heldProcess) watchFaults(ctx context.Context, c *inferior.Caller, e *calling.Evaluator) (end func() error, err error) {
	old, err := c.Place(make([]byte, binary.Size(sigaction{})))
	if err != nil {
		return nil, err
	}
	set := func(ctx context.Context, s unix.Signal, to, from uint64) error {
		v, err := e.Evaluate(ctx, fmt.Sprintf("(int) sigaction(%d, (void *) %#x, (void *) %#x)", s, to, from))
		if err == nil && p.arch.Order.Uint32(v.Bytes) != 0 {
			err = fmt.Errorf("sigaction(%d) has failed", s)
		}
		return err
	}
	undo := map[unix.Signal]uint64{}
	var trap uint64
	end = func() (err error) {
		ctx := context.WithoutCancel(ctx)
		for s, kept := range undo {
			err = errors.Join(err, set(ctx, s, kept, 0))
		}
		for addr := range p.handlers {
			err = errors.Join(err, p.ClearBreakpoint(addr))
		}
		clear(p.handlers)
		if trap != 0 {
			err = errors.Join(err, set(ctx, unix.SIGTRAP, trap, 0))
		}
		return err
	}
	// The kernel forgets the handler of SIGTRAP when a thread that blocks SIGTRAP, as in another handler, comes to a
	// breakpoint.
	for _, s := range append([]unix.Signal{unix.SIGTRAP}, faults...) {
		var action sigaction
		if err := set(ctx, s, 0, old); err != nil {
			return end, err
		}
		b := make([]byte, binary.Size(action))
		if _, err := p.Memory().ReadMemory(old, b); err != nil {
			return end, err
		}
		if _, err := binary.Decode(b, p.arch.Order, &action); err != nil {
			return end, err
		}
		at := action.Handler
		if s == unix.SIGTRAP || at <= sigIgnore {
			kept, err := c.Place(b)
			if err != nil {
				return end, err
			}
			if s == unix.SIGTRAP {
				trap = kept
				continue
			}
			at = p.handler
			b, err := binary.Append(nil, p.arch.Order, &sigaction{Handler: at, Flags: saSigInfo | saOnStack})
			if err != nil {
				return end, err
			}
			to, err := c.Place(b)
			if err != nil {
				return end, err
			}
			if err := p.watch(at); err != nil {
				return end, err
			}
			undo[s] = kept
			if err := set(ctx, s, to, 0); err != nil {
				return end, err
			}
			continue
		}
		if err := p.watch(at); err != nil {
			return end, err
		}
	}
	return end, nil
}

// watch sets a breakpoint where a handler begins.
func (p *heldProcess) watch(handler uint64) error {
	if p.handlers[handler] {
		return nil
	}
	err := p.SetBreakpoint(handler)
	if err == nil {
		p.handlers[handler] = true
	}
	return err
}

// atHandler is where the kernel puts what a handler gets.
type atHandler struct {
	number, info trad.Reg // the registers of its first two arguments
	ucontext     uint64   // struct ucontext, from SP
}

// atHandler returns that of the target's processor.
func (p *heldProcess) atHandler() atHandler {
	if p.arch == amd64.Arch {
		return atHandler{number: 5, info: 4, ucontext: 8} // rdi, rsi; behind the return address
	}
	return atHandler{number: 0, info: 1, ucontext: 128} // x0, x1; behind struct siginfo
}

// signal returns the signal of a thread that is where a handler begins. fault reports whether the thread has
// brought it upon itself.
func (p *heldProcess) signal(t *heldThread, regs *arch.Registers) (s inferior.Signal, fault bool) {
	at := p.atHandler()
	number, _ := regs.Get(at.number)
	s.Number = int(int32(number))
	addr, _ := regs.Get(at.info)
	var b [24]byte
	if n, _ := p.memory.ReadMemory(addr, b[:]); n == len(b) && p.arch.Order.Uint32(b[:]) == uint32(number) {
		s.Code = int(int32(p.arch.Order.Uint32(b[8:])))
		s.Own = s.Code == siTKill
		if s.Code > 0 && s.Number != int(unix.SIGABRT) && s.Number != int(unix.SIGSYS) {
			s.Address, s.HasAddress = p.arch.Order.Uint64(b[16:]), true
		}
	} else {
		s.Code = 1 // a handler without siginfo
	}
	for _, x := range faults {
		if int(x) == s.Number {
			return s, s.ByItself()
		}
	}
	return s, false
}

// pcSlot returns where the kernel has put the PC that a signal has interrupted. In struct ucontext it is behind SP.
func (p *heldProcess) pcSlot(regs *arch.Registers) uint64 {
	sp, _ := regs.Get(p.arch.SP)
	return sp + p.atHandler().ucontext + uint64(p.arch.UContext.SP) + 8
}

func (p *heldProcess) interruptedPC(regs *arch.Registers) uint64 {
	var b [8]byte
	p.memory.ReadMemory(p.pcSlot(regs), b[:])
	return p.arch.Order.Uint64(b[:])
}

// returnFromHandler has a thread that is where a handler begins return from it.
func (p *heldProcess) returnFromHandler(t *heldThread) error {
	var regs, to arch.Registers
	if err := t.Registers(&regs); err != nil {
		return err
	}
	sp, _ := regs.Get(p.arch.SP)
	if p.arch.RAOffset == 0 { // the return address is in a register
		ra, _ := regs.Get(p.arch.RA)
		to.Set(p.arch.PC, ra)
		return t.jump(&to)
	}
	var b [8]byte
	if _, err := p.memory.ReadMemory(sp, b[:]); err != nil {
		return err
	}
	to.Set(p.arch.PC, p.arch.Order.Uint64(b[:]))
	to.Set(p.arch.SP, sp+8)
	return t.jump(&to)
}

// leaveHandler has a thread that is where a handler begins return to the address to which calls return.
func (p *heldProcess) leaveHandler(t *heldThread, regs *arch.Registers) error {
	entry := make([]byte, 8)
	p.arch.Order.PutUint64(entry, p.entry)
	if _, err := (&writable{p.memory}).WriteMemory(p.pcSlot(regs), entry); err != nil {
		return err
	}
	if err := p.returnFromHandler(t); err != nil {
		return err
	}
	for {
		th, e, err := p.continueOnce(context.Background())
		if err != nil {
			return err
		}
		if th == nil {
			return &inferior.CallError{Event: e}
		}
		var now arch.Registers
		if err := p.hold(th).Registers(&now); err != nil {
			return err
		}
		if pc, _ := now.Get(p.arch.PC); pc == p.entry && th.Breakpoint().Breakpoint != nil {
			return nil
		}
	}
}
