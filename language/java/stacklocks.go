package java

import (
	"sync"

	"github.com/sfwalk/sfwalk/language"
)

// Bounds for the stack of a thread.
const (
	mostStack   = 1 << 20 // bytes that are looked through
	mostObjects = 1 << 12 // objects that are looked at
)

// lockSearch has room for a search, which each thread of a process needs.
type lockSearch struct {
	chunk [1 << 12]byte
	seen  map[uint64]bool // objects
}

var lockSearches = sync.Pool{New: func() any { return &lockSearch{seen: map[uint64]bool{}} }}

// stackLocked returns the objects that a thread has locked in the way of the older releases: the
// object's mark word is the address of a lock on the thread's stack, which has the mark word that
// the object had before, or it leads to a monitor of the thread's. Frames refer to what they have
// locked, so that each such object is found by looking through the stack. Its mark word proves it.
func (r *reading) stackLocked(s *language.Stack, th javaThread) (list []uint64) {
	low := th.base
	for _, f := range s.Frames {
		if v := f.Register(s.Arch.SP); v.Known() && v.Bits >= th.limit && v.Bits < low {
			low = v.Bits
		}
	}
	x := lockSearches.Get().(*lockSearch)
	defer lockSearches.Put(x)
	chunk, seen := x.chunk[:], x.seen
	clear(seen)
	end := min(th.base, low+mostStack)
	for at := low &^ 7; at < end && len(seen) < mostObjects; at += uint64(len(chunk)) {
		n, _ := s.Memory.ReadMemory(at, chunk[:min(uint64(len(chunk)), end-at)])
		for i := 0; i+8 <= n && len(seen) < mostObjects; i += 8 {
			object := s.Arch.Order.Uint64(chunk[i:])
			if object-r.heapLow >= r.heapSize || object%8 != 0 || seen[object] {
				continue
			}
			seen[object] = true
			if r.lockedBy(object, th) {
				list = append(list, object)
			}
		}
	}
	return list
}

// lockedBy reports whether a thread has locked an object.
func (r *reading) lockedBy(object uint64, th javaThread) bool {
	const unlocked, inflated, marks = 1, 2, 3
	mark, ok := r.Word(object)
	if !ok {
		return false
	}
	switch mark & marks {
	case 0:
		if mark-th.limit >= th.base-th.limit {
			return false
		}
		before, ok := r.Word(mark)
		return ok && before&marks == unlocked
	case inflated:
		m := mark &^ marks
		owner, _ := r.word(m, "ObjectMonitor::_owner")
		return owner == th.at || owner-th.limit < th.base-th.limit
	}
	return false
}

// learnHeap learns where objects are.
func (r *reading) learnHeap() {
	all, _ := r.static("Universe::_collectedHeap")
	reserved, ok := r.tables.Fields["CollectedHeap::_reserved"]
	if ok && all != 0 {
		r.heapLow, _ = r.word(all+reserved.Offset, "MemRegion::_start")
		words, _ := r.word(all+reserved.Offset, "MemRegion::_word_size")
		r.heapSize = words * 8
	}
	if r.heapSize == 0 { // ZGC's is in several places
		r.heapLow, r.heapSize = 1<<16, 1<<47
	}
}
