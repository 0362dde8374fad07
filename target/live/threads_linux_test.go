package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

// Once the process has ended, the copies still serve. The errors of other reads say why they fail.
func TestExited(t *testing.T) {
	p := start(t, "idle.c")
	addr := address(t, p)
	tg := attach(t, p.PID)
	sp, _ := registersOf(t, threadsOf(t, tg)[0]).Get(hostArch.SP)
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
	var word [8]byte
	if _, err := tg.Memory().ReadMemory(sp, word[:]); err != nil {
		t.Errorf("read the copied stack: %v", err)
	}
	_, err := tg.Memory().ReadMemory(addr, word[:])
	wantError(t, err, ErrExited, fmt.Sprintf("read memory of process %d at %#x: process has ended", p.PID, addr))
	if !errors.Is(err, target.ErrUnmapped) {
		t.Errorf("%v is not ErrUnmapped", err)
	}
	for _, m := range tg.Modules().All() { // also files and the vDSO
		if _, _, err := m.Image(); err != nil {
			t.Errorf("module after the process's end: %v", err)
		}
	}
	tg.Close()
	if _, err := tg.Memory().ReadMemory(addr, word[:]); !errors.Is(err, target.ErrUnmapped) {
		t.Errorf("read of a closed target: %v", err)
	}
}

// A thread in vfork is in uninterruptible sleep. The others are read, and for it the kernel tells
// PC and SP.
func TestUninterruptible(t *testing.T) {
	p := start(t, "vforks.c")
	gdbtest.Await(t, "the main thread waits for vfork", func() bool {
		return strings.HasPrefix(field(t, p.PID, p.PID, "State"), "D")
	})
	tg := attach(t, p.PID)
	threads := threadsOf(t, tg)
	if len(threads) != 2 || threads[1].Err != nil {
		t.Fatalf("threads: %+v", threads)
	}
	wantError(t, threads[0].Err, ErrNotStopped, fmt.Sprintf("thread %d cannot be stopped: it is in uninterruptible sleep (state D)", p.PID))
	r := registersOf(t, threads[0])
	pc, _ := r.Get(hostArch.PC)
	if m := tg.Modules().Find(pc); r.Known.Len() != 2 || m == nil {
		t.Errorf("PC of the main thread is %#x (%d registers)", pc, r.Known.Len())
	} else if lo, _, ok := m.Function(pc); !ok {
		t.Errorf("PC of the main thread, %#x, is in no function of %s", pc, m.Path)
	} else if im, bias, err := m.Image(); err != nil {
		t.Error(err)
	} else if s, _ := im.Symbols().Find(lo - bias); !strings.Contains(im.Symbols().Name(s), "vfork") {
		t.Errorf("the main thread is in %s, want vfork", im.Symbols().Name(s))
	}
	letGo(t, p.PID)
	if held := threads[1].Held; held > DefaultTimeout/2 {
		t.Errorf("the other thread was held for %v", held)
	}
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
}

// The main thread has ended; the process lives on in another.
func TestMainThreadEnded(t *testing.T) {
	p := start(t, "leader.c")
	tg := attach(t, p.PID)
	threads := threadsOf(t, tg)
	if len(threads) != 1 || threads[0].ID() == p.PID || threads[0].Err != nil {
		t.Fatalf("threads: %+v", threads)
	}
	r := registersOf(t, threads[0])
	if pc, _ := r.Get(hostArch.PC); !tg.Modules().IsCode(pc) {
		t.Errorf("PC %#x is not in code", pc)
	}
	var b [8]byte
	for _, m := range tg.Modules().All() {
		if _, _, err := m.Image(); err != nil {
			t.Error(err)
		}
		if _, err := tg.Memory().ReadMemory(m.Lo(), b[:]); err != nil {
			t.Error(err)
		}
	}
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
}

// Threads that nobody asked for are not stopped.
func TestOnlySomeThreads(t *testing.T) {
	eachWay(t, func(t *testing.T, opts Options) {
		p := start(t, "idle.c", "5")
		all := threadsOf(t, attach(t, p.PID))
		opts.Threads = []int{all[2].ID(), all[4].ID()}
		t.Cleanup(func() { hookStopped = func() {} })
		hookStopped = func() {
			for _, th := range all {
				// The kernel shows the state t for a thread that a tracer has stopped.
				if field(t, p.PID, th.ID(), "State")[0] == 't' && !slices.Contains(opts.Threads, th.ID()) {
					t.Errorf("thread %d is stopped", th.ID())
				}
			}
		}
		tg := attachBy(t, p.PID, opts)
		var got []int
		for _, th := range threadsOf(t, tg) {
			got = append(got, th.ID())
			if r := registersOf(t, th); th.Err != nil || !r.Known.Has(hostArch.PC) {
				t.Errorf("thread %d: %v", th.ID(), th.Err)
			}
		}
		if !slices.Equal(got, opts.Threads) {
			t.Errorf("threads %d, want %d", got, opts.Threads)
		}
		letGo(t, p.PID)
		opts.Threads = []int{all[1].ID(), 1}
		_, err := Attach(context.Background(), p.PID, opts)
		wantError(t, err, ErrNoThread, fmt.Sprintf("attach %d: thread 1: the process has no such thread", p.PID))
		letGo(t, p.PID)
	})
}
