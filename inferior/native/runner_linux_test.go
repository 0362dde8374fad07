package native_test

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
)

// runs is a thread of a program whose threads all run through the same functions.
type runs struct {
	*program
	held   *native.Process
	thread inferior.Thread
	*inferior.Runner
}

func startThrows(t *testing.T, flags ...string) *runs {
	t.Helper()
	gdbtest.NeedAMD64(t)
	path := gdbtest.Build(t, "throws.cc", append([]string{"-g", "-pthread", "-no-pie", "-fno-pie"}, flags...)...)
	x := &runs{program: &program{symbols: symbolsOf(t, path)}}
	x.Process = gdbtest.StartRunning(t, path, "4")
	x.held = x.attach(t, native.Options{})
	e := x.to(t, "round_", 0)
	x.thread = e.Thread
	x.Runner = inferior.NewRunner(x.held, e.Thread, sniffer.Table(x.held.Arch()))
	return x
}

// to runs until a thread comes to a function; if tid is not 0, that thread.
func (x *runs) to(t *testing.T, function string, tid int) (e inferior.Event) {
	t.Helper()
	at := x.symbols[function]
	if err := x.held.SetBreakpoint(at); err != nil {
		t.Fatal(err)
	}
	for r := (inferior.Resume{}); e.Kind != inferior.Breakpoint || tid != 0 && e.TID != tid; {
		e = next(t, x.held, r)
		if r = (inferior.Resume{}); e.Kind == inferior.Signalled {
			r = inferior.Resume{Thread: e.Thread, Signal: e.Signal.Number}
		}
	}
	if err := x.held.ClearBreakpoint(at); err != nil {
		t.Fatal(err)
	}
	return e
}

