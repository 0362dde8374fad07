package elfimage

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
// and can be made again gives way; see [Evictable].

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

// ErrBudget says that the files of a process together expand to too much for all of it to be kept.
var ErrBudget = errors.New("all files of the process together expand to too much: this is left out")

// Budget bounds the memory that is kept of what the images of one process expand to, and the work
// of expanding it. Each image that joins it adds what its file may honestly need; its zero value
// has room for no image yet. It is safe for concurrent use.
type Budget struct {
	kept, work atomic.Int64 // bytes that are left

	mu       sync.Mutex
	there    int64 // bytes of all files
	largest  int64 // bytes of the largest
	granted  int64 // bytes that kept began with
	unpinned unpinned
}

// grant makes room for what a file of that many bytes may honestly expand to.
func (b *Budget) grant(there int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.granted == 0 {
		b.work.Add(usualWork)
	}
	b.there += there
	b.largest = max(b.largest, min(there, largestFile))
	all := usualRoom + largestRoom*b.largest + lastRoom*max(b.there-usualFiles, 0)
	b.kept.Add(all - b.granted)
	b.granted = all
	b.work.Add(timesWork * there)
}

// keep takes n bytes of the room, for which unpinned Evictables are dropped if need be.
func (b *Budget) keep(n int64) bool {
	for !take(&b.kept, n) {
		if !b.giveWay() {
			return false
		}
	}
	return true
}

func take(left *atomic.Int64, n int64) bool {
	if left.Add(-n) >= 0 {
		return true
	}
	left.Add(n) // less may fit
	return false
}

// Budget returns the budget that the image has joined, nil if it has joined none.
func (im *Image) Budget() *Budget { return im.budget.Load() }

// Join has the image share b with the other images of a process. Nothing changes if b is nil,
// or the image has joined a budget before. Join may be called while the image is used, but b does
// not count the memory of earlier uses. If b has no room for the section headers, the image loses
// its sections.
func (im *Image) Join(b *Budget) {
	im.joining.Lock()
	defer im.joining.Unlock()
	if b == nil || im.Budget() != nil {
		return
	}
	if im.inMemory {
		b.grant(0) // memory that is mapped may be the same page over and over
	} else {
		b.grant(im.there)
	}
	im.budget.Store(b)
	im.keepHeaders()
}

// Reserve reports whether n more bytes of what the image expands to may be kept, and counts them if so.
// To make room it may drop what an [Evictable] holds.
func (im *Image) Reserve(n int64) bool {
	b := im.Budget()
	return b == nil || b.keep(n)
}

// Release gives back n bytes that [Image.Reserve] has counted.
func (im *Image) Release(n int64) {
	if b := im.Budget(); b != nil {
		b.kept.Add(n)
	}
}

// uncounted is of how many bytes that are read of a file, at most, nobody keeps account.
const uncounted = 16 << 10

// roomOnce takes room for n bytes that are kept of a part of the file, unless it has done so before.
// The caller holds im.mu.
func (im *Image) roomOnce(part any, n int64) error {
	if im.Budget() == nil {
		return nil
	}
	more := n - im.counted[part]
	if n <= uncounted || more <= 0 {
		return nil
	}
	if !im.Reserve(more) {
		return fmt.Errorf("read %#x bytes: %w", n, ErrBudget)
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
	f := im.ELF()
	if f == nil {
		return
	}
	n := int64(0)
	for _, s := range f.Sections {
		n += headerSize + int64(len(s.Name))
	}
	if n <= uncounted || im.Reserve(n) {
		return
	}
	if eh, err := elffile.ReadHeader(im.r); err == nil {
		if f, err := elf.NewFile(eh.WithoutSections(im.r)); err == nil {
			im.file.Store(f)
		}
	}
}

// ReserveWork reports whether n more bytes of the image may be unpacked, and counts them if so.
func (im *Image) ReserveWork(n int64) bool {
	b := im.Budget()
	return b == nil || take(&b.work, n)
}
