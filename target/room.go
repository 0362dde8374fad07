package target

import (
	"errors"
	"sync"
	"sync/atomic"
)

// A small file can expand to a large one, and a process can map hundreds of them. So what is kept
// of what all its files expand to has a bound, which grows with what they really have on disk.

const (
	// usualRoom is how many bytes may be kept, whatever the files are; firstRoom how many more for
	// each byte that is there of them, up to firstFiles bytes, and lastRoom for each that is behind
	// that. Libraries of C++ with compressed debug information, each of which is on a stack, take
	// up eight times what they are; a process with many of them has few on its stacks.
	usualRoom  = 64 << 20
	firstRoom  = 8
	firstFiles = 32 << 20
	lastRoom   = 1
	// usualWork and timesWork are so many bytes that may be unpacked, whether they are kept or not.
	usualWork, timesWork = 512 << 20, 8
	// unpackedTimes is how much what is made of a section takes up, with the section.
	unpackedTimes = 3
)

// ErrRoom says that the files of a target together expand to too much for all of it to be kept.
var ErrRoom = errors.New("all files of the process together expand to too much: this is left out")

// room is how much memory may be kept of what the images of one target expand to. Its zero value
// has room for no image yet.
type room struct {
	once       sync.Once
	there      atomic.Int64 // bytes of all files
	kept, work atomic.Int64 // bytes that are left
}

// grant makes room for what a file of that many bytes may honestly expand to.
func (r *room) grant(there int64) {
	r.once.Do(func() {
		r.kept.Add(usualRoom)
		r.work.Add(usualWork)
	})
	all := r.there.Add(there)
	first := min(all, firstFiles) - min(all-there, firstFiles)
	r.kept.Add(firstRoom*first + lastRoom*(there-first))
	r.work.Add(timesWork * there)
}

// houses has modules' images share the room.
func (r *room) houses(modules []*Module) {
	for _, m := range modules {
		if m.room == nil { // else it was another list's before
			m.room = r
		}
	}
}

func take(left *atomic.Int64, n int64) bool {
	if left.Add(-n) >= 0 {
		return true
	}
	left.Add(n) // less may fit
	return false
}

// Join has im, which belongs to a file of other's target, share the room of that.
func (im *Image) Join(other *Image) { im.join(other.room) }

func (im *Image) join(r *room) {
	if r == nil || im.room != nil {
		return
	}
	if im.room = r; im.inMemory {
		r.grant(0) // memory that is mapped may be the same page over and over
	} else {
		r.grant(im.there)
	}
}

// Keep reports whether n bytes of what the image expands to may be kept, and counts them if so.
func (im *Image) Keep(n int64) bool { return im.room == nil || take(&im.room.kept, n) }

// Unpack reports whether n bytes of the image may be unpacked, and counts them if so.
func (im *Image) Unpack(n int64) bool { return im.room == nil || take(&im.room.work, n) }
