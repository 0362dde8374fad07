package native_test

import (
	"context"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// Signals come to two threads at once. What the owner says of the first one holds, though the second one's event
// comes before any thread runs.
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
		// The second signal is delivered. Every other time the first thread is named once more, for no signal.
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
