package java

import (
	"maps"
	"slices"
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
// the object had before, or it leads to a monitor of the thread's. Frames refer to most of what
// they have locked, so that these objects are found by looking through the stack. Compiled code may
// have the object as a constant: the monitors that frames have entered lead to that one. The
// object's mark word proves it. If the mark word says that the object is biased to the thread, the
// thread has locked it if one of its frames has entered its monitor.
func (r *reading) stackLocked(s *language.Stack, th javaThread, has entered) (list []uint64) {
	low := th.base
	for _, f := range s.Frames {
		if v := f.Register(s.Arch.SP); v.Known() && v.Bits >= th.limit && v.Bits < low {
			low = v.Bits
		}
	}
	return r.stackLockedFrom(low, s, th, has)
}

// stackLockedFrom is stackLocked for a stack whose innermost frame is at low.
func (r *reading) stackLockedFrom(low uint64, s *language.Stack, th javaThread, has entered) (list []uint64) {
	x := lockSearches.Get().(*lockSearch)
	defer lockSearches.Put(x)
	chunk, seen := x.chunk[:], x.seen
	clear(seen)
	for _, object := range slices.Sorted(maps.Keys(has)) {
		seen[object] = true
		if object%8 == 0 && r.lockedBy(object, th, has) {
			list = append(list, object)
		}
	}
	end := min(th.base, low+mostStack)
	for at := low &^ 7; at < end && len(seen) < mostObjects; at += uint64(len(chunk)) {
		n, _ := s.Memory.ReadMemory(at, chunk[:min(uint64(len(chunk)), end-at)])
		for i := 0; i+8 <= n && len(seen) < mostObjects; i += 8 {
			object := s.Arch.Order.Uint64(chunk[i:])
			if object-r.heapLow >= r.heapSize || object%8 != 0 || seen[object] {
				continue
			}
			if object-th.limit < th.base-th.limit { // a stack has no objects, but words that look like one
				continue
			}
			seen[object] = true
			if r.lockedBy(object, th, has) {
				list = append(list, object)
			}
		}
	}
	return list
}

// lockedBy reports whether a thread has locked an object.
func (r *reading) lockedBy(object uint64, th javaThread, has entered) bool {
	const unlocked, inflated, marks = 1, 2, 3
	const biased, biases, bits = 5, 7, 10 // below the thread; up to JDK 17
	mark, ok := r.Word(object)
	if !ok {
		return false
	}
	if mark&biases == biased && mark>>bits == th.at>>bits {
		return has.level(object) >= 0
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
