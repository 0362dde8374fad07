package symbol

import (
	"sync/atomic"

	"github.com/sfwalk/sfwalk/elfimage"
)

// room is how many bytes of memory may be kept of what a file says: some times what of it is
// there, and no more than all files of the target have together.
type room struct {
	left atomic.Int64
	of   *elfimage.Image
	kept *sharedInfo // that it is taken for
}

func roomFor(im *elfimage.Image, kept *sharedInfo) *room {
	const small, times = 16 << 20, 16
	r := &room{of: im, kept: kept}
	r.left.Store(small + times*im.SizeOnDisk())
	return r
}

// fits takes n bytes, if there are so many. Where there is no room at all, they fit.
func (r *room) fits(n int64) bool {
	if r == nil {
		return true
	}
	if r.left.Add(-n) >= 0 {
		if r.keep(n) {
			return true
		}
	}
	r.left.Add(n)
	return false
}

// keep takes n bytes of what all files have together.
func (r *room) keep(n int64) bool {
	if r.kept.spare.Reserve(n) {
		return true
	}
	r.kept.short.Store(true)
	return false
}

// work reports whether n bytes more may be inflated.
func (r *room) work(n int64) bool { return r == nil || r.of.ReserveWork(n) }
