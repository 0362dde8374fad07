package elfimage

import "sync/atomic"

// Spare is what was made of an image's bytes and can be made again. While nobody uses it, it gives
// way where there is no room for something else: what was used longest ago first.
type Spare struct {
	budget *Budget // nil where there is no bound
	drop   func()

	held atomic.Int64 // bytes
	cost int64        // bytes of those that were dropped last

	users      int // these are under budget.mu
	prev, next *Spare
}

// spares are the Spares that hold something and that nobody uses, used longest ago first.
type spares struct{ first, last *Spare }

// Spare returns a Spare that holds nothing yet. drop lets go of what it holds; it is called while
// nobody uses the Spare, and must not call the target.
func (im *Image) Spare(drop func()) *Spare { return &Spare{budget: im.budget, drop: drop} }

// Use says that the caller uses what the Spare holds until it calls Done.
func (s *Spare) Use() {
	if s.budget == nil {
		return
	}
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	if s.users++; s.users == 1 {
		s.budget.spares.remove(s)
	}
}

// Done ends a use.
func (s *Spare) Done() {
	if s.budget == nil {
		return
	}
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	if s.users--; s.users == 0 && s.held.Load() > 0 {
		s.budget.spares.add(s)
	}
}

// Keep is [Image.Keep] for bytes that the Spare holds. Its user calls it.
func (s *Spare) Keep(n int64) bool {
	if s.budget == nil {
		return true
	}
	if !s.budget.keep(n) {
		return false
	}
	s.held.Add(n)
	return true
}

// Empty says that the Spare holds nothing any more. Its user calls it, and there is no other one.
func (s *Spare) Empty() {
	if s.budget != nil {
		s.cost = s.held.Swap(0)
		s.budget.kept.Add(s.cost)
	}
}

// Again reports whether what the Spare has held may be made once more, and counts that as work.
func (s *Spare) Again() bool {
	cost := s.cost
	s.cost = 0
	return s.budget == nil || take(&s.budget.work, cost)
}

// giveWay drops what was used longest ago; it reports false where all is in use.
func (b *Budget) giveWay() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.spares.first
	if s == nil {
		return false
	}
	b.spares.remove(s)
	s.drop()
	s.Empty()
	return true
}

func (l *spares) add(s *Spare) {
	if s.prev = l.last; s.prev != nil {
		s.prev.next = s
	} else {
		l.first = s
	}
	s.next, l.last = nil, s
}

func (l *spares) remove(s *Spare) {
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
