package stub_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/stub"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/remote"
)

// start runs the program without a stub. It has a group of its own: gdbserver interrupts no other.
func (p *program) start(t *testing.T, args ...string) *gdbtest.Process {
	t.Helper()
	return gdbtest.StartRunning(t, p.path, args...)
}

// attach has a gdbserver attach to a process that runs.
func attach(t *testing.T, pid int) (addr string) {
	t.Helper()
	return gdbserver(t, "--once", "--attach", "localhost:0", strconv.Itoa(pid))
}

// word reads a variable of a process of this machine, as it is now.
func word(t *testing.T, p *stub.Process, pid int, addr uint64) uint64 {
	t.Helper()
	b := peek(t, pid, addr, 8)
	return p.Arch().Order.Uint64(b)
}

func peek(t *testing.T, pid int, addr uint64, n int) []byte {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, n)
	if _, err := f.ReadAt(b, int64(addr)); err != nil {
		t.Fatal(err)
	}
	return b
}

// undisturbed checks that a process runs as it did, with the code that it had.
func (p *program) undisturbed(t *testing.T, pid int, code []byte) {
	t.Helper()
	gdbtest.Await(t, fmt.Sprintf("process %d runs by itself", pid), func() bool {
		tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		for _, task := range tasks {
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/status", pid, task.Name()))
			if !strings.Contains(string(status), "TracerPid:\t0\n") || strings.Contains(string(status), "State:\tt") || strings.Contains(string(status), "State:\tT") {
				return false
			}
		}
		return len(tasks) > 0
	})
	if now := peek(t, pid, p.symbols["step"], len(code)); !bytes.Equal(now, code) {
		t.Errorf("code %x, want %x", now, code)
	}
}

