package symbol

import (
	"sync/atomic"

	"github.com/sfwalk/sfwalk/elfimage"
)

// room bounds the memory that the contents of a file may take up: a multiple of the file's bytes on
// disk, and no more than all files of the target may take up together.
type room struct {
	left atomic.Int64 // bytes
	of   *elfimage.Image
	kept *sharedInfo // the DWARF that takes it
}

func roomFor(im *elfimage.Image, kept *sharedInfo) *room {
	const small, times = 16 << 20, 16
	r := &room{of: im, kept: kept}
	r.left.Store(small + times*im.SizeOnDisk())
	return r
}

// fits takes n bytes and reports true, if that many are left. A nil room has no bounds.
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

// keep takes n bytes of the room of all files, and reports whether that many were left.
func (r *room) keep(n int64) bool {
	if r.kept.spare.Reserve(n) {
		return true
	}
	r.kept.short.Store(true)
	return false
}

// work reports whether n bytes more may be inflated.
func (r *room) work(n int64) bool { return r == nil || r.of.ReserveWork(n) }
