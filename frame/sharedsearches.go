package frame

import (
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/trad"
)

// SharedSearches is for tables that walk several threads of one target at the same time, see
// [Table.ShareSearches]. It bounds how much code may be searched through for all their stacks
// together. It keeps what searches have found, so that the same code is searched once. It is safe
// for concurrent use.
type SharedSearches struct {
	// Left is how many instructions may still be read, see [Stack.SearchLimit].
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

// ShareSearches has t share its searches with all other tables that were given the same
// SharedSearches, until it is called with nil. All of them must be for the same target, with the
// same sniffers in the same order.
func (t *Table) ShareSearches(with *SharedSearches) { t.rows.shared = with }

// start locks s, and drops its results if they are for modules of another generation.
func (s *SharedSearches) start(generation uint64) {
	s.mu.Lock()
	if s.rows == nil || s.of != generation {
		s.rows, s.inVain, s.of = make(map[searched]sharedRow), make(map[searched]uint8), generation
	}
}

// forget drops the results.
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

// searchedInVain adds more to the number of frames at a place for which searches found nothing, and
// reports whether that makes vainFrames.
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
