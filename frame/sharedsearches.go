package frame

import (
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/trad"
)

// SharedSearches is what several stacks have in common whose threads, of one target, are walked at
// the same time, each by a table of its own: how much code may be searched through for all of
// them together, and what that has taught, so that each need not learn it once more. See
// [Table.ShareSearches]. Many goroutines may use it.
type SharedSearches struct {
	// Left is how many instructions may still be looked at, see [Stack.SearchLimit].
	Left atomic.Int64

	mu     sync.Mutex
	of     uint64 // generation of the modules
	rows   map[searched]sharedRow
	inVain map[searched]uint8
}

// searched is a place in the code.
type searched struct {
	pc     uint64
	caller bool
}

type sharedRow struct {
	row    trad.Row
	winner int
}

// maxShared is how many rows are kept, and how many places where nothing was found.
const maxShared = 1 << 14

// ShareSearches has t, whose stacks are of the same target as those of all tables that share with it,
// and whose sniffers are theirs, share with them. nil ends that.
func (t *Table) ShareSearches(with *SharedSearches) { t.rows.shared = with }

// start makes s one for modules of a generation, and locks it.
func (s *SharedSearches) start(generation uint64) {
	s.mu.Lock()
	if s.rows == nil || s.of != generation {
		s.rows, s.inVain, s.of = make(map[searched]sharedRow), make(map[searched]uint8), generation
	}
}

// forget drops what was learned.
func (s *SharedSearches) forget() {
	s.mu.Lock()
	s.rows = nil
	s.mu.Unlock()
}

func (s *SharedSearches) row(generation uint64, at searched) (row sharedRow, ok bool) {
	s.start(generation)
	row, ok = s.rows[at]
	s.mu.Unlock()
	return row, ok
}

func (s *SharedSearches) put(generation uint64, at searched, row sharedRow) {
	s.start(generation)
	if len(s.rows) == maxShared {
		clear(s.rows)
	}
	s.rows[at] = row
	s.mu.Unlock()
}

// searchedInVain reports whether nothing was found for several frames at a place, and notes so many more.
func (s *SharedSearches) searchedInVain(generation uint64, at searched, more uint8) bool {
	s.start(generation)
	defer s.mu.Unlock()
	n := s.inVain[at]
	if more > 0 && n < vainFrames {
		if len(s.inVain) == maxShared {
			clear(s.inVain)
		}
		n += more
		s.inVain[at] = n
	}
	return n >= vainFrames
}
