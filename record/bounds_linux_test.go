package record

import (
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
)

func bareEngine() *engine {
	return newEngine(newMachine(), &perfevent.Format{SampleType: perfevent.SampleTID}, Options{Arch: arch.ByName(runtime.GOARCH),
		Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }})
}

// shown returns the stacks of a tree as folded lines.
func shown(t *testing.T, tree *tree, threads ...Thread) string {
	t.Helper()
	names := symbol.New(symbol.Options{})
	defer names.Close()
	p := &Profile{Frequency: 1, Threads: append(threads, Thread{PID: 1, TID: 1}), stacks: tree.now()}
	var out strings.Builder
	if err := p.Picture(names).WriteFolded(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A frame for whose address there is no room says so, and the others of its stack stay.
func TestFullPlaces(t *testing.T) {
	tree := newTree()
	tree.bounds.places = 2
	a, b := tree.place(place{addr: 1}), tree.place(place{addr: 2})
	tree.add(sampleKey{}, []uint32{b, a}, 1)
	tree.add(sampleKey{}, []uint32{tree.place(place{addr: 3}), a}, 1)
	tree.add(sampleKey{}, []uint32{tree.place(place{addr: 4}), a}, 1)
	if got, want := shown(t, tree), "0x1;0x2 1\n0x1;[a frame at one more address: there are too many] 2\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if len(tree.places) > 3 {
		t.Errorf("%d places", len(tree.places))
	}
}

// A stack that is one too many is counted without its frames. What was there before is counted as
// before.
func TestFullFrames(t *testing.T) {
	tree := newTree()
	tree.bounds.frames = 3
	a, b := tree.place(place{addr: 1}), tree.place(place{addr: 2})
	for range 2 {
		tree.add(sampleKey{}, []uint32{b, a}, 1)
		tree.add(sampleKey{state: stateRunning}, []uint32{b, a}, 1)
		tree.add(sampleKey{tag: 1, state: stateSleeping}, []uint32{b, a}, 1)
	}
	tree.add(sampleKey{}, []uint32{a}, 1)
	if got, want := shown(t, tree), "0x1 1\n0x1;0x2 2\n[inner frames are left out: there are too many different stacks] 4\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if tree.frames != 3 || len(tree.keys) != 3 {
		t.Errorf("%d frames of %d keys", tree.frames, len(tree.keys))
	}
}

