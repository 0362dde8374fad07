//go:build linux && (amd64 || arm64)

package delve

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/internal/calling"
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/printers"
)

// Delve delivers a signal before anybody hears of it. So a fault in a called function is noticed
// where the handler of its signal begins: there is a breakpoint meanwhile. A signal without a
// handler gets one, which is nothing but the breakpoint. From there, the thread returns as a
// handler does (sigreturn(2)), which puts its signal mask back, but to the address to which calls
// return.

// faults are the signals that a thread brings upon itself. Delve handles SIGTRAP by itself.
var faults = []unix.Signal{unix.SIGILL, unix.SIGABRT, unix.SIGBUS, unix.SIGFPE, unix.SIGSEGV, unix.SIGSYS}

// sigaction is struct sigaction of C libraries on Linux (sigaction(2)): the handler, the mask,
// flags, and what a handler returns to.
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

// dispositions reads and changes what a process does at signals, by calls of sigaction(3).
type dispositions struct {
	process *heldProcess
	session *value.Session
	caller  *calling.Caller
	changed map[unix.Signal][]byte // the struct sigaction of each signal that is, or may be, another now
}

// set calls sigaction(3). to and from are addresses, or 0.
func (d *dispositions) set(ctx context.Context, s unix.Signal, to, from uint64) error {
	v, err := d.session.Evaluate(ctx, fmt.Sprintf("(int) sigaction(%d, (void *) %#x, (void *) %#x)", s, to, from))
	if err != nil {
		return err
	}
	if failed, err := v.Int(); err != nil || failed != 0 {
		return fmt.Errorf("sigaction(%d) has failed", s)
	}
	return nil
}

// put sets the struct sigaction of a signal.
func (d *dispositions) put(ctx context.Context, s unix.Signal, action []byte) error {
	addr, err := d.caller.Place(action)
	if err != nil {
		return err
	}
	return d.set(ctx, s, addr, 0)
}

// get returns the struct sigaction of a signal, and its handler.
func (d *dispositions) get(ctx context.Context, s unix.Signal) (action []byte, handler uint64, err error) {
	action = make([]byte, binary.Size(sigaction{}))
	addr, err := d.caller.Place(action)
	if err == nil {
		err = d.set(ctx, s, 0, addr)
	}
	if err == nil {
		_, err = d.process.Memory().ReadMemory(addr, action)
	}
	return action, d.process.arch.Order.Uint64(action), err
}

// putBack puts a signal's struct sigaction back, if its handler still is the one that it has got.
func (d *dispositions) putBack(ctx context.Context, s unix.Signal, handler uint64) error {
	if _, now, err := d.get(ctx, s); err != nil || now != handler {
		return err
	}
	return d.put(ctx, s, d.changed[s])
}

// watchFaults has faults of a thread, in functions that a Caller calls, be events of
// [heldProcess.Wait]. end undoes it, also after an error.
func (p *heldProcess) watchFaults(ctx context.Context, c *calling.Caller) (end func() error, err error) {
	session := value.NewReader(p, p.symbols, printers.All()).NewSession()
	session.Caller = c
	d := &dispositions{p, session, c, map[unix.Signal][]byte{}}
	end = func() error { return p.unwatchFaults(context.WithoutCancel(ctx), d) }
	// The kernel forgets the handler of SIGTRAP when a thread that blocks SIGTRAP, as in another
	// handler, comes to a breakpoint.
	action, handler, err := d.get(ctx, unix.SIGTRAP)
	if err != nil {
		return end, err
	}
	if handler > sigIgnore {
		d.changed[unix.SIGTRAP] = action
	}
	ours, err := binary.Append(nil, p.arch.Order, &sigaction{Handler: p.handler, Flags: saSigInfo | saOnStack})
	if err != nil {
		return end, err
	}
	for _, s := range faults {
		action, handler, err := d.get(ctx, s)
		if err != nil {
			return end, err
		}
		if handler > sigIgnore {
			if err := p.watch(handler); err != nil {
				return end, err
			}
			continue
		}
		if err := p.watch(p.handler); err != nil {
			return end, err
		}
		d.changed[s] = action
		if err := d.put(ctx, s, ours); err != nil {
			return end, err
		}
	}
	return end, nil
}

// unwatchFaults undoes watchFaults.
func (p *heldProcess) unwatchFaults(ctx context.Context, d *dispositions) (err error) {
	for s := range d.changed {
		if s != unix.SIGTRAP {
			err = errors.Join(err, d.putBack(ctx, s, p.handler))
		}
	}
	for addr := range p.handlers {
		err = errors.Join(err, p.ClearBreakpoint(addr))
	}
	clear(p.handlers)
	if d.changed[unix.SIGTRAP] != nil {
		err = errors.Join(err, d.putBack(ctx, unix.SIGTRAP, 0))
	}
	return err
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

// signal returns the signal of a thread that is where a handler begins. fault reports whether the
// thread has brought it upon itself.
func (p *heldProcess) signal(t *heldThread, regs *arch.Registers) (s inferior.Signal, fault bool) {
	at := p.arch.SignalHandler
	number, _ := regs.Get(at.Number)
	s.Number = int(int32(number))
	addr, _ := regs.Get(at.Info)
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

// pcSlot returns where the kernel has put the PC that a signal has interrupted. In struct ucontext
// it is behind SP.
func (p *heldProcess) pcSlot(regs *arch.Registers) uint64 {
	sp, _ := regs.Get(p.arch.SP)
	return sp + p.arch.SignalHandler.UContext + uint64(p.arch.UContext.SP) + 8
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

// leaveHandler has a thread that is where a handler begins return to the address to which calls
// return.
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
