//go:build amd64

package sniffer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/arch/x86/x86asm"
	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/i386"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/trad"
)

// TestGoSteps runs Go programs one instruction at a time. SFWALK_GOSTEPS names a
// build of gosteps by another release of Go.
func TestGoSteps(t *testing.T) {
	program := os.Getenv("SFWALK_GOSTEPS")
	if program == "" {
		program = gdbtest.Build(t, "gosteps", "CGO_ENABLED=1", "CGO_CFLAGS=-O2 -fomit-frame-pointer")
	}
	for i, tt := range goScenarios {
		t.Run(tt.name, func(t *testing.T) {
			gdbtest.Share(t, i+1)
			missed := "?"
			for try := 0; try < 3 && missed != "" && !t.Failed(); try++ { // the thread may wait for one that is stopped
				missed = stepThrough(t, trace(t, program, tt.name), tt.in, 10_000)
			}
			if missed != "" {
				t.Errorf("not one instruction of %s", missed)
			}
		})
	}
}

// traced is a thread of a process of this machine.
type traced struct {
	tid     int
	arch    *arch.Arch
	regs    unix.PtraceRegs // of a 32-bit program PC, SP and AX alone
	regs386 arch.Registers  // of a 32-bit program
	modules *target.Modules
	code    map[uint64]*page // pages that do not change
	data    []*page          // pages that were read since the last step
	room    []*page          // free pages for data
}

// page is the unit in which memory is read.
type page struct {
	addr  uint64
	bytes [4096]byte
}

func (s *traced) Arch() *arch.Arch                  { return s.arch }
func (s *traced) Memory() target.Memory             { return s }
func (s *traced) Threads() ([]target.Thread, error) { return []target.Thread{s}, nil }
func (s *traced) Modules() *target.Modules          { return s.modules }
func (s *traced) Close() error                      { return nil }
func (s *traced) ID() int                           { return s.tid }
func (s *traced) Name() string                      { return "traced" }

func (s *traced) Registers(r *arch.Registers) error {
	if s.arch != amd64.Arch {
		*r = s.regs386
		return nil
	}
	x := &s.regs
	for reg, v := range [...]uint64{
		amd64.RAX: x.Rax, amd64.RDX: x.Rdx, amd64.RCX: x.Rcx, amd64.RBX: x.Rbx, amd64.RSI: x.Rsi, amd64.RDI: x.Rdi,
		amd64.RBP: x.Rbp, amd64.RSP: x.Rsp, amd64.R8: x.R8, amd64.R9: x.R9, amd64.R10: x.R10, amd64.R11: x.R11,
		amd64.R12: x.R12, amd64.R13: x.R13, amd64.R14: x.R14, amd64.R15: x.R15, amd64.RIP: x.Rip,
	} {
		r.Set(trad.Reg(reg), v)
	}
	r.Set(amd64.RFLAGS, x.Eflags)
	r.Set(amd64.FSBase, x.Fs_base)
	return nil
}

// takeRegs reads the thread's registers.
func (s *traced) takeRegs() error {
	if s.arch == amd64.Arch {
		return unix.PtraceGetRegs(s.tid, &s.regs)
	}
	set := &s.arch.KernelRegs[0]
	data := make([]byte, set.Size)
	iov := unix.Iovec{Base: &data[0], Len: uint64(len(data))}
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GETREGSET, uintptr(s.tid), uintptr(set.Note), uintptr(unsafe.Pointer(&iov)), 0, 0); e != 0 {
		return e
	}
	s.regs386 = arch.Registers{}
	set.Get(s.arch, data, &s.regs386)
	s.regs.Rip, _ = s.regs386.Get(i386.EIP)
	s.regs.Rsp, _ = s.regs386.Get(i386.ESP)
	s.regs.Rax, _ = s.regs386.Get(i386.EAX)
	return nil
}

func (s *traced) ReadMemory(addr uint64, p []byte) (int, error) {
	done := 0
	for done < len(p) {
		at := addr + uint64(done)
		from := s.page(at &^ uint64(len(page{}.bytes)-1))
		if from == nil {
			return done, target.ErrUnmapped
		}
		done += copy(p[done:], from.bytes[at-from.addr:])
	}
	return done, nil
}