func (x *runs) frame(t *testing.T, level int) *frame.Frame {
	t.Helper()
	f, err := x.Frame(level)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (x *runs) in(t *testing.T, function string) {
	t.Helper()
	f := x.frame(t, 0)
	if at, _ := f.Function(); at != x.symbols[function] {
		t.Errorf("frame 0 is at %#x in the function at %#x, want %s", f.PC(), at, function)
	}
}

// Frames that exceptions and siglongjmp end, while other threads run through the same functions.
func TestLeft(t *testing.T) {
	for _, flags := range [][]string{{"-O0"}, {"-O2"}, {"-O2", "-static"}} {
		x := startThrows(t, flags...)
		for _, alone := range []bool{false, true} {
			if alone && slices.Contains(flags, "-static") {
				continue // a thread that is stopped may hold the lock that each exception takes in a static program
			}
			x.Alone = alone
			x.to(t, "thrower", x.thread.ID())
			// Until the frame has gone, and only until then.
			catcher := slices.IndexFunc(functions(t, x), func(at uint64) bool { return at == x.symbols["catcher"] })
			outer := x.frame(t, catcher)
			if run, err := x.UntilReturn(t.Context(), x.frame(t, catcher-1).ID()); err != nil || run.End != inferior.Left {
				t.Fatalf("%v: leaver: %+v, %v", flags, run, err)
			}
			if now := x.frame(t, 0); !now.ID().Equal(outer.ID()) {
				t.Errorf("%v: frame 0 is %v, want %v", flags, now.ID(), outer.ID())
			}
			number := x.returns(t, x.frame(t, 0).ID()) / 10
			x.in(t, "round_")

			x.to(t, "thrower", x.thread.ID())
			if got := x.returns(t, x.frame(t, catcher).ID()); got != 10*number {
				t.Errorf("%v: catcher has returned %d, want %d", flags, got, 10*number)
			}
			x.to(t, "on_alt", x.thread.ID())
			if run, err := x.UntilReturn(t.Context(), x.frame(t, 0).ID()); err != nil || run.End != inferior.Left {
				t.Fatalf("%v: on_alt: %+v, %v", flags, run, err)
			}
			x.in(t, "alt")
			if got := x.returns(t, x.frame(t, 0).ID()); got != number+1 {
				t.Errorf("%v: alt has returned %d, want %d", flags, got, number+1)
			}
			// Exceptions and signals are within what nexti steps over.
			x.to(t, "round_", x.thread.ID())
			steps, before := 0, x.value(t, "rounds", number)
			run := inferior.Run{}
			for ; run.End == inferior.Arrived; steps++ {
				var err error
				if run, err = x.StepOver(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if after := x.value(t, "rounds", number); run.End != inferior.Returned || after != before+1 || steps > 60 {
				t.Errorf("%v: %+v after %d steps, which made %d rounds", flags, run, steps, after-before)
			}
		}
		if err := x.held.Close(); err != nil {
			t.Error(err)
		}
		free(t, x.program, 0)
	}
}

// returns runs until a frame has returned, and returns the long that it gives.
func (x *runs) returns(t *testing.T, id frame.ID) int64 {
	t.Helper()
	run, err := x.UntilReturn(t.Context(), id)
	if err != nil || run.End != inferior.Returned {
		t.Fatalf("%+v, %v", run, err)
	}
	b, err := x.Result(&abi.Func{Result: long})
	if err != nil {
		t.Fatal(err)
	}
	return int64(x.held.Arch().Order.Uint64(b))
}

func (x *runs) value(t *testing.T, array string, i int64) int64 {
	t.Helper()
	var b [8]byte
	x.read(t, x.symbols[array]+8*uint64(i), b[:])
	return int64(x.held.Arch().Order.Uint64(b[:]))
}

// functions returns where the functions of a stack begin.
func functions(t *testing.T, x *runs) (list []uint64) {
	t.Helper()
	s, err := x.Stack()
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range s.All() {
		if err != nil {
			t.Fatal(err)
		}
		at, _ := f.Function()
		list = append(list, at)
	}
	return list
}

// A run ends at what the debugger wants to see, and can be gone on with.
func TestHappened(t *testing.T) {
	x := startThrows(t, "-O1")
	id := x.frame(t, 0).ID()
	if err := x.held.SetBreakpoint(x.symbols["alt"]); err != nil {
		t.Fatal(err)
	}
	run, err := x.UntilReturn(t.Context(), id)
	if err != nil || run.End != inferior.Happened || run.Event.Kind != inferior.Breakpoint {
		t.Fatalf("%+v, %v", run, err)
	}
	x.Stop = func(e inferior.Event) bool {
		return e.TID == x.thread.ID() && (e.Kind == inferior.Signalled || pcOf(t, x.held, e.Thread) == x.symbols["alt"])
	}
	for run.Event.Kind != inferior.Signalled {
		if run, err = x.UntilReturn(t.Context(), id); err != nil || run.End != inferior.Happened {
			t.Fatalf("%+v, %v", run, err)
		}
	}
	if run.Event.TID != x.thread.ID() || run.Event.Signal.Number != int(unix.SIGUSR2) || x.Signal != int(unix.SIGUSR2) {
		t.Errorf("event %+v, the signal %d waits", run.Event, x.Signal)
	}
	at := x.symbols["on_alt"]
	if err := x.held.SetBreakpoint(at); err != nil {
		t.Fatal(err)
	}
	x.Stop = func(e inferior.Event) bool { return e.TID == x.thread.ID() && pcOf(t, x.held, e.Thread) == at }
	if run, err = x.UntilReturn(t.Context(), id); err != nil || run.End != inferior.Happened || run.Event.Kind != inferior.Breakpoint {
		t.Fatalf("the signal was not delivered: %+v, %v", run, err)
	}
	if err := x.held.ClearBreakpoint(at); err != nil {
		t.Fatal(err)
	}
	if err := x.held.ClearBreakpoint(x.symbols["alt"]); err != nil {
		t.Fatal(err)
	}
	x.Stop = nil
	if run, err = x.UntilReturn(t.Context(), id); err != nil || run.End != inferior.Returned {
		t.Errorf("%+v, %v", run, err)
	}
}

// Each signal leads to its handler, and to the breakpoint there, also if other threads stop the
// process just then.
func TestHandlerBreakpoint(t *testing.T) {
	x := startThrows(t, "-O1")
	if err := x.held.SetBreakpoint(x.symbols["on_alt"]); err != nil {
		t.Fatal(err)
	}
	last, r := map[int]inferior.EventKind{}, inferior.Resume{Thread: x.thread}
	for i := range 1500 {
		e := next(t, x.held, r)
		if r.Signal = 0; e.TID == x.thread.ID() {
			r.Signal = e.Signal.Number
		}
		if last[e.TID] == e.Kind {
			t.Fatalf("event %d: %+v, once more", i, e)
		}
		last[e.TID] = e.Kind
	}
}
