package native_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// Breakpoints in code that eight threads run: each hit stops all, memory reads as if there were none, and a
// thread goes on from there.
func TestBreakpoints(t *testing.T) {
	p := start(t, "loop", "8")
	held := p.attach(t, native.Options{})
	if n := len(held.Inferiors()); n != 9 {
		t.Fatalf("%d threads", n)
	}
	step := p.symbols["step"]
	before, after := make([]byte, 16), make([]byte, 16)
	p.read(t, step, before)
	if err := held.SetBreakpoint(step); err != nil {
		t.Fatal(err)
	}
	if _, err := held.Memory().ReadMemory(step, after); err != nil || !bytes.Equal(before, after) {
		t.Errorf("memory reads %x, %v, want %x", after, err, before)
	}
	if p.read(t, step, after); bytes.Equal(before, after) {
		t.Error("no breakpoint is in the code")
	}
	hits := map[int]int{}
	for i := range 200 {
		count := p.counter(t)
		if err := held.Resume(inferior.Resume{}); err != nil {
			t.Fatal(err)
		}
		e, err := held.Wait(t.Context())
		if err != nil || e.Kind != inferior.Breakpoint {
			t.Fatalf("event %+v, %v", e, err)
		}
		if pc, err := inferior.RegisterBytes(e.Thread, held.Arch().PC, 8); err != nil || held.Arch().Order.Uint64(pc) != step {
			t.Fatalf("PC %x, %v", pc, err)
		}
		hits[e.TID]++
		if more := p.counter(t) - count; more > 16 {
			t.Fatalf("%d calls went by, %d", more, i)
		}
	}
	if len(hits) < 2 {
		t.Errorf("hits by threads: %v", hits)
	}
	// Alone, step by step: others stand still.
	th := held.Inferiors()[0]
	for range 100 {
		if err := held.Resume(inferior.Resume{Thread: th, Alone: true, Step: true}); err != nil {
			t.Fatal(err)
		}
		e, err := held.Wait(t.Context())
		// Other threads may have come to the breakpoint before, which is told now.
		if err != nil || e.Kind != inferior.Breakpoint && (e.Kind != inferior.Stepped || e.TID != th.ID()) {
			t.Fatalf("event %+v, %v", e, err)
		}
	}
	if err := held.ClearBreakpoint(step); err != nil {
		t.Fatal(err)
	}
	if p.read(t, step, after); !bytes.Equal(before, after) {
		t.Error("the breakpoint is still in the code")
	}
	held.SetBreakpoint(step)
	held.Close()
	p.unchanged(t)
	undisturbed(t, p.PID)
	p.Stdin.Write([]byte("x"))
	if line, err := p.Stdout.ReadString('\n'); err != nil || !strings.HasPrefix(line, "loop 1 0") {
		t.Errorf("%q, %v", line, err)
	}
}

// A function that forks while a breakpoint is in the code: the child has none, and ends by itself.
func TestFork(t *testing.T) {
	p := start(t, "read")
	p.Rest(t)
	held := p.attach(t, native.Options{})
	c, err := inferior.NewCaller(held, held.Thread(p.PID))
	if err != nil {
		t.Fatal(err)
	}
	if err := held.SetBreakpoint(p.symbols["step"]); err != nil {
		t.Fatal(err)
	}
	result, err := c.Call(t.Context(), p.symbols["forks"], longFunc(), nil)
	if status := held.Arch().Order.Uint64(append(result, make([]byte, 8)...)); err != nil || status != 7<<8 {
		t.Errorf("the child has ended by %#x, %v", status, err)
	}
}

// What ends a call but a return is told, and the process goes on if there still is one.
func TestEnds(t *testing.T) {
	for name, want := range map[string]inferior.EventKind{"exits": inferior.Exited, "ends": inferior.ThreadExited, "kill": inferior.Killed} {
		for _, all := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, all threads: %t", name, all), func(t *testing.T) {
				t.Parallel()
				p := start(t, "read", "2")
				p.Rest(t)
				options := native.Options{Threads: []int{p.PID}}
				if all {
					options.Threads = nil
				}
				held := p.attach(t, options)
				c, err := inferior.NewCaller(held, held.Thread(p.PID))
				if err != nil {
					t.Fatal(err)
				}
				fn := name
				if name == "kill" {
					fn = "sleeps"
					go func() {
						gdbtest.Await(t, "the call begins", func() bool { return p.value(t, "calls") > 0 })
						unix.Kill(p.PID, unix.SIGKILL)
					}()
				}
				args, f := longArgs(1000), longFunc(long)
				if name != "kill" {
					args, f = nil, longFunc()
				}
				_, err = c.Call(t.Context(), p.symbols[fn], f, args)
				call, ok := err.(*inferior.CallError)
				if !ok || call.Event.Kind != want || want == inferior.Exited && call.Event.Status != 3 {
					t.Errorf("%v", err)
				}
				held.Close()
				if _, err := os.Stat(fmt.Sprintf("/proc/%d/maps", p.PID)); want == inferior.ThreadExited && err == nil {
					undisturbed(t, p.PID)
				}
			})
		}
	}
}

// A process that was stopped stays stopped, and may be made to call functions meanwhile.
func TestStoppedProcess(t *testing.T) {
	p := start(t, "read", "3")
	p.Rest(t)
	if err := unix.Kill(p.PID, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stopped := func() bool { return strings.Trim(p.States(t), "T") == "" }
	gdbtest.Await(t, "the process stops", stopped)
	for _, threads := range [][]int{nil, {p.PID}} {
		held := p.attach(t, native.Options{Threads: threads})
		c, err := inferior.NewCaller(held, held.Thread(p.PID))
		if err != nil {
			t.Fatal(err)
		}
		result, err := c.Call(t.Context(), p.symbols["add"], longFunc(long, long), longArgs(40, 2))
		if err != nil || !bytes.Equal(result, word(42)) {
			t.Errorf("add: %x, %v", result, err)
		}
		held.Close()
		gdbtest.Await(t, "the process is stopped again", stopped)
	}
	if err := unix.Kill(p.PID, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.Stdin.Write([]byte("x"))
	if line, err := p.Stdout.ReadString('\n'); err != nil || !strings.HasPrefix(line, "read 1 0 calls 2") {
		t.Errorf("%q, %v", line, err)
	}
}

// Signals that come while a thread is in a call are delivered: each one, once.
func TestSignals(t *testing.T) {
	p := start(t, "read")
	p.Rest(t)
	const calls = 50
	for i := range calls {
		held := p.attach(t, native.Options{Threads: []int{p.PID}})
		c, err := inferior.NewCaller(held, held.Thread(p.PID))
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Kill(p.PID, unix.SIGUSR1); err != nil { // while it is held
			t.Fatal(err)
		}
		if i%2 == 0 {
			if _, err := c.Call(t.Context(), p.symbols["add"], longFunc(long, long), longArgs(1, 2)); err != nil {
				t.Fatal(err)
			}
		}
		held.Close()
		gdbtest.Await(t, "the signal is delivered", func() bool { return p.value(t, "signals") == uint64(i+1) })
	}
	p.Stdin.Write([]byte("x"))
	if line, err := p.Stdout.ReadString('\n'); err != nil || !strings.HasPrefix(line, "read 1 0 calls 25") {
		t.Errorf("%q, %v", line, err)
	}
	if n := p.value(t, "signals"); n != calls {
		t.Errorf("%d signals, want %d", n, calls)
	}
}
