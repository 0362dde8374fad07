package frame

import "errors"

// Code that no table describes must be searched through, which takes some milliseconds if
// nothing is found. A malicious process has thousands of such places on each stack.
// So searches have bounds, which no real stack comes near. They are counted in
// instructions, so that a stack ends at the same frame each time.

const (
	// DefaultSearchLimit is how many instructions are read for one stack if
	// [Stack.SearchLimit] is 0.
	DefaultSearchLimit = 2 << 20
	// frameSearch is how many are read for one frame.
	frameSearch = 1 << 18
)

// search counts the instructions that were read for a stack.
type search struct {
	spent  int64
	again  int64 // for frames that were searched for before, as for a register, or for Claim
	level  int   // all frames at lower levels were searched for
	denied bool  // MaySearch has said no
}

// errSearched is why no sniffer has claimed a frame for which no code could be searched.
var errSearched = errors.New("no table describes it, and too much code without tables was looked at already")

// MaySearch reports whether a sniffer may search through code for THIS frame. It may until
// [Stack.SearchLimit] instructions were read for the stack. For a frame that was searched for
// before it may search again, within a limit of the same size, so that the frame is the same as
// before. If MaySearch returns false, the sniffer declines.
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

// CountSearched adds n instructions, or work that takes as long, to what was read for THIS frame
// since [Query.MaySearch]. It reports whether the sniffer may read more; if not, the sniffer
// answers by what it knows.
func (q *Query) CountSearched(n int) (more bool) {
	q.searchLeft -= n
	if q.This == nil {
		return q.searchLeft > 0 // a query about tables alone, without a stack
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

// spent reports whether the tables that share searches have reached their common limit.
func (c *rowCache) spent() bool { return c.shared != nil && c.shared.Left.Load() <= 0 }

// SearchSpent reports whether the stack, or the stacks that share searches together, have reached
// their limit. Then a sniffer leaves out what takes long.
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

// Searched returns how many instructions were read since s was made, see [Stack.SearchLimit].
// [Stack.Reset] does not reset the number.
func (s *Stack) Searched() int64 { return s.searched }
