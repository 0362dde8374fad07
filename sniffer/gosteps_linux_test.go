//go:build amd64

package sniffer_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/arch/x86/x86asm"
	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/gopclntab"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/internal/gomodule"
	"github.com/sfwalk/sfwalk/internal/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/trad"
)

// stepped is a thread that runs one instruction at a time, as a target.
type stepped struct {
	tid     int
	regs    unix.PtraceRegs
	modules *target.Modules
	page    uint64 // address of data
	data    []byte
}

func (s *stepped) Arch() *arch.Arch                  { return amd64.Arch }
func (s *stepped) Memory() target.Memory             { return s }
func (s *stepped) Threads() ([]target.Thread, error) { return []target.Thread{s}, nil }
func (s *stepped) Modules() *target.Modules          { return s.modules }
func (s *stepped) Close() error                      { return nil }
func (s *stepped) ID() int                           { return s.tid }
func (s *stepped) Name() string                      { return "stepped" }

func (s *stepped) Registers(r *arch.Registers) error {
	x := &s.regs
	for reg, v := range map[trad.Reg]uint64{
		amd64.RAX: x.Rax, amd64.RDX: x.Rdx, amd64.RCX: x.Rcx, amd64.RBX: x.Rbx, amd64.RSI: x.Rsi, amd64.RDI: x.Rdi,
		amd64.RBP: x.Rbp, amd64.RSP: x.Rsp, amd64.R8: x.R8, amd64.R9: x.R9, amd64.R10: x.R10, amd64.R11: x.R11,
		amd64.R12: x.R12, amd64.R13: x.R13, amd64.R14: x.R14, amd64.R15: x.R15, amd64.RIP: x.Rip, amd64.FSBase: x.Fs_base,
	} {
		r.Set(reg, v)
	}
	return nil
}

func (s *stepped) ReadMemory(addr uint64, p []byte) (int, error) {
	const size = 4096
	done := 0
	for done < len(p) {
		at := addr + uint64(done)
		if s.data == nil || at&^(size-1) != s.page {
			room := make([]byte, size)
			n, err := unix.ProcessVMReadv(s.tid, []unix.Iovec{{Base: &room[0], Len: size}}, []unix.RemoteIovec{{Base: uintptr(at &^ (size - 1)), Len: size}}, 0)
			if err != nil || n < size {
				return done, target.ErrUnmapped
			}
			s.page, s.data = at&^(size-1), room
		}
		done += copy(p[done:], s.data[at-s.page:])
	}
	return done, nil
}

func (s *stepped) word(t *testing.T, addr uint64) uint64 {
	t.Helper()
	var b [8]byte
	if _, err := s.ReadMemory(addr, b[:]); err != nil {
		t.Fatalf("word at %#x: %v", addr, err)
	}
	return binary.LittleEndian.Uint64(b[:])
}

// took is a call that the processor has made and not yet come back from: what it has
// left on the stack, and the caller's registers.
type took struct {
	cfa, ra, fp uint64
	kept        [5]uint64 // the registers that functions of C preserve
	signal      bool      // the kernel has made it, of a handler; the three are the interrupted ones: SP, PC and FP
}

var keptX86 = [5]trad.Reg{amd64.RBX, amd64.R12, amd64.R13, amd64.R14, amd64.R15}

func keptOf(r *unix.PtraceRegs) [5]uint64 { return [5]uint64{r.Rbx, r.R12, r.R13, r.R14, r.R15} }

// goSteps runs a thread one instruction at a time and keeps account of the calls that the
// processor makes, without any table. Before each instruction that has not been
// seen with the same calls, the stack must be just these.
type goSteps struct {
	*stepped
	t        *testing.T
	p        *gdbtest.Process
	table    *frame.Table
	walker   *walktest.Checker
	gocode   *gopclntab.Table
	bias     uint64
	calls    []took
	seen     map[string]bool
	prepared bool           // a handler has made the interrupted function call another
	moved    bool           // copystack has been called
	counts   map[string]int // instructions compared, by the function of Go
}

