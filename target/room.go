package target

import (
	"debug/elf"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/internal/elffile"
)

// A small file can expand to a large one, and a process can map hundreds of them. So what is kept
// of what all its files expand to has a bound. Where that is reached, what was made of other files
// and can be made again gives way; see [Spare].

const (
	// usualRoom is how many bytes may be kept, whatever the files are; largestRoom how many more for
	// each byte that is there of the largest file, up to largestFile bytes: libraries of C++ with
	// compressed debug information, read to the end, take up eight times what they are. lastRoom is
	// how many for each byte of all files behind the first usualFiles.
	usualRoom   = 80 << 20
	largestRoom = 8
	largestFile = 32 << 20
	lastRoom    = 1
	usualFiles  = 128 << 20
	// usualWork and timesWork are so many bytes that may be unpacked, whether they are kept or not.
	usualWork, timesWork = 1 << 30, 8
	// unpackedTimes is how much what is made of a section takes up, with the section.
	unpackedTimes = 3
)

// ErrRoom says that the files of a target together expand to too much for all of it to be kept.
var ErrRoom = errors.New("all files of the process together expand to too much: this is left out")

// room is how much memory may be kept of what the images of one target expand to. Its zero value
// has room for no image yet.
type room struct {
	kept, work atomic.Int64 // bytes that are left

	mu      sync.Mutex
	there   int64 // bytes of all files
	largest int64 // bytes of the largest
	granted int64 // bytes that kept began with
	spares  spares
}

// grant makes room for what a file of that many bytes may honestly expand to.
func (r *room) grant(there int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.granted == 0 {
		r.work.Add(usualWork)
	}
	r.there += there
	r.largest = max(r.largest, min(there, largestFile))
	all := usualRoom + largestRoom*r.largest + lastRoom*max(r.there-usualFiles, 0)
	r.kept.Add(all - r.granted)
	r.granted = all
	r.work.Add(timesWork * there)
}

// keep takes n bytes of the room, for which spares give way if need be.
func (r *room) keep(n int64) bool {
	for !take(&r.kept, n) {
		if !r.giveWay() {
			return false
		}
	}
	return true
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
	im.keepHeaders()
}

// Keep reports whether n bytes of what the image expands to may be kept, and counts them if so.
// Others' [Spare] may give way to them.
func (im *Image) Keep(n int64) bool { return im.room == nil || im.room.keep(n) }

// Release says that n bytes that [Image.Keep] has counted are kept no more.
func (im *Image) Release(n int64) {
	if im.room != nil {
		im.room.kept.Add(n)
	}
}

// uncounted is of how many bytes that are read of a file, at most, nobody keeps account.
const uncounted = 16 << 10

// roomOnce takes room for n bytes that are kept of a part of the file, unless it has done so before.
// The caller holds im.mu.
func (im *Image) roomOnce(part any, n int64) error {
	if im.room == nil {
		return nil
	}
	more := n - im.counted[part]
	if n <= uncounted || more <= 0 {
		return nil
	}
	if !im.Keep(more) {
		return fmt.Errorf("read %#x bytes: %w", n, ErrRoom)
	}
	if im.counted == nil {
		im.counted = make(map[any]int64)
	}
	im.counted[part] = n
	return nil
}

// headerSize is how many bytes of memory a section header takes up, about.
const headerSize = 320

// keepHeaders takes room for the section headers; where there is none the file has no sections.
func (im *Image) keepHeaders() {
	if im.file == nil {
		return
	}
	n := int64(0)
	for _, s := range im.file.Sections {
		n += headerSize + int64(len(s.Name))
	}
	if n <= uncounted || im.Keep(n) {
		return
	}
	if eh, err := elffile.ReadHeader(im.r); err == nil {
		if f, err := elf.NewFile(eh.WithoutSections(im.r)); err == nil {
			im.file = f
		}
	}
}

// Unpack reports whether n bytes of the image may be unpacked, and counts them if so.
func (im *Image) Unpack(n int64) bool { return im.room == nil || take(&im.room.work, n) }
