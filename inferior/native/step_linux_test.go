package native_test

import (
	"testing"

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