// What is known of threads and processes is bounded, whatever the kernel tells, and does not tell.
func TestManyThreads(t *testing.T) {
	e := bareEngine()
	e.only = map[int32]bool{1: true}
	e.family = e.only
	body := func(words ...uint32) []byte {
		var b []byte
		for _, w := range words {
			b = binary.NativeEndian.AppendUint32(b, w)
		}
		return b
	}
	for i := range uint32(maxNames + 1000) {
		pid := i + 2
		for _, r := range []perfevent.Record{
			{Type: perfevent.RecordFork, Body: body(pid, 1, pid, 1, 0, 0)},
			{Type: perfevent.RecordComm, Misc: perfevent.MiscExec, Body: append(body(pid, pid), "name\x00\x00\x00\x00"...)},
		} {
			if err := e.read(r); err != nil {
				t.Fatal(err)
			}
		}
		e.thread(int32(pid), int32(pid))
		if i%2 == 0 { // of the others, it does not tell the end
			if err := e.read(perfevent.Record{Type: perfevent.RecordExit, Body: body(pid, 1, pid, 1, 0, 0)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(e.names) > maxNames+2 || len(e.threads) > maxNames+2 || len(e.early) > maxNames+2 || len(e.list) > maxThreads+1 || len(e.indices) > maxThreads+1 || len(e.ended) > maxEnded {
		t.Errorf("%d names, %d threads, %d mappings of processes, %d different threads, %d indices, %d ended", len(e.names), len(e.threads), len(e.early), len(e.list), len(e.indices), len(e.ended))
	}
	if len(e.only) > (maxNames+1000)/2+1+maxEnded {
		t.Errorf("%d processes are sampled", len(e.only))
	}
	if last := e.list[len(e.list)-1]; last != (Thread{Name: "threads that began later"}) {
		t.Errorf("the last thread is %+v", last)
	}
}

// The processes that were sampled last are known.
func TestManySpaces(t *testing.T) {
	e := bareEngine()
	first := e.newSpace(1, e.opts.Arch, nil)
	for pid := range int32(2 * maxSpaces) {
		e.turns++
		first.turn = e.turns
		e.newSpace(pid+2, e.opts.Arch, nil).turn = e.turns
	}
	if len(e.spaces) > maxSpaces || e.spaces[1] != first || e.spaces[2] != nil || e.spaces[2*maxSpaces+1] == nil {
		t.Errorf("%d processes are known; the one that is sampled again and again: %v", len(e.spaces), e.spaces[1] == first)
	}
}

// The stacks of threads that are away are bounded together.
func TestManyAway(t *testing.T) {
	e := bareEngine()
	frames := make([]uint32, maxOffFrames/2-8)
	for range 2 { // they come back, and leave again
		for tid := range int32(4) {
			e.stack = append(e.stack[:0], frames...)
			e.leave(&perfevent.Sample{ID: perfevent.ID{PID: 1, TID: tid}})
		}
		if e.offFrames > maxOffFrames+4 || len(e.offCPU[0].stack) != len(frames) || len(e.offCPU[3].stack) != 1 {
			t.Errorf("%d frames are kept; %d and %d of the first and the last thread", e.offFrames, len(e.offCPU[0].stack), len(e.offCPU[3].stack))
		}
	}
	for tid := range int32(4) {
		e.dropOffCPU(tid)
	}
	if e.offFrames != 0 {
		t.Errorf("%d frames are kept of no thread", e.offFrames)
	}
}

// A place in a file is the same for all processes, wherever they have mapped it; one in another
// file is not.
func TestSharedPlaces(t *testing.T) {
	e := bareEngine()
	var at [2]map[string]uint32
	exe := gdbtest.Build(t, "shares.c", "-O2", "-pthread")
	for i := range at {
		p := gdbtest.StartRunning(t, exe, "1", "5")
		s := e.newSpace(int32(p.PID), e.opts.Arch, nil)
		s.refresh()
		at[i] = map[string]uint32{}
		for _, m := range s.maps {
			if m.Exec && m.Inode != 0 {
				at[i][m.Path] = s.placeOf(m.Lo + 64)
			}
		}
		e.forget(int32(p.PID))
	}
	if len(at[0]) < 2 {
		t.Fatalf("%v", at)
	}
	seen := map[uint32]bool{}
	for path, id := range at[0] {
		if at[1][path] != id {
			t.Errorf("%s: place %d, and %d of the other process", path, id, at[1][path])
		}
		if seen[id] {
			t.Errorf("%s: place %d is another file's, too", path, id)
		}
		seen[id] = true
	}
}

// The files of all processes, also files that are mapped later, have one budget.
func TestOneBudget(t *testing.T) {
	e := bareEngine()
	files := 0
	for _, name := range []string{"shares.c", "recurse.c"} {
		p := gdbtest.StartRunning(t, gdbtest.Build(t, name, "-O2", "-pthread"), "1", "5")
		s := e.newSpace(int32(p.PID), e.opts.Arch, nil)
		for range 2 {
			s.stale, s.ask = true, true
			s.refresh()
			for _, m := range s.modules.All() {
				if im, _, err := m.Image(); err == nil {
					files++
					if im.Budget() != &e.budget {
						t.Errorf("%s of process %d has a budget of its own", m.Path, p.PID)
					}
				}
			}
		}
		e.forget(int32(p.PID))
	}
	if files < 8 {
		t.Errorf("%d files", files)
	}
	if e.budget.Others == 0 {
		t.Error("files that come and go have room without a bound")
	}
}

// The frames of samples that wait for what their process writes are bounded together: they are
// looked at again and again.
func TestManyUnsure(t *testing.T) {
	e := bareEngine()
	s := e.newSpace(1, e.opts.Arch, nil)
	e.stack = make([]uint32, maxDepth)
	for range 2 * maxUnsureFrames / maxDepth {
		e.keep(s, 0, 1)
	}
	if n := len(e.unsure) * maxDepth; e.unsureFrames != n || n > maxUnsureFrames || n < maxUnsureFrames/4 {
		t.Errorf("%d frames of %d samples", e.unsureFrames, len(e.unsure))
	}
	e.setUnsure(nil)
	if e.unsureFrames != 0 {
		t.Errorf("%d frames of no sample", e.unsureFrames)
	}
}

// Where processors are sampled, a process that has the number of one that was counted and has ended
// is not counted, nor is anything of processes that nobody asked for kept.
func TestNumberAgain(t *testing.T) {
	e := bareEngine()
	e.only = map[int32]bool{1: true}
	e.family = e.only
	fork := func(kind uint32, pid, parent uint32) {
		t.Helper()
		var b []byte
		for _, w := range []uint32{pid, parent, pid, parent, 0, 0} {
			b = binary.NativeEndian.AppendUint32(b, w)
		}
		if err := e.read(perfevent.Record{Type: kind, Body: b}); err != nil {
			t.Fatal(err)
		}
	}
	fork(perfevent.RecordFork, 7, 1)
	if e.foreign(7) {
		t.Error("what process 1 has begun is not counted")
	}
	fork(perfevent.RecordExit, 7, 1)
	fork(perfevent.RecordFork, 8, 5)
	fork(perfevent.RecordExit, 8, 5)
	if !slices.Equal(e.ended, []int32{7}) {
		t.Errorf("ended: %v", e.ended)
	}
	fork(perfevent.RecordFork, 7, 5)
	if !e.foreign(7) || e.foreign(1) {
		t.Error("another's process with the number of one that has ended is counted")
	}
}
