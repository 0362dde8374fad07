package native_test

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
)

// next resumes a process, and returns what happens.
func next(t *testing.T, p *native.Process, r inferior.Resume) inferior.Event {
	t.Helper()
	if err := p.Resume(r); err != nil {
		t.Fatal(err)
	}
	e, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func pcOf(t *testing.T, p *native.Process, th inferior.Thread) uint64 {
	t.Helper()
	b, err := inferior.RegisterBytes(th, p.Arch().PC, 8)
	if err != nil {
		t.Fatal(err)
	}
	return p.Arch().Order.Uint64(b)
}

// Threads run through a breakpoint all at once. It is cleared while they are about to be stopped by
// it.
func TestBreakpointCleared(t *testing.T) {
	p := start(t, "loop", "8")
	held := p.attach(t, native.Options{})
	at := p.symbols["step"]
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range 200 {
		if err := held.SetBreakpoint(at); err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for range i % 4 {
			e := next(t, held, inferior.Resume{})
			if e.Kind != inferior.Breakpoint || pcOf(t, held, e.Thread) != at {
				t.Fatalf("round %d: event %+v at %#x", i, e, pcOf(t, held, e.Thread))
			}
			seen[e.TID] = true
		}
		if err := held.ClearBreakpoint(at); err != nil {
			t.Fatal(err)
		}
		if err := held.Resume(inferior.Resume{}); err != nil {
			t.Fatal(err)
		}
		if e, err := held.Wait(interrupted); err != nil || e.Kind != inferior.Interrupted {
			t.Fatalf("round %d: event %+v, %v after the breakpoint is cleared", i, e, err)
		}
	}
	sameCode(t, p)
	held.Close()
	free(t, p, 0)
}

// Each thread that comes to a breakpoint is reported once for each time.
func TestBreakpointHits(t *testing.T) {
	p := start(t, "tally", "8")
	held := p.attach(t, native.Options{})
	at := p.symbols["step"]
	for range 2 { // it counts as one
		if err := held.SetBreakpoint(at); err != nil {
			t.Fatal(err)
		}
	}
	var code [16]byte
	if _, err := held.Memory().ReadMemory(at, code[:]); err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(fmt.Sprintf("/proc/%d/exe", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	var want, there [16]byte
	if _, err := text.ReadAt(want[:], int64(at-text.Addr)); err != nil {
		t.Fatal(err)
	}
	p.read(t, at, there[:])
	if code != want || there == want {
		t.Errorf("the code reads % x, the file has % x, the memory % x", code, want, there)
	}
	// Many pages at once, the breakpoint's among them.
	var lo, hi uint64
	for _, load := range f.Progs {
		if load.Type == elf.PT_LOAD && load.Flags&elf.PF_W == 0 {
			if hi = load.Vaddr + load.Filesz; lo == 0 {
				lo = load.Vaddr - load.Off
			}
		}
	}
	file, err := os.ReadFile(fmt.Sprintf("/proc/%d/exe", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	pages := make([]byte, hi-lo)
	if _, err := held.Memory().ReadMemory(lo, pages); err != nil || len(pages) < 2<<12 || !bytes.Equal(pages, file[:len(pages)]) {
		t.Errorf("%d bytes from %#x on differ from the file: %v", len(pages), lo, err)
	}
	// The program counts the calls of step that each thread has begun, before step.
	hits := map[int]int64{}
	base := p.tally(t)
	for range 800 {
		e := next(t, held, inferior.Resume{})
		if e.Kind != inferior.Breakpoint || pcOf(t, held, e.Thread) != at {
			t.Fatalf("event %+v", e)
		}
		hits[e.TID]++
	}
	var sum int64
	now := p.tally(t)
	for i := range now {
		sum += now[i] - base[i]
	}
	// A thread may have begun a call that has not come to the breakpoint, when the first and the
	// last one came.
	if sum < 800-8 || sum > 800+8 || len(hits) != 8 {
		t.Errorf("800 hits of %d threads, and the program counts %d calls", len(hits), sum)
	}
	if err := held.ClearBreakpoint(at); err != nil {
		t.Fatal(err)
	}
	p.read(t, at, there[:])
	if there == want {
		t.Error("a breakpoint that was set twice is gone after it was cleared once")
	}
	th := held.Inferiors()[0] // at the breakpoint: the first step goes over it
	for i := range 1000 {
		e := next(t, held, inferior.Resume{Thread: th, Step: true, Alone: true})
		if e.Kind != inferior.Stepped && (e.Kind != inferior.Breakpoint || pcOf(t, held, th) != at) {
			t.Fatalf("step %d: event %+v", i, e)
		}
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	p.read(t, at, there[:])
	if !bytes.Equal(there[:], want[:]) {
		t.Errorf("after Close the memory has % x, the file % x", there, want)
	}
	free(t, p, 0)
}

// tally returns the counters that the threads have.
func (p *program) tally(t testing.TB) (v [8]int64) {
	t.Helper()
	for i := range v {
		var b [8]byte
		p.read(t, p.symbols["counters"]+8*uint64(i), b[:])
		v[i] = int64(binary.NativeEndian.Uint64(b[:]))
	}
	return v
}

// Processes that the program makes have no breakpoints, and it has them still afterwards.
func TestBreakpointsFork(t *testing.T) {
	p := start(t, "forks", "4")
	held := p.attach(t, native.Options{})
	if err := held.SetBreakpoint(p.symbols["step"]); err != nil {
		t.Fatal(err)
	}
	p.Stdin.Write([]byte("x"))
	hits := 0
	for range 200 {
		if e := next(t, held, inferior.Resume{}); e.Kind == inferior.Breakpoint {
			hits++
		} else if e.Kind != inferior.Signalled || e.Signal.Number != 17 { // SIGCHLD
			t.Fatalf("event %+v", e)
		}
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	// fork's child ends with status 7 after step, system's with 5.
	line, err := p.Stdout.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != "forked 7 5" || hits < 100 {
		t.Errorf("%q, %v, %d hits", line, err, hits)
	}
	free(t, p, 0)
}
