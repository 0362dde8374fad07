package symbol

import (
	"sync"
	"sync/atomic"
)

// details are what was read of a unit's functions for whoever asked. They can be read again.
type details struct {
	held *holding
	list atomic.Pointer[detailLists] // nil if there is nothing yet, or if it was dropped
}

type detailLists struct {
	mu     sync.Mutex
	bodies map[uint32]*body  // by the offset of the function's entry in the unit
	shown  map[uint64]*shown // by the offset of the entry of a function or of an inlined call
	named  map[uint64]*named // by the offset of an entry that others refer to
}

func (x *details) drop() { x.list.Store(nil) }

// lists returns the lists.
func (x *details) lists() *detailLists {
	x.held.touch()
	for {
		if list := x.list.Load(); list != nil {
			return list
		}
		x.list.CompareAndSwap(nil, &detailLists{bodies: map[uint32]*body{}, shown: map[uint64]*shown{}, named: map[uint64]*named{}})
	}
}

func (x *details) body(at uint32) *body {
	l := x.lists()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bodies[at]
}

// keepBody keeps a body, whose memory was taken by held.
func (x *details) keepBody(at uint32, b *body, held *holding) {
	l := x.lists()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bodies[at] != nil { // somebody else was quicker
		held.release()
		return
	}
	l.bodies[at] = b
	x.held.bytes.Add(held.bytes.Swap(0))
}

// detailSize is about the memory that an item takes up in a list, bytes, without its texts.
const detailSize = 160

// detail returns what one of the lists has for an offset; nil if it has nothing.
func detail[T any](x *details, of func(*detailLists) map[uint64]*T, at uint64) *T {
	l := x.lists()
	l.mu.Lock()
	defer l.mu.Unlock()
	return of(l)[at]
}

// keepDetail puts v, with texts of n bytes, into one of the lists, if there is room.
func keepDetail[T any](x *details, of func(*detailLists) map[uint64]*T, at uint64, v *T, n int) {
	if x.held.take(detailSize+n) != nil {
		return
	}
	l := x.lists()
	l.mu.Lock()
	defer l.mu.Unlock()
	of(l)[at] = v
}

func shownOf(l *detailLists) map[uint64]*shown { return l.shown }
func namedOf(l *detailLists) map[uint64]*named { return l.named }
