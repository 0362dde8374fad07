package native_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Signals come to two threads at once. What the owner says of the first one holds, though the
// second one's event comes before any thread runs.
func TestSignalsAtOnce(t *testing.T) {
	p := start(t, "blocks", "2")
	held := p.attach(t, native.Options{})
	var threads []inferior.Thread
	for _, th := range held.Inferiors() {
		if th.ID() != p.PID {
			threads = append(threads, th)
		}
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	want := int64(0)
	for i := range 20 {
		for _, th := range threads {
			if err := unix.Tgkill(p.PID, th.ID(), unix.SIGUSR1); err != nil {
				t.Fatal(err)
			}
		}
		first := next(t, held, inferior.Resume{})
		drop := i%2 == 0
		r := inferior.Resume{Thread: first.Thread}
		if !drop {
			r.Signal = first.Signal.Number
		}
		second := next(t, held, r)
		for _, e := range []inferior.Event{first, second} {
			if e.Kind != inferior.Signalled || e.Signal.Number != int(unix.SIGUSR1) {
				t.Fatalf("round %d: event %+v", i, e)
			}
		}
		if first.TID == second.TID {
			t.Fatalf("round %d: thread %d has two signals", i, first.TID)
		}
		// The second signal is delivered. Every other time the first thread is named once more, for
		// no signal.
		want++
		r = inferior.Resume{Thread: second.Thread, Signal: second.Signal.Number}
		if !drop {
			want++
			r = inferior.Resume{Thread: first.Thread}
		}
		if err := held.Resume(r); err != nil {
			t.Fatal(err)
		}
		gdbtest.Await(t, "the signals are delivered", func() bool { return p.value(t, "signals") >= want })
		if e, err := held.Wait(interrupted); err != nil || e.Kind != inferior.Interrupted {
			t.Fatalf("round %d: event %+v, %v", i, e, err)
		}
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if got := p.value(t, "signals"); got != want {
		t.Errorf("%d signals were delivered, want %d", got, want)
	}
	undisturbed(t, p.PID)
}

// An instruction at a breakpoint faults, and its signal's handler lets it succeed. We stop as often
// as gdb does.
func TestFaultAtBreakpoint(t *testing.T) {
	gdbtest.NeedAMD64(t)
	path := gdbtest.Build(t, "pokes.c", "-O1", "-g", "-pthread", "-no-pie", "-fno-pie")
	const stops = 30
	script := gdbtest.StartScript(t, "gdb", `
stopped = []
gdb.events.stop.connect(lambda e: stopped.append(isinstance(e, gdb.SignalEvent)))
gdb.Breakpoint("*poked")
gdb.execute("run 1", to_string=True)
for i in range(PARAMS["stops"]):
    emit({"Signal": stopped.pop(), "Rounds": int(gdb.parse_and_eval("(long)rounds[0]"))})
    gdb.execute("continue", to_string=True)
emit({"end": True})
OUT.close()
gdb.execute("kill")
`, map[string]any{"names": map[string]string{}, "stops": stops}, path)
	type stop struct {
		Signal bool
		Rounds int64
	}
	var want []stop
	for range stops {
		var s stop
		if err := json.Unmarshal(script.Next(t), &s); err != nil {
			t.Fatal(err)
		}
		want = append(want, s)
	}
	x := &runs{program: &program{symbols: symbolsOf(t, path)}}
	for _, threads := range []string{"1", "4"} {
		x.Process = gdbtest.StartRunning(t, path, threads)
		x.held = x.attach(t, native.Options{})
		if err := x.held.SetBreakpoint(x.symbols["poked"]); err != nil {
			t.Fatal(err)
		}
		var got []stop
		r, named := inferior.Resume{}, x.held.Inferiors()[1%len(x.held.Inferiors())]
		for len(got) < stops {
			e := next(t, x.held, r)
			if r = (inferior.Resume{Thread: named}); e.TID == named.ID() {
				r.Signal = e.Signal.Number
			}
			if e.TID != x.PID {
				continue
			}
			// The first stop is the one that gdb has first: before the fault.
			s := stop{e.Kind == inferior.Signalled, x.value(t, "rounds", 0)}
			if len(got) == 1 && !s.Signal {
				got = nil
			}
			if got = append(got, s); got[0].Signal {
				got = nil
			}
		}
		for i := len(got) - 1; i >= 0; i-- {
			got[i].Rounds -= got[0].Rounds
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s threads: %v, gdb has %v", threads, got, want)
		}
		if err := x.held.Close(); err != nil {
			t.Error(err)
		}
		free(t, x.program, 0)
	}
}
