package symbol

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/format/elf"
)

// room bounds the memory that the contents of a file may take up: a multiple of the file's bytes on
// disk, and no more than all files of the target may take up together.
type room struct {
	left atomic.Int64 // bytes
	of   *elf.Image
	kept *sharedInfo // the DWARF that takes it
}

func roomFor(im *elf.Image, kept *sharedInfo) *room {
	const small, times = 16 << 20, 16
	r := &room{of: im, kept: kept}
	r.left.Store(small + times*im.SizeOnDisk())
	return r
}

// fits takes n bytes and reports true, if that many are left. Where there are too few, holdings are
// dropped. A nil room has no bounds.
func (r *room) fits(n int64) bool {
	if r == nil {
		return true
	}
	for {
		if r.left.Add(-n) >= 0 {
			if r.kept.spare.Reserve(n) {
				return true
			}
			r.left.Add(n)
			if !r.kept.holdings.shed(nil) {
				r.kept.short.Store(true)
				return false
			}
			continue
		}
		if r.left.Add(n); !r.kept.holdings.shed(r) {
			return false
		}
	}
}

// release gives back n bytes that fits has taken.
func (r *room) release(n int64) {
	if r != nil {
		r.left.Add(n)
		r.kept.spare.Release(n)
	}
}

// warn warns of what there was too little room for.
func (r *room) warn(err error) {
	if r != nil {
		r.kept.warn(err)
	}
}

// most returns how many bytes all files of the target may take up together.
func (r *room) most() int64 {
	if r == nil {
		return math.MaxInt64
	}
	return r.of.Room()
}

// work reports whether n bytes more may be inflated, or read once more.
func (r *room) work(n int64) bool { return r == nil || r.of.ReserveWork(n) }

// holding is memory that can be dropped: what it holds can be read again. Whoever reads what was
// dropped meanwhile may go on with it.
type holding struct {
	room  *room
	cheap bool   // little work reads it again
	drop  func() // lets go of what is held; it must not take memory

	bytes atomic.Int64
	used  atomic.Int64 // when it was used last, by the clock of holdings
	busy  atomic.Bool  // it is being filled, and must not be dropped
}

// take takes n bytes for what is held; the error is errTooMuch. A nil holding has no bounds.
func (h *holding) take(n int) error {
	if h == nil || n == 0 {
		return nil
	}
	if !h.room.fits(int64(n)) {
		return errTooMuch
	}
	h.bytes.Add(int64(n))
	return nil
}

// give gives back n bytes, or takes more if n is negative.
func (h *holding) give(n int) {
	if h != nil {
		h.bytes.Add(-int64(n))
		h.room.release(int64(n))
	}
}

// release gives back all that was taken.
func (h *holding) release() { h.room.release(h.bytes.Swap(0)) }

// touch says that what is held is being used.
func (h *holding) touch() {
	if h.room != nil {
		h.used.Store(h.room.kept.holdings.clock.Add(1))
	}
}

// holdings are what is kept of the DWARF of a file and of the files that it refers to.
type holdings struct {
	clock atomic.Int64

	mu   sync.Mutex
	list []*holding
}

// add has holdings dropped when their room is needed.
func (x *holdings) add(list ...*holding) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.list = append(x.list, list...)
}

// shed drops about half of what is held; of a room, if r is not nil. The cheap ones go first, and
// of these the ones unused for longest. It reports false if nothing was held.
func (x *holdings) shed(r *room) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	var list []*holding
	var all, cheap int64
	for _, h := range x.list {
		n := h.bytes.Load()
		if n == 0 || h.busy.Load() || r != nil && h.room != r {
			continue
		}
		list = append(list, h)
		if all += n; h.cheap {
			cheap += n
		}
	}
	if all == 0 {
		return false
	}
	enough := all / 2
	if cheap >= all/4 {
		enough = cheap / 2 // what costs much work stays
	}
	slices.SortFunc(list, func(a, b *holding) int {
		if a.cheap != b.cheap {
			if a.cheap {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.used.Load(), b.used.Load())
	})
	for _, h := range list {
		enough -= h.bytes.Load()
		h.release() // before anybody can fill it again
		h.drop()
		if enough <= 0 {
			break
		}
	}
	return true
}

// forget forgets all holdings. Their memory was given back.
func (x *holdings) forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.list = nil
}
