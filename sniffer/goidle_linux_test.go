package sniffer_test

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
)

// A Go program has many idle threads. Reading more of a thread than its stack needs a copy, and a
// check that the thread stands still meanwhile. That costs more than the walk. So only the stack
// may be read if a thread is idle in the scheduler.
func TestIdleGoThreads(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "gotarget"))
	for range 200 { // whether a thread is idle at that moment is chance
		p.Stop(t)
		if idleThreads(t, p.PID) > 0 {
			return
		}
		p.Continue(t)
	}
	t.Error("no thread rests")
}

// idleThreads counts the idle threads of a Go program, and checks that only their stacks are read.
func idleThreads(t *testing.T, pid int) (idle int) {
	t.Helper()
	tg, threads := attach(t, pid)
	defer tg.Close()
	for _, th := range threads {
		reads := &readings{Memory: target.MemoryOf(tg, th)}
		s, err := frame.New(readFrom{tg, reads}, unread{th}, sniffer.Table(tg.Arch()))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		var last *frame.Frame
		for f, err := range s.All() {
			if err != nil {
				break // the thread is not idle: it has just been made, for example
			}
			names, last = append(names, functionOf(f)), f
		}
		if last == nil || last.StopReason() != frame.Outermost || !slices.Contains(names, "runtime.schedule") || names[len(names)-1] != "runtime.mcall" {
			continue
		}
		idle++
		sp := s.Sentinel().Register(tg.Arch().SP).Bits
		for _, at := range reads.at {
			if m := tg.Modules().Find(at); m == nil && (at < sp-uint64(tg.Arch().RedZone) || at > last.ID().Stack) {
				t.Errorf("%v: %#x was read, which is not on the stack, %#x to %#x", names, at, sp, last.ID().Stack)
			}
		}
	}
	return idle
}

// readings is a memory that records the addresses that are read.
type readings struct {
	target.Memory
	at []uint64
}

func (r *readings) ReadMemory(addr uint64, p []byte) (int, error) {
	r.at = append(r.at, addr)
	return r.Memory.ReadMemory(addr, p)
}

// readFrom is a target with another memory.
type readFrom struct {
	target.Target
	memory target.Memory
}

func (r readFrom) Memory() target.Memory { return r.memory }

// unread is a thread that has no memory of its own.
type unread struct{ target.Thread }
