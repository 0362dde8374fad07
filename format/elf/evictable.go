package elf

import "sync/atomic"

// Evictable is data that was made of an image's bytes and can be made again. While it is not
// pinned, it may be dropped to make room in the [Budget]. The one unused for longest is dropped
// first.
type Evictable struct {
	budget *Budget // nil if there is no bound
	drop   func()

	held atomic.Int64 // bytes
	cost int64        // bytes that were dropped last

	users      int // budget.mu guards this and the next line
	prev, next *Evictable
}

// unpinned lists the Evictables that hold something and are not pinned. The one unused for longest
// is first.
type unpinned struct{ first, last *Evictable }

// Evictable returns an Evictable that holds nothing yet. drop lets go of what it holds. drop is
// called while the Evictable is not pinned, and must call neither images nor their Evictables.
func (im *Image) Evictable(drop func()) *Evictable {
	return &Evictable{budget: im.Budget(), drop: drop}
}

// Pin keeps e from being dropped until the caller calls Unpin. Several callers may pin it.
func (e *Evictable) Pin() {
	if e.budget == nil {
		return
	}
	e.budget.mu.Lock()
	defer e.budget.mu.Unlock()
	if e.users++; e.users == 1 {
		e.budget.unpinned.remove(e)
	}
}

// Unpin undoes one Pin.
func (e *Evictable) Unpin() {
	if e.budget == nil {
		return
	}
	e.budget.mu.Lock()
	defer e.budget.mu.Unlock()
	if e.users--; e.users == 0 && e.held.Load() > 0 {
		e.budget.unpinned.add(e)
	}
}

// Reserve is [Image.Reserve] for bytes that e holds. The caller has e pinned.
func (e *Evictable) Reserve(n int64) bool {
	if e.budget == nil {
		return true
	}
	if !e.budget.keep(n) {
		return false
	}
	e.held.Add(n)
	return true
}

// Release gives back n of the bytes that e holds. The caller has e pinned.
func (e *Evictable) Release(n int64) {
	if e.budget != nil {
		e.held.Add(-n)
		e.budget.kept.Add(n)
	}
}

// Clear says that e holds nothing any more. The caller has e pinned, and nobody else has.
func (e *Evictable) Clear() {
	if e.budget != nil {
		e.cost = e.held.Swap(0)
		e.budget.kept.Add(e.cost)
	}
}

// MayRebuild reports whether the budget allows the work of making what was dropped once more, and
// counts the work if so.
func (e *Evictable) MayRebuild() bool {
	cost := e.cost
	e.cost = 0
	return e.budget == nil || take(&e.budget.work, cost)
}

// giveWay drops the Evictable unused for longest. It reports false if all are pinned or empty.
func (b *Budget) giveWay() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.unpinned.first
	if e == nil {
		return false
	}
	b.unpinned.remove(e)
	e.drop()
	e.Clear()
	return true
}

func (l *unpinned) add(s *Evictable) {
	if s.prev = l.last; s.prev != nil {
		s.prev.next = s
	} else {
		l.first = s
	}
	s.next, l.last = nil, s
}

func (l *unpinned) remove(s *Evictable) {
	if s.prev == nil && s.next == nil && l.first != s {
		return // it is not in the list
	}
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		l.first = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	} else {
		l.last = s.prev
	}
	s.prev, s.next = nil, nil
}
