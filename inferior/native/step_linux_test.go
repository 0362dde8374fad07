package native_test

import (
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
)

// The flag that the processor steps by is not left in what the program pushes, nor in its flags.
func TestStepFlags(t *testing.T) {
	p := start(t, "flags")
	held := p.attach(t, native.Options{})
	th := held.Inferiors()[0]
	steps := func() {
		for i := range 300 {
			if e := next(t, held, inferior.Resume{Thread: th, Step: true}); e.Kind != inferior.Stepped {
				t.Fatalf("step %d: event %+v", i, e)
			}
		}
	}
	steps()
	at := p.symbols["pushed"]
	if err := held.SetBreakpoint(at); err != nil {
		t.Fatal(err)
	}
	for range 100 { // the guard steps over it
		if e := next(t, held, inferior.Resume{}); e.Kind != inferior.Breakpoint || pcOf(t, held, th) != at {
			t.Fatalf("event %+v at %#x", e, pcOf(t, held, th))
		}
	}
	if err := held.ClearBreakpoint(at); err != nil {
		t.Fatal(err)
	}
	// The program is let go behind each of its instructions.
	for range 20 {
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
		free(t, p, 0)
		held = p.attach(t, native.Options{})
		th = held.Inferiors()[0]
		steps()
		if e := next(t, held, inferior.Resume{Thread: th, Step: true}); e.Kind != inferior.Stepped {
			t.Fatalf("event %+v", e)
		}
	}
	if n := p.value(t, "counters"); n != 0 {
		t.Errorf("the program has seen the flag %d times", n)
	}
	held.Close()
	free(t, p, 0)
}

// A thread that does not stop in time makes its step when it stops, wherever the guard waits for
// it: on a busy machine that may be any time.
func TestStepsLate(t *testing.T) {
	p := start(t, "flags")
	held := p.attach(t, native.Options{Timeout: time.Nanosecond})
	at := p.symbols["pushed"]
	if err := held.SetBreakpoint(at); err != nil {
		t.Fatal(err)
	}
	if e := next(t, held, inferior.Resume{}); e.Kind != inferior.Breakpoint {
		t.Fatalf("event %+v", e)
	}
	if err := held.ClearBreakpoint(at); err != nil {
		t.Fatal(err)
	}
	th := held.Inferiors()[0]
	for i := range 300 {
		if e := next(t, held, inferior.Resume{Thread: th, Step: true}); e.Kind != inferior.Stepped {
			t.Fatalf("step %d: event %+v", i, e)
		}
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	free(t, p, 0)
	if n := p.value(t, "counters"); n != 0 {
		t.Errorf("the program has seen the flag %d times", n)
	}
}
