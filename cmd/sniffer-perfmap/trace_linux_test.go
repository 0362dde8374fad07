//go:build linux && amd64

package main

import (
	"encoding/binary"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/arch/x86/x86asm"
	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/trad"
)

// An activation is a call that has not returned yet, which was observed while the process was
// stepped.
type activation struct {
	ra   uint64 // the address behind the call
	fp   uint64 // rbp at the call
	raAt uint64 // where the call has pushed ra
	regs syscall.PtraceRegs
}

// A tracer steps a thread. It implements memory and [trad.Env].
type tracer struct {
	t        *testing.T
	tid      int
	regs     syscall.PtraceRegs
	calls    []activation
	throwing bool // SP is already an exception's handler's, other registers are not yet
}

// trace steps a thread, n times at most. It calls see before each instruction, and stops when see
// returns false.
func trace(t *testing.T, tid, n int, see func(x *tracer) bool) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	x := &tracer{t: t, tid: tid}
	if err := unix.PtraceSeize(tid); err != nil {
		t.Fatal(err)
	}
	if err := unix.PtraceInterrupt(tid); err != nil {
		t.Fatal(err)
	}
	x.wait()
	defer syscall.PtraceDetach(tid)
	x.registers()
	for i := 0; i < n && see(x); i++ {
		x.step()
	}
}

func (x *tracer) wait() syscall.Signal {
	var status unix.WaitStatus
	if _, err := unix.Wait4(x.tid, &status, unix.WALL, nil); err != nil || !status.Stopped() {
		x.t.Fatalf("wait: %v, status %#x", err, status)
	}
	return status.StopSignal()
}

func (x *tracer) registers() {
	if err := syscall.PtraceGetRegs(x.tid, &x.regs); err != nil {
		x.t.Fatal(err)
	}
}

// step executes an instruction, and updates the calls.
func (x *tracer) step() {
	var code [15]byte
	n, _ := x.ReadMemory(x.regs.Rip, code[:])
	in, err := x86asm.Decode(code[:n], 64)
	before := x.regs
	for sig := syscall.Signal(0); ; {
		if _, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_SINGLESTEP, uintptr(x.tid), 0, uintptr(sig), 0, 0); e != 0 {
			x.t.Fatal(e)
		}
		if sig = x.wait(); sig == unix.SIGTRAP {
			break
		}
	}
	x.registers()
	if err != nil {
		return // no instruction that x86asm does not know calls or returns
	}
	switch in.Op {
	case x86asm.CALL:
		x.calls = append(x.calls, activation{ra: before.Rip + uint64(in.Len), fp: before.Rbp, raAt: x.regs.Rsp, regs: before})
	case x86asm.RET:
		i := len(x.calls) - 1
		for i >= 0 && x.calls[i].ra != x.regs.Rip {
			i--
		}
		x.calls = x.calls[:max(i, 0)]
	case x86asm.JMP:
		x.throwing = false
	case x86asm.MOV:
		// An exception removes frames: SP is loaded from where its handler has stored it.
		_, fromMemory := in.Args[1].(x86asm.Mem)
		for in.Args[0] == x86asm.RSP && fromMemory && len(x.calls) > 0 && x.calls[len(x.calls)-1].raAt < x.regs.Rsp {
			x.calls = x.calls[:len(x.calls)-1]
			x.throwing = true
		}
	}
}

// ReadMemory implements memory.
func (x *tracer) ReadMemory(addr uint64, p []byte) (int, error) {
	local := []unix.Iovec{{Base: &p[0], Len: uint64(len(p))}}
	n, err := unix.ProcessVMReadv(x.tid, local, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(p)}}, 0)
	if n = max(n, 0); n < len(p) && err == nil {
		err = plugin.ErrUnmapped
	}
	return n, err
}

// Word implements [trad.Env].
func (x *tracer) Word(addr uint64) (uint64, error) {
	var p [8]byte
	_, err := x.ReadMemory(addr, p[:])
	return binary.LittleEndian.Uint64(p[:]), err
}

// Register implements [trad.Env].
func (x *tracer) Register(r trad.Reg) (uint64, bool) {
	g := &x.regs
	list := [...]uint64{g.Rax, g.Rdx, g.Rcx, g.Rbx, g.Rsi, g.Rdi, g.Rbp, g.Rsp, g.R8, g.R9, g.R10, g.R11, g.R12, g.R13, g.R14, g.R15, g.Rip}
	if int(r) < len(list) {
		return list[r], true
	}
	return 0, false
}

// all returns all registers.
func (x *tracer) all() (regs arch.Registers) {
	for r := amd64.RAX; r <= amd64.RIP; r++ {
		v, _ := x.Register(r)
		regs.Set(r, v)
	}
	return regs
}

// caller is the view of the frame that has made the call c.
func (x *tracer) caller(c activation) *tracer {
	y := *x
	y.regs.Rip, y.regs.Rbp, y.regs.Rsp = c.ra, c.fp, c.raAt+8
	return &y
}

// prev returns what a row says of PREVIOUS: its PC, its rbp, and what it tells of others.
func prev(row trad.Row, env trad.Env) (ra, fp uint64, others map[trad.Reg]uint64, err error) {
	cfa, err := row.Apply(env)
	if err != nil {
		return 0, 0, nil, err
	}
	value := func(rule trad.Rule, r trad.Reg) (uint64, error) {
		p, err := row.Place(rule, r, env, cfa)
		switch {
		case err != nil:
		case p.Kind == trad.InMemory:
			return env.Word(p.Addr)
		case p.Kind == trad.InThis:
			v, _ := env.Register(p.Reg)
			return v, nil
		case p.Kind != trad.IsValue:
			err = trad.ErrUnavailable
		}
		return p.Addr, err
	}
	others = map[trad.Reg]uint64{}
	for _, x := range row.Others.Regs {
		if x.Reg == amd64.RSP || x.Rule.Kind == trad.Undefined {
			continue
		}
		if others[x.Reg], err = value(x.Rule, x.Reg); err != nil {
			return 0, 0, nil, err
		}
	}
	if ra, err = value(row.RA, amd64.RIP); err != nil {
		return 0, 0, nil, err
	}
	fp, err = value(row.FP, amd64.RBP)
	return ra, fp, others, err
}
