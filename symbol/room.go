package symbol

import (
	"sync/atomic"

	"github.com/sfwalk/sfwalk/target"
)

// room is how many bytes of memory may be kept of what a file says: some times what of it is
// there, and no more than all files of the target have together.
type room struct {
	left atomic.Int64
	of   *target.Image
}

func roomFor(im *target.Image) *room {
	const small, times = 16 << 20, 16
	r := &room{of: im}
	r.left.Store(small + times*im.There())
	return r
}

// fits takes n bytes, if there are so many. Where there is no room at all, they fit.
func (r *room) fits(n int64) bool {
	if r == nil {
		return true
	}
	if r.left.Add(-n) >= 0 {
		if r.of.Keep(n) {
			return true
		}
	}
	r.left.Add(n)
	return false
}

// work reports whether n bytes more may be inflated.
func (r *room) work(n int64) bool { return r == nil || r.of.Unpack(n) }