// page returns the page of memory at addr, or nil if there is none.
func (s *traced) page(addr uint64) *page {
	if p := s.code[addr]; p != nil {
		return p
	}
	for _, p := range s.data {
		if p.addr == addr {
			return p
		}
	}
	if len(s.room) == 0 {
		s.room = append(s.room, new(page))
	}
	p := s.room[len(s.room)-1]
	size := len(p.bytes)
	n, err := unix.ProcessVMReadv(s.tid, []unix.Iovec{{Base: &p.bytes[0], Len: uint64(size)}}, []unix.RemoteIovec{{Base: uintptr(addr), Len: size}}, 0)
	if err != nil || n < size {
		return nil
	}
	p.addr, s.room = addr, s.room[:len(s.room)-1]
	if s.code != nil && s.modules.IsCode(addr) {
		s.code[addr] = p
	} else {
		s.data = append(s.data, p)
	}
	return p
}

// trace starts a scenario and stops all threads.
func trace(t *testing.T, program string, args ...string) *traced {
	p := gdbtest.StartRunning(t, program, args...)
	tg, err := live.Attach(context.Background(), p.PID, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	s := &traced{arch: tg.Arch(), modules: tg.Modules(), code: map[uint64]*page{}}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	reads := "0 0x0 " // the system call's number, and standard input
	if s.arch == i386.Arch {
		reads = "3 0x0 "
	}
	tids := []int{p.PID}
	gdbtest.Await(t, "a thread reads", func() bool {
		tids = tids[:1]
		for _, file := range tasks {
			tid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if tid != p.PID {
				tids = append(tids, tid)
			}
			if text, _ := os.ReadFile(file); strings.HasPrefix(string(text), reads) {
				s.tid = tid
			}
		}
		return s.tid != 0
	})
	runtime.LockOSThread()
	stuck := time.AfterFunc(time.Until(gdbtest.Deadline(t)), func() { unix.Kill(p.PID, unix.SIGKILL) })
	t.Cleanup(func() {
		if !stuck.Stop() {
			t.Error("the thread did not go on")
		}
		unix.Kill(p.PID, unix.SIGKILL)
		slices.Reverse(tids) // a tracer must see its tracees end, and the first thread ends last
		for _, tid := range tids {
			for err := error(nil); err == nil || errors.Is(err, unix.EINTR); {
				_, err = unix.Wait4(tid, nil, unix.WALL, nil)
			}
		}
		runtime.UnlockOSThread()
	})
	// The other threads are stopped, so none asks the goroutine to yield.
	for _, tid := range tids {
		if err := unix.PtraceSeize(tid); err != nil {
			t.Fatal(err)
		}
		if err := unix.PtraceInterrupt(tid); err != nil {
			t.Fatal(err)
		}
		unix.Wait4(tid, nil, unix.WALL, nil)
	}
	if err := s.takeRegs(); err != nil {
		t.Fatal(err)
	}
	p.Stdin.Write([]byte{'x'})
	return s
}

// step implements stepper.
func (s *traced) step(t *testing.T, signal int) (did deed, pending int, alive bool) {
	before := s.regs
	var code [16]byte
	s.ReadMemory(before.Rip, code[:])
	in, _ := x86asm.Decode(code[:], 8*s.arch.PtrSize)
	// unix.PtraceSingleStep cannot deliver a signal.
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SINGLESTEP, uintptr(s.tid), 0, uintptr(signal), 0, 0); e != 0 {
		return did, 0, false
	}
	var ws unix.WaitStatus
	for {
		_, err := unix.Wait4(s.tid, &ws, unix.WALL, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || !ws.Stopped() {
			return did, 0, false
		}
		break
	}
	s.room, s.data = append(s.room, s.data...), s.data[:0]
	if err := s.takeRegs(); err != nil {
		return did, 0, false
	}
	switch stop := ws.StopSignal(); stop {
	case unix.SIGTRAP, unix.SIGURG, unix.SIGSTOP: // SIGURG asks a goroutine to yield to another one: it need not
	default:
		pending = int(stop)
	}
	now := &s.regs
	pushed := func(kind deedKind) deed {
		b := make([]byte, s.arch.PtrSize)
		if _, err := s.ReadMemory(now.Rsp, b); err != nil {
			t.Fatalf("return address at %#x: %v", now.Rsp, err)
		}
		return deed{kind, now.Rsp + uint64(len(b)), s.arch.Word(b)}
	}
	switch {
	case signal != 0:
		did = pushed(signalled)
	case pending != 0 && now.Rip == before.Rip: // the instruction has failed
	case in.Op == x86asm.CALL:
		did = pushed(called)
	case in.Op == x86asm.RET:
		did.kind = returned
	case in.Op == x86asm.SYSCALL && before.Rax == unix.SYS_RT_SIGRETURN:
		did.kind = unsignalled
	}
	return did, pending, true
}