// Eight threads come to a breakpoint again and again: each coming is one event, and each is at the
// breakpoint.
func TestBreakpoints(t *testing.T) {
	p := build(t, "amd64")
	run := p.start(t, "loop", "8")
	step := p.symbols["step"]
	code := peek(t, run.PID, step, 16)
	held := dial(t, attach(t, run.PID), remote.Options{Resume: true})
	if n := len(held.Inferiors()); n != 9 {
		t.Fatalf("%d threads, want 9", n)
	}
	for range 2 {
		if err := held.SetBreakpoint(step); err != nil {
			t.Fatal(err)
		}
	}
	seen, first := map[int]bool{}, uint64(0)
	const hits = 300
	for i := range hits {
		e := resume(t, held, inferior.Resume{})
		if e.Kind != inferior.Breakpoint || pc(t, held, e.Thread) != step || held.Inferiors()[0] != e.Thread {
			t.Fatalf("event %+v", e)
		}
		if i == 0 {
			first = variable(t, held, p.symbols["steps"])
		}
		seen[e.TID] = true
		if i == hits/2 {
			held.ClearBreakpoint(step) // it was set twice
		}
		b := make([]byte, 16)
		if _, err := held.Memory().ReadMemory(step, b); err != nil || !bytes.Equal(b, code) {
			t.Fatalf("memory at the breakpoint reads as %x, %v, want %x", b, err, code)
		}
	}
	// Each thread but the last of the events has made its step.
	if n := variable(t, held, p.symbols["steps"]) - first; n < hits-1-8 || n > hits-1 {
		t.Errorf("%d steps were made, in %d events", n, hits)
	}
	if len(seen) < 2 {
		t.Errorf("%d threads have come to the breakpoint", len(seen))
	}
	// A thread that steps, alone: it executes one instruction after the other, whatever is there.
	th := held.Inferiors()[0]
	before := variable(t, held, p.symbols["steps"])
	for i := 0; variable(t, held, p.symbols["steps"]) == before; i++ {
		if e := resume(t, held, inferior.Resume{Thread: th, Alone: true, Step: true}); e.Kind != inferior.Stepped || e.TID != th.ID() || i > 100 {
			t.Fatalf("event %+v", e)
		}
	}
	for range 50 {
		if e := resume(t, held, inferior.Resume{Thread: th, Alone: true}); e.Kind != inferior.Breakpoint || e.TID != th.ID() {
			t.Fatalf("event %+v", e)
		}
	}
	if n := variable(t, held, p.symbols["steps"]) - before; n < 50 || n > 51 {
		t.Errorf("%d steps were made by the thread that ran alone", n)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	p.undisturbed(t, run.PID, code)
	now := word(t, held, run.PID, p.symbols["steps"])
	gdbtest.Await(t, "it runs on", func() bool { return word(t, held, run.PID, p.symbols["steps"]) > now })
}

// A call runs over a breakpoint, at which the thread is stepped on.
func TestGuestBreakpoints(t *testing.T) {
	for processor := range guests {
		t.Run(processor, func(t *testing.T) {
			t.Parallel()
			p := build(t, processor)
			held := dial(t, p.serve(t), remote.Options{})
			th := p.to(t, held, "main")
			if err := held.SetBreakpoint(p.symbols["add"]); err != nil {
				t.Fatal(err)
			}
			c, err := inferior.NewCaller(held, th)
			if err != nil {
				t.Fatal(err)
			}
			// The caller runs over the breakpoint, which is no event of its.
			f := &abi.Func{Result: long, Params: []*abi.Type{long, long}}
			for i := range uint64(20) {
				b, err := c.Call(t.Context(), p.symbols["add"], f, []abi.Value{number(held, long, i), number(held, long, 1)})
				if err != nil || held.Arch().Order.Uint64(b) != i+1 {
					t.Fatalf("add(%d, 1): %x, %v", i, b, err)
				}
			}
			if n := variable(t, held, p.symbols["calls"]); n != 20 {
				t.Errorf("%d calls", n)
			}
		})
	}
}

// The signals that come: told of, then delivered or not as the debugger says; signals that wait are
// delivered at the end.
func TestSignals(t *testing.T) {
	p := build(t, "amd64")
	run := p.start(t, "spinmain")
	held := dial(t, attach(t, run.PID), remote.Options{Resume: true})
	th := held.Inferiors()[0]
	code := peek(t, run.PID, p.symbols["step"], 16)
	send := func() inferior.Event {
		t.Helper()
		if err := syscall.Kill(run.PID, syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		e := resume(t, held, inferior.Resume{})
		if s := e.Signal; e.Kind != inferior.Signalled || s.Number != int(syscall.SIGUSR1) || s.Sender != os.Getpid() || s.Own {
			t.Fatalf("event %+v", e)
		}
		return e
	}
	interrupt := func(r inferior.Resume) {
		t.Helper()
		if err := held.Resume(r); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if e, err := held.Wait(ctx); err != nil || e.Kind != inferior.Interrupted {
			t.Fatalf("event %+v, %v", e, err)
		}
	}
	signals := func() uint64 { return variable(t, held, p.symbols["signals"]) }
	send()
	interrupt(inferior.Resume{Thread: th})
	if n := signals(); n != 0 {
		t.Errorf("%d signals were delivered, want none", n)
	}
	send()
	if e := resume(t, held, inferior.Resume{Thread: th, Step: true, Signal: int(syscall.SIGUSR1)}); e.Kind != inferior.Stepped || pc(t, held, th) != p.symbols["handler"] {
		t.Errorf("event %+v at %#x, want the handler's first instruction", e, pc(t, held, th))
	}
	interrupt(inferior.Resume{Thread: th})
	send()
	interrupt(inferior.Resume{}) // nobody has named the thread: the signal is delivered
	gdbtest.Await(t, "the handler was called twice", func() bool {
		if signals() == 2 {
			return true
		}
		interrupt(inferior.Resume{})
		return false
	})
	// The signal that waits belongs to the state that is saved. That which comes later is gone with
	// the state that is left.
	send()
	if err := th.Save(); err != nil {
		t.Fatal(err)
	}
	if err := th.Jump(p.symbols["crash"]); err != nil {
		t.Fatal(err)
	}
	if e := resume(t, held, inferior.Resume{Thread: th}); e.Kind != inferior.Signalled || e.Signal.Number != int(syscall.SIGSEGV) || !e.Signal.HasAddress || e.Signal.Address != 8 || !e.Signal.ByItself() {
		t.Fatalf("event %+v", e)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	p.undisturbed(t, run.PID, code)
	gdbtest.Await(t, "the signal that waited was delivered", func() bool { return word(t, held, run.PID, p.symbols["signals"]) == 3 })
}

// A thread in a system call calls a function, and the system call goes on.
func TestSystemCalls(t *testing.T) {
	for where, want := range map[string]string{"read": "read 1 0", "nanosleep": "nanosleep 0 0", "poll": "poll 0 0", "futextimeout": "futextimeout -1 110", "pollin": "pollin 1 0"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			p := build(t, "amd64")
			run := p.start(t, where)
			run.Rest(t)
			held := dial(t, attach(t, run.PID), remote.Options{Resume: true})
			c, err := inferior.NewCaller(held, held.Inferiors()[0])
			if err != nil {
				t.Fatal(err)
			}
			f := &abi.Func{Result: long, Params: []*abi.Type{long, long}}
			for i := range uint64(3) {
				b, err := c.Call(t.Context(), p.symbols["add"], f, []abi.Value{number(held, long, 40), number(held, long, i)})
				if err != nil || held.Arch().Order.Uint64(b) != 40+i {
					t.Errorf("add(40, %d): %x, %v", i, b, err)
				}
			}
			if err := held.Close(); err != nil {
				t.Fatal(err)
			}
			run.Stdin.Write([]byte("x"))
			line, err := run.Stdout.ReadString('\n')
			if err != nil || strings.TrimSpace(line) != want+" calls 3" {
				t.Errorf("%q, %v, want %q", line, err, want)
			}
		})
	}
}

// Children that a function makes, by fork and vfork, run without breakpoints; the process has them
// again.
func TestForks(t *testing.T) {
	p := build(t, "amd64")
	for _, function := range []string{"forks", "vforks"} {
		t.Run(function, func(t *testing.T) {
			run := p.start(t, "read", "3")
			held := dial(t, attach(t, run.PID), remote.Options{Resume: true})
			code := peek(t, run.PID, p.symbols["step"], 16)
			for _, at := range []string{"step", "vforks"} {
				if err := held.SetBreakpoint(p.symbols[at]); err != nil {
					t.Fatal(err)
				}
			}
			var th inferior.Thread
			for _, one := range held.Inferiors() {
				if one.ID() == run.PID {
					th = one
				}
			}
			c, err := inferior.NewCaller(held, th)
			if err != nil {
				t.Fatal(err)
			}
			b, err := c.Call(t.Context(), p.symbols[function], &abi.Func{Result: long}, nil)
			if err != nil || held.Arch().Order.Uint64(b) != 7<<8 {
				t.Fatalf("%s(): %x, %v, want exit status 7", function, b, err)
			}
			if err := th.Save(); err != nil {
				t.Fatal(err)
			}
			if err := th.Jump(p.symbols["step"]); err != nil {
				t.Fatal(err)
			}
			if err := held.Close(); err != nil {
				t.Fatal(err)
			}
			p.undisturbed(t, run.PID, code)
			run.Stdin.Write([]byte("x"))
			if line, err := run.Stdout.ReadString('\n'); err != nil || !strings.HasPrefix(line, "read 1 0") {
				t.Errorf("%q, %v", line, err)
			}
		})
	}
}

// A thread that a call ends is told of, and the others run on.
func TestThreadEnds(t *testing.T) {
	p := build(t, "amd64")
	for _, alone := range []bool{false, true} {
		t.Run(fmt.Sprint("alone ", alone), func(t *testing.T) {
			run := p.start(t, "loop", "4")
			held := dial(t, attach(t, run.PID), remote.Options{Resume: true})
			th := p.to(t, held, "step")
			if err := th.Save(); err != nil {
				t.Fatal(err)
			}
			a := held.Arch()
			entry, err := held.EntryPoint()
			if err != nil {
				t.Fatal(err)
			}
			b, err := inferior.RegisterBytes(th, a.SP, 8)
			if err == nil { // the stack is as after a call
				sp := a.Order.Uint64(b)&^15 - uint64(a.RedZone) - 8
				a.Order.PutUint64(b, sp)
				if err = th.WriteRegister(a.SP, 0, b); err == nil {
					a.Order.PutUint64(b, entry)
					_, err = held.Memory().(target.WritableMemory).WriteMemory(sp, b)
				}
			}
			if err == nil {
				err = th.Jump(p.symbols["ends"])
			}
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			if !alone {
				cancel() // gdbserver does not tell
			}
			defer cancel()
			for {
				if err := held.Resume(inferior.Resume{Thread: th, Alone: alone}); err != nil {
					t.Fatal(err)
				}
				e, err := held.Wait(ctx)
				if err == nil && e.Kind == inferior.Interrupted && !alone {
					continue // not yet
				}
				if err != nil || e.Kind != inferior.ThreadExited || e.TID != th.ID() || e.Thread != nil {
					t.Fatalf("event %+v, %v", e, err)
				}
				break
			}
			if n := len(held.Inferiors()); n != 4 {
				t.Errorf("%d threads are left, want 4", n)
			}
			if err := held.Close(); err != nil {
				t.Fatal(err)
			}
			p.undisturbed(t, run.PID, peek(t, run.PID, p.symbols["step"], 16))
		})
	}
}
