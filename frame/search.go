package frame

import "errors"

// Code that no table describes must be searched through, which takes some milliseconds where
// nothing is found. A process that is made to hurt has thousands of such places on each stack.
// So what is looked at has bounds, which no real stack comes near; it is counted in
// instructions, so that a stack ends at the same frame each time.

const (
	// DefaultSearchLimit is how many instructions are looked at for one stack, where
	// [Stack.SearchLimit] is 0.
	DefaultSearchLimit = 2 << 20
	// frameSearch is how many are looked at for one frame.
	frameSearch = 1 << 18
)

// search is what was looked at for a stack.
type search struct {
	spent  int64
	again  int64 // for frames that were searched for before, as for a register, or for Claim
	level  int   // all frames below it were searched for
	denied bool  // there was no more to look at
}

// errSearched is why nobody has unwound a frame that nobody has searched for.
var errSearched = errors.New("no table describes it, and too much code without tables was looked at already")

// MaySearch reports whether code may be searched through for THIS frame: as long as not too much
// was looked at for the stack. A frame that was searched for before is again, so that it is
// the same once more, up to a bound of its own. A sniffer that gets no for an answer declines.
func (q *Query) MaySearch() bool {
	q.searchLeft = frameSearch
	f := q.This
	s := f.stack
	most := s.mostSearched()
	if q.fresh = f.Level >= s.search.level; !q.fresh {
		return s.search.again < most && !s.table.rows.spent()
	}
	if s.search.spent >= most || s.table.rows.spent() {
		s.search.denied = true
		return false
	}
	s.search.level = f.Level + 1
	return true
}

// CountSearched notes that n instructions were looked at for THIS frame since [Query.MaySearch], or
// what takes as long. It reports whether more may be: else a sniffer makes do with what it knows.
func (q *Query) CountSearched(n int) (more bool) {
	q.searchLeft -= n
	if q.This == nil {
		return q.searchLeft > 0 // a query about tables alone, of nobody's stack
	}
	s := q.This.stack
	if q.fresh {
		s.search.spent += int64(n)
	} else {
		s.search.again += int64(n)
	}
	s.searched += int64(n)
	if shared := s.table.rows.shared; shared != nil && shared.Left.Add(-int64(n)) <= 0 {
		return false
	}
	return q.searchLeft > 0
}

// spent reports whether all has been looked at that may be for the stacks of several tables.
func (c *rowCache) spent() bool { return c.shared != nil && c.shared.Left.Load() <= 0 }

// SearchSpent reports whether so much was looked at for the stack, or for all that share with it, that
// what takes long is to be left out.
func (q *Query) SearchSpent() bool {
	if q.This == nil {
		return false
	}
	s := q.This.stack
	return s.search.spent >= s.mostSearched() || s.table.rows.spent()
}

func (s *Stack) mostSearched() int64 {
	if s.SearchLimit != 0 {
		return max(s.SearchLimit, 0)
	}
	return DefaultSearchLimit
}

// Searched returns how many instructions were looked at since s was made, see [Stack.SearchLimit]:
// for the stacks before [Stack.Reset], too.
func (s *Stack) Searched() int64 { return s.searched }
