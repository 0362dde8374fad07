//go:build linux

package process

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

func waiting(t *testing.T, ticks *Ticks, args ...string) *Process {
	t.Helper()
	gdbtest.Tool(t, "gcc")
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	wait, err := d.C("wait", build.Walked, "wait.c", "deep.c", "ticker.c")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(ticks, wait, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop() })
	return p
}

// TestTicks: if a process is stopped, the gaps of both threads show it.
func TestTicks(t *testing.T) {
	ticks, err := NewTicks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer ticks.Close()
	p := waiting(t, ticks, "2", "10")
	if err := ticks.Reset(); err != nil {
		t.Fatal(err)
	}
	// On a busy machine, this takes a while.
	longer := func(least time.Duration) {
		t.Helper()
		gdbtest.Await(t, fmt.Sprintf("the longest gaps are more than %v", least), func() bool {
			gaps, err := ticks.Gaps()
			if err != nil {
				t.Fatal(err)
			}
			return gaps.Deep > least && gaps.Idle > least
		})
	}
	longer(0)
	const pause = 300 * time.Millisecond
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := syscall.Kill(p.PID, sig); err != nil {
			t.Fatal(err)
		}
		time.Sleep(pause)
	}
	longer(pause / 2)
}

// TestStart: by gdb, the program has the stacks that it was asked for.
func TestStart(t *testing.T) {
	gdbtest.NeedAMD64(t)
	p := waiting(t, nil, "3", "20")
	threads := gdbtest.Backtrace(t, p.PID)
	if len(threads) != 3 {
		t.Errorf("%d threads", len(threads))
	}
	recursive := "plain one many large varying array pair loop"
	for i, th := range threads {
		n := 0
		for _, f := range th.Frames {
			if f.Function != "" && strings.Contains(" "+recursive+" ", " "+f.Function+" ") {
				n++
			}
		}
		if n != 20 {
			t.Errorf("thread %d is %d functions deep", i, n)
		}
	}
}

// TestStartFails: a program that ends before it is ready is an error.
func TestStartFails(t *testing.T) {
	if p, err := Start(nil, "true"); err == nil {
		t.Errorf("started as process %d", p.PID)
	}
	if _, err := Start(nil, "/no/such/program"); err == nil {
		t.Error("no error without a program")
	}
}