func newGoSteps(t *testing.T, program, scenario string) *goSteps {
	p := gdbtest.StartRunning(t, program, scenario)
	s := &goSteps{stepped: &stepped{}, t: t, p: p, seen: map[string]bool{}, counts: map[string]int{}}
	tg, err := live.Attach(context.Background(), p.PID, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	s.modules = tg.Modules()
	s.table = sniffer.Table(amd64.Arch)
	s.walker = walktest.New(s.modules, s.table)
	for _, m := range s.modules.All() {
		if table, bias, err := gomodule.Table(m); err == nil {
			s.gocode, s.bias = table, bias
		}
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	tids := []int{p.PID}
	for deadline := time.Now().Add(5 * time.Second); s.tid == 0; time.Sleep(time.Millisecond) {
		tids = tids[:1]
		for _, file := range tasks {
			tid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if tid != p.PID {
				tids = append(tids, tid)
			}
			if text, _ := os.ReadFile(file); strings.HasPrefix(string(text), "0 0x0 ") {
				s.tid = tid
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("no thread reads")
		}
	}
	runtime.LockOSThread()
	stuck := time.AfterFunc(20*time.Second, func() { unix.Kill(p.PID, unix.SIGKILL) })
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
	// The others stand still: none finds that the goroutine has run for long enough.
	for _, tid := range tids {
		if err := unix.PtraceSeize(tid); err != nil {
			t.Fatal(err)
		}
		if err := unix.PtraceInterrupt(tid); err != nil {
			t.Fatal(err)
		}
		unix.Wait4(tid, nil, unix.WALL, nil)
	}
	if err := unix.PtraceGetRegs(s.tid, &s.regs); err != nil {
		t.Fatal(err)
	}
	p.Stdin.Write([]byte{'x'})
	return s
}

// wait waits until the thread has stopped, and returns the signal that has come.
func (s *goSteps) wait() (sig syscall.Signal, alive bool) {
	var ws unix.WaitStatus
	for {
		_, err := unix.Wait4(s.tid, &ws, unix.WALL, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || !ws.Stopped() {
			return 0, false
		}
		break
	}
	s.data = nil
	if err := unix.PtraceGetRegs(s.tid, &s.regs); err != nil {
		return 0, false
	}
	if sig = ws.StopSignal(); sig == unix.SIGTRAP || sig == unix.SIGURG || sig == unix.SIGSTOP {
		sig = 0 // SIGURG asks a goroutine to make room for another: it need not
	}
	return sig, true
}

// step runs an instruction and keeps account of what it was. It returns false where the
// thread has ended, or gone to another goroutine.
func (s *goSteps) step(pending syscall.Signal) (next syscall.Signal, ok bool) {
	before := s.regs
	var code [16]byte
	s.ReadMemory(before.Rip, code[:])
	in, _ := x86asm.Decode(code[:], 64)
	// unix.PtraceSingleStep cannot deliver a signal.
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SINGLESTEP, uintptr(s.tid), 0, uintptr(pending), 0, 0); e != 0 {
		return 0, false
	}
	if next, ok = s.wait(); !ok {
		return 0, false
	}
	now := &s.regs
	if pending != 0 {
		s.calls = append(s.calls, took{cfa: before.Rsp, ra: before.Rip, fp: before.Rbp, kept: keptOf(&before), signal: true},
			took{cfa: now.Rsp + 8, ra: s.word(s.t, now.Rsp), fp: before.Rbp, kept: keptOf(now)})
		return next, true
	}
	switch {
	case next != 0 && now.Rip == before.Rip: // it has failed
	case in.Op == x86asm.CALL:
		s.calls = append(s.calls, took{cfa: now.Rsp + 8, ra: s.word(s.t, now.Rsp), fp: before.Rbp, kept: keptOf(now)})
	case in.Op == x86asm.RET && len(s.calls) > 0:
		top := s.calls[len(s.calls)-1]
		s.moved = s.moved || s.function(before.Rip) == "runtime.copystack"
		if top.cfa != now.Rsp || top.ra != now.Rip {
			s.t.Fatalf("at %#x: a return to %#x with SP %#x, the last call has left %+v", before.Rip, now.Rip, now.Rsp, top)
		}
		s.calls = s.calls[:len(s.calls)-1]
	case in.Op == x86asm.SYSCALL && before.Rax == unix.SYS_RT_SIGRETURN:
		for len(s.calls) > 0 && !s.calls[len(s.calls)-1].signal {
			s.calls = s.calls[:len(s.calls)-1]
		}
		s.prepared = false
		interrupted := s.calls[len(s.calls)-1]
		s.calls = s.calls[:len(s.calls)-1]
		if now.Rip != interrupted.ra { // the handler has made it look as if there had been a call
			s.calls = append(s.calls, took{cfa: now.Rsp + 8, ra: s.word(s.t, now.Rsp), fp: now.Rbp, kept: keptOf(now)})
		}
	case s.function(now.Rip) == "runtime.(*sigctxt).preparePanic":
		s.prepared = true
	case s.function(now.Rip) == "gogo":
		s.moved, s.calls = false, nil // to another goroutine, or another place in this one
	}
	return next, true
}

func (s *goSteps) function(pc uint64) string {
	f, ok := s.gocode.Find(pc - s.bias)
	if !ok {
		return "C"
	}
	return f.Name()
}

// inC reports whether a return address is in C.
func (s *goSteps) inC(pc uint64) bool { return s.function(pc-1) == "C" }

// inside reports whether a function has been called, further in than call i.
func (s *goSteps) inside(i int, function string) bool {
	for _, c := range s.calls[i+1:] {
		if s.function(c.ra) == function {
			return true
		}
	}
	return s.function(s.regs.Rip) == function
}

// compare holds the stack against the calls.
func (s *goSteps) compare() {
	t, pc := s.t, s.regs.Rip
	key := make([]byte, 0, 64)
	key = binary.LittleEndian.AppendUint64(key, pc)
	for i := len(s.calls) - 1; i >= 0 && i > len(s.calls)-4; i-- {
		key = binary.LittleEndian.AppendUint64(key, s.calls[i].ra)
	}
	if len(s.calls) == 0 || s.seen[string(key)] {
		return
	}
	s.seen[string(key)] = true
	name := s.function(pc)
	s.counts[name]++
	stack, err := frame.New(s, s, s.table)
	if err != nil {
		t.Fatal(err)
	}
	f, err := stack.Frame(0)
	moved := uint64(0) // how far the goroutine's stack has gone
	for i := len(s.calls) - 1; i >= 0; i-- {
		want := s.calls[i]
		if f == nil {
			t.Errorf("%#x in %s: call %d of %d is missing: %v", pc, name, i, len(s.calls), err)
			break
		}
		if want.signal && s.prepared {
			break // the kernel's record of it is being changed
		}
		if want.signal && f.Type() != frame.SigTramp {
			t.Errorf("%#x in %s: frame %v in %s is of type %v, a signal has come", pc, name, f, s.function(f.PC()), f.Type())
			break
		}
		cfa, _ := f.CFA()
		var prev *frame.Frame
		prev, err = f.Prev()
		if prev == nil {
			if s.inside(i, "runtime.copystack") && f.Type() == frame.Arch && f.StopReason() == frame.NoSavedPC {
				break // the goroutine has its new stack, and its stack pointer is still in the old one
			}
			t.Errorf("%#x in %s: %v in %s by %s %v: the stack ends: %v %v", pc, name, f, s.function(f.AddressInBlock()), f.Sniffer(), f.Row(), f.StopReason(), err)
			break
		}
		if f.Type() == frame.Arch && s.inside(i, "runtime.recovery") {
			break // it has begun to make the goroutine go on elsewhere
		}
		if f.Type() == frame.Arch && s.inside(i, "runtime.copystack") {
			if prev.PC() != want.ra {
				t.Errorf("%#x in %s: %v returns to %#x", pc, name, f, want.ra)
			}
			break // the stack is being moved
		}
		sp, fp := prev.Register(amd64.RSP), prev.Register(amd64.RBP)
		if f.Type() == frame.Arch && s.moved {
			moved = sp.Bits - want.cfa
		}
		want.cfa, want.fp = want.cfa+moved, want.fp+moved
		if cfa != want.cfa && !want.signal || prev.PC() != want.ra || sp.Bits != want.cfa || fp.Known() && fp.Bits != want.fp {
			row := f.Row()
			t.Errorf("%#x in %s: %v in %s by %s %s: CFA %#x PC %#x SP %v FP %v; the processor has CFA %#x PC %#x FP %#x", pc, name, f,
				s.function(f.AddressInBlock()), f.Sniffer(), row.Format(amd64.Arch.RegName), cfa, prev.PC(), sp, fp, want.cfa, want.ra, want.fp)
			break
		}
		if !fp.Known() {
			t.Errorf("%#x in %s: FP is not known in the caller of %v in %s", pc, name, f, s.function(f.AddressInBlock()))
		}
		for j, r := range keptX86 {
			switch v := prev.Register(r); {
			case v.Known() && v.Bits != want.kept[j]:
				t.Errorf("%#x in %s: %s in the caller of %v is %v, it was %#x", pc, name, amd64.Arch.RegName(r), f, v, want.kept[j])
			case !v.Known() && s.inC(want.ra):
				t.Errorf("%#x in %s: %s is not known in %v, which is C", pc, name, amd64.Arch.RegName(r), prev)
			}
		}
		if v := prev.Register(amd64.FSBase); v.Bits != s.regs.Fs_base {
			t.Errorf("%#x in %s: fs_base is %v in %v", pc, name, v, prev)
		}
		f = prev
	}
	if err := s.walker.Check(s, s); err != nil {
		t.Errorf("%#x in %s: %v", pc, name, err)
	}
}

// TestGoSteps runs programs of Go one instruction at a time. SFWALK_GOSTEPS names another
// build of gosteps, by another release of Go.
func TestGoSteps(t *testing.T) {
	program := os.Getenv("SFWALK_GOSTEPS")
	if program == "" {
		program = gdbtest.Build(t, "gosteps", "CGO_ENABLED=1", "CGO_CFLAGS=-O2 -fomit-frame-pointer")
	}
	for _, tt := range []struct {
		scenario string
		in       []string // functions that it must have been in
	}{
		{"cgo", []string{"runtime.asmcgocall", "runtime.cgocallback", "crosscall2", "C"}},
		{"runtime", []string{"runtime.systemstack"}},
		{"frames", []string{"main.large", "main.larger", "main.variadic", "runtime.call16", "callRet"}},
		{"grows", []string{"runtime.morestack"}},
		{"panics", []string{"runtime.sigpanic", "runtime.sigtramp"}},
	} {
		t.Run(tt.scenario, func(t *testing.T) {
			s := newGoSteps(t, program, tt.scenario)
			steps := 0
			for pending, ok := syscall.Signal(0), true; ok && steps < 100_000; steps++ {
				if pending, ok = s.step(pending); ok {
					s.compare()
				}
				if t.Failed() {
					break // what follows is no other error
				}
			}
			for _, name := range tt.in {
				if s.counts[name] == 0 {
					t.Errorf("not one instruction of %s", name)
				}
			}
			instructions := 0
			for _, n := range s.counts {
				instructions += n
			}
			t.Logf("%d steps, %d compared, in %d functions of Go", steps, instructions, len(s.counts))
			s.p.Stdin.Close()
		})
	}
}
