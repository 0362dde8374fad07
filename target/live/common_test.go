package live

import (
	"testing"

	"github.com/sfwalk/sfwalk/target/procmaps"
)

// busy is a process of ten threads whose memory has another value each time that it is read.
type busy struct {
	memory
	reads byte
	has   map[int]uint64 // turns, by thread
}

func newBusy(lowMemory bool) *busy {
	b := &busy{has: map[int]uint64{}}
	b.memory.lowMemory = lowMemory
	b.memory.live = &pageCache{fetch: func(addr uint64, p []byte) (int, error) {
		b.reads++
		for i := range p {
			p[i] = b.reads
		}
		return len(p), nil
	}}
	b.memory.maps = []procmaps.Mapping{{Lo: worldLo + pageSize, Hi: worldHi, Write: true}}
	b.memory.turns = func(tid int) uint64 { return 1 + b.has[tid] }
	b.memory.there = func(*view) bool { return true }
	b.memory.same = func(*view) bool { return true }
	b.memory.left.Store(passLimit + worldHi - worldLo)
	for i := range 10 {
		b.views = append(b.views, &view{memory: &b.memory, tid: i})
	}
	return b
}

func (b *busy) read(t *testing.T, thread int, addr uint64) byte {
	t.Helper()
	var p [1]byte
	if _, err := b.views[thread].ReadMemory(addr, p[:]); err != nil {
		t.Fatal(err)
	}
	return p[0]
}

// Threads that stand still have one copy of what they have in common. A thread that has run since
// it was looked at has one of its own, and one that runs later is found out.
func TestCommon(t *testing.T) {
	const here, there, beyond = worldLo + pageSize, worldLo + 5*pageSize, worldLo + 9*pageSize
	b := newBusy(false)
	b.read(t, 0, here)
	one := b.read(t, 1, here) // and looks at the others
	for thread := 2; thread < 6; thread++ {
		if got := b.read(t, thread, here+8); got != one {
			t.Errorf("thread %d has copy %d, want %d", thread, got, one)
		}
	}
	if b.views[2].MovedOn(here, 1) {
		t.Error("a thread that stands still has moved on")
	}

	b.has[6]++
	if got := b.read(t, 6, here); got == one || b.views[6].MovedOn(here, 1) {
		t.Errorf("a thread that has run before it read has copy %d; it has moved on: %v", got, b.views[6].moved.Load())
	}

	b.read(t, 3, there)
	b.has[3]++
	if b.has[4]++; !b.views[3].MovedOn(there, 1) || !b.views[3].MovedOn(here, 1) {
		t.Error("a thread that has run after it read has not moved on")
	}
	if list := b.views[3].again(); len(list) != 2 || list[0] != (span{here, here + pageSize}) || list[1] != (span{there, there + pageSize}) {
		t.Errorf("what it has to copy again: %#x", list)
	}
	if b.read(t, 4, beyond); !b.views[4].MovedOn(beyond, 1) {
		t.Error("a thread that has run between two reads has not moved on")
	}
	if b.views[2].MovedOn(here, 1) {
		t.Error("a thread moves on with another one")
	}
}

// What threads have in common goes when the last of them does not need it any more.
func TestCommonDropped(t *testing.T) {
	b := newBusy(true)
	room := b.left.Load()
	for round := range 2 {
		for thread := range b.views {
			for at := uint64(worldLo + pageSize); at < worldHi; at += pageSize {
				b.read(t, thread, at)
			}
		}
		if used := room - b.left.Load(); used < worldHi-worldLo-pageSize || used > 12*(worldHi-worldLo) {
			t.Errorf("round %d: copies take %d bytes", round, used)
		}
		for _, v := range b.views {
			v.drop()
		}
		if b.left.Load() != room {
			t.Errorf("round %d: %d bytes are left of %d", round, b.left.Load(), room)
		}
	}
}

// What is read of a thread that is held stays as it was, also when the thread runs on.
func TestHeldPages(t *testing.T) {
	b := newBusy(false)
	v := b.views[5]
	b.read(t, 0, worldLo+pageSize)
	b.read(t, 1, worldLo+pageSize) // and looks at the others
	room := b.left.Load()
	v.held = true
	first, second := b.read(t, 5, worldLo+pageSize), b.read(t, 5, worldLo+5*pageSize)
	v.release()
	b.has[5]++
	if first == second || b.read(t, 5, worldLo+pageSize) != first || b.read(t, 5, worldLo+5*pageSize) != second {
		t.Errorf("what was copied has changed: it was %d and %d", first, second)
	}
	if v.MovedOn(worldLo+pageSize, 1) || v.MovedOn(worldLo+5*pageSize, 1) {
		t.Error("what was copied of a thread that was held is late")
	}
	if got := b.read(t, 5, worldLo+9*pageSize); got == second || v.shared[worldLo+9*pageSize] != nil {
		t.Errorf("a thread that has run has copy %d in common with others", got)
	}
	if v.forget(); b.left.Load() != room {
		t.Errorf("%d bytes are left of %d", b.left.Load(), room)
	}
}

// What is mapped right behind a stack is no part of it, though a copy of the stack may reach there.
func TestBehindStack(t *testing.T) {
	const behind = worldLo + 4*pageSize
	b := newBusy(false)
	b.maps = []procmaps.Mapping{{Lo: worldLo, Hi: behind - pageSize, Read: true, Write: true}, {Lo: behind - pageSize, Hi: worldHi, Read: true, Write: true}}
	for _, v := range b.views {
		v.add(block{lo: worldLo, data: make([]byte, behind-worldLo)})
	}
	if first, second := b.read(t, 1, behind), b.read(t, 2, behind); b.views[1].shared[behind] == nil || b.views[2].shared[behind] == nil {
		t.Errorf("copies %d and %d are not in common", first, second)
	}
	b.maps = []procmaps.Mapping{{Lo: worldLo, Hi: worldHi, Read: true, Write: true}}
	if b.read(t, 3, behind); b.views[3].shared[behind] != nil {
		t.Error("the outer part of a stack is in common with others")
	}
}
