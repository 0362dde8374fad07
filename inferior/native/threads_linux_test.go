package native_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Queued signals come to a program of many threads, which also come and go, while its threads are
// held, step and call functions. None is lost, and none comes twice.
func TestSignalsQueued(t *testing.T) {
	p := start(t, "signals", "50")
	held := p.attach(t, native.Options{})
	if n := len(held.Inferiors()); n < 53 {
		t.Fatalf("%d threads are held", n)
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	random := rand.New(rand.NewPCG(1, 2))
	p.Stdin.Write([]byte("x"))
	r := inferior.Resume{}
	for came := 0; came < 700; {
		ctx := t.Context()
		if random.IntN(8) == 0 {
			ctx = interrupted
		}
		if err := held.Resume(r); err != nil {
			t.Fatal(err)
		}
		e, err := held.Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
		r = inferior.Resume{}
		switch e.Kind {
		case inferior.Signalled:
			if e.Signal.Number != 34 || e.Signal.Code != -1 || !e.Signal.Own {
				t.Fatalf("event %+v", e)
			}
			came++
			if random.IntN(2) == 0 {
				r = inferior.Resume{Thread: e.Thread, Signal: e.Signal.Number, Step: random.IntN(4) == 0}
			} else if random.IntN(4) == 0 { // what is saved comes later
				if err := e.Thread.Save(); err != nil {
					t.Fatal(err)
				}
				if err := e.Thread.Restore(); err != nil {
					t.Fatal(err)
				}
			}
		case inferior.Stepped, inferior.Interrupted, inferior.ThreadExited:
		default:
			t.Fatalf("event %+v", e)
		}
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	gdbtest.Await(t, "all signals come", func() bool { return p.value(t, "signals") == 1000 })
	line, err := p.Stdout.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "signals 0 ") {
		t.Errorf("%q, %v", line, err)
	}
	free(t, p, 0)
}

// A process that was stopped stays so when it is let go, whether it was stopped before it is held
// or while.
func TestStopped(t *testing.T) {
	t.Run("before", func(t *testing.T) {
		p := start(t, "loop", "4")
		p.Stop(t)
		held := p.attach(t, native.Options{})
		th := held.Thread(p.PID)
		e, returned := call(t, held, th, p.symbols["add"], false, 40, 2)
		if got := result(t, held, e, returned); got != 42 {
			t.Errorf("add is %d", got)
		}
		if err := th.Restore(); err != nil {
			t.Fatal(err)
		}
		held.Close()
		stays(t, p)
	})
	t.Run("meanwhile", func(t *testing.T) {
		p := start(t, "loop", "4")
		held := p.attach(t, native.Options{})
		syscall.Kill(p.PID, syscall.SIGSTOP)
		e := next(t, held, inferior.Resume{})
		if e.Kind != inferior.Signalled || e.Signal.Number != int(syscall.SIGSTOP) {
			t.Fatalf("event %+v", e)
		}
		if err := held.Resume(inferior.Resume{}); err != nil {
			t.Fatal(err)
		}
		gdbtest.Await(t, "all threads stop", func() bool { return strings.Trim(p.States(t), "tT") == "" })
		held.Close()
		stays(t, p)
	})
	t.Run("continued", func(t *testing.T) {
		p := start(t, "loop", "4")
		p.Stop(t)
		held := p.attach(t, native.Options{})
		syscall.Kill(p.PID, syscall.SIGCONT)
		e := next(t, held, inferior.Resume{})
		if e.Kind != inferior.Signalled || e.Signal.Number != int(syscall.SIGCONT) {
			t.Fatalf("event %+v", e)
		}
		held.Close()
		free(t, p, 0)
	})
}

// stays checks that a process is stopped as by SIGSTOP, and goes on by SIGCONT.
func stays(t *testing.T, p *program) {
	t.Helper()
	gdbtest.Await(t, "the process is stopped", func() bool { return strings.Trim(p.States(t), "T") == "" })
	if tracer := status(t, p.PID, p.PID, "TracerPid"); tracer != "0" {
		t.Errorf("TracerPid is %s", tracer)
	}
	p.Continue(t)
	free(t, p, 0)
}

func TestKilled(t *testing.T) {
	p := start(t, "loop", "50")
	held := p.attach(t, native.Options{})
	syscall.Kill(p.PID, syscall.SIGKILL)
	e := next(t, held, inferior.Resume{Thread: held.Inferiors()[0]})
	if e.Kind != inferior.Killed || e.Signal.Number != int(syscall.SIGKILL) || e.TID != p.PID || e.Thread != nil {
		t.Errorf("event %+v", e)
	}
	if len(held.Inferiors()) != 0 {
		t.Errorf("%d threads are held", len(held.Inferiors()))
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
}

// The program runs another one.
func TestExec(t *testing.T) {
	p := start(t, "exec", "5")
	held := p.attach(t, native.Options{})
	at := p.symbols["step"]
	if err := held.SetBreakpoint(at); err != nil {
		t.Fatal(err)
	}
	p.Stdin.Write([]byte("x"))
	e := next(t, held, inferior.Resume{})
	if e.Kind != inferior.Execed || e.TID != p.PID || e.Thread == nil || len(held.Inferiors()) != 1 {
		t.Fatalf("event %+v, %d threads", e, len(held.Inferiors()))
	}
	var code, there [8]byte
	if _, err := held.Memory().ReadMemory(at, code[:]); err != nil {
		t.Fatal(err)
	}
	if p.read(t, at, there[:]); code != there {
		t.Errorf("the new program has % x, not % x", there, code)
	}
	sp, err := inferior.RegisterBytes(e.Thread, held.Arch().SP, 8)
	if err != nil {
		t.Fatal(err)
	}
	var argc [8]byte // is new: the stack of the old program was elsewhere
	if _, err := held.Memory().ReadMemory(held.Arch().Order.Uint64(sp), argc[:]); err != nil || argc[0] != 2 {
		t.Errorf("% x, %v at the new stack pointer", argc, err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if line, err := p.Stdout.ReadString('\n'); line != "ready\n" {
		t.Errorf("the new program says %q, %v", line, err)
	}
	sameCode(t, p)
	undisturbed(t, p.PID)
}

// Threads end, and so does the process.
func TestEnds(t *testing.T) {
	t.Run("process", func(t *testing.T) {
		p := start(t, "exits", "5")
		held := p.attach(t, native.Options{})
		p.Stdin.Write([]byte("x"))
		e := next(t, held, inferior.Resume{Thread: held.Thread(p.PID)})
		if e.Kind != inferior.Exited || e.Status != 3 || e.Thread != nil {
			t.Errorf("event %+v", e)
		}
		if err := held.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("main", func(t *testing.T) {
		p := start(t, "ends", "5")
		held := p.attach(t, native.Options{})
		p.Stdin.Write([]byte("x"))
		e := next(t, held, inferior.Resume{Thread: held.Thread(p.PID)})
		if e.Kind != inferior.ThreadExited || e.TID != p.PID || e.Thread != nil || len(held.Inferiors()) != 5 {
			t.Fatalf("event %+v, %d threads", e, len(held.Inferiors()))
		}
		// The last one of the others ends the process.
		th := held.Inferiors()[0]
		if _, err := begin(held, th, p.symbols["exits"]); err != nil {
			t.Fatal(err)
		}
		if e := next(t, held, inferior.Resume{Thread: th}); e.Kind != inferior.Exited || e.Status != 3 {
			t.Errorf("event %+v", e)
		}
	})
	t.Run("other", func(t *testing.T) {
		p := start(t, "tally", "8")
		gdbtest.Await(t, "all threads have begun", func() bool { v := p.tally(t); return slices.Min(v[:]) > 0 })
		held := p.attach(t, native.Options{})
		th := held.Inferiors()[3]
		if _, err := begin(held, th, p.symbols["ends"]); err != nil {
			t.Fatal(err)
		}
		e := next(t, held, inferior.Resume{Thread: th})
		if e.Kind != inferior.ThreadExited || e.TID != th.ID() || len(held.Inferiors()) != 8 {
			t.Errorf("event %+v, %d threads", e, len(held.Inferiors()))
		}
		held.Close()
		free(t, p, 0)
	})
}
