package frame

import "errors"

// Code that no table describes must be searched through, which takes some milliseconds where
// nothing is found. A process that is made to hurt has thousands of such places on each stack.
// So what is looked at has a bound, which no real stack comes near; it is counted in bytes, so
// that a stack ends at the same frame each time.

// DefaultSearch is how many bytes of code are looked at for one stack, where [Stack.Search] is 0.
const DefaultSearch = 4 << 20

// search is what was looked at for a stack.
type search struct {
	spent  int64
	total  int64 // with what was looked at for the stacks before, see Reset
	level  int   // all frames below it were searched for
	denied bool  // there was no more to look at
}

// errSearched is why nobody has unwound a frame that nobody has searched for.
var errSearched = errors.New("no table describes it, and too much code without tables was looked at for this stack already")

// Search reports whether code may be searched through for THIS frame: for one that was
// before, or as long as not too much was looked at for the stack. A sniffer that gets no for
// an answer declines.
func (q *Query) Search() bool {
	f := q.This
	if f == nil {
		return true
	}
	s := f.stack
	if q.fresh = f.Level >= s.search.level; !q.fresh {
		return true
	}
	if most := s.mostSearched(); s.search.spent >= most {
		s.search.denied = true
		return false
	}
	s.search.level = f.Level + 1
	return true
}

// Searched notes that n bytes of code were looked at for THIS frame.
func (q *Query) Searched(n int) {
	if q.This != nil && q.fresh {
		q.This.stack.search.spent += int64(n)
		q.This.stack.search.total += int64(n)
	}
}

func (s *Stack) mostSearched() int64 {
	if s.Search != 0 {
		return max(s.Search, 0)
	}
	return DefaultSearch
}

// Searched returns how many bytes of code were looked at since s was made, see [Stack.Search]:
// for the stacks before [Stack.Reset], too.
func (s *Stack) Searched() int64 { return s.search.total }
