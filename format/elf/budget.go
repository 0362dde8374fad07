package elf

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/internal/elffile"
)

// A small file can expand to a large one, and a process can map hundreds of files. So the memory
// for what all its files expand to has a bound. When it is reached, data of other files that can be
// made again gives way; see [Evictable].

const (
	// usualRoom bytes may be kept, whatever the files are. The largest file, as far as it has no
	// holes and up to largestFile bytes, allows largestRoom more for each of its bytes: a C++
	// library with compressed debug information, read to the end, takes up eight times its size.
	// All files together allow lastRoom more for each byte beyond usualFiles: debug information
	// compresses to half its size.
	usualRoom   = 80 << 20
	largestRoom = 8
	largestFile = 32 << 20
	lastRoom    = 2
	usualFiles  = 128 << 20
	// usualWork bytes, and timesWork for each byte of the files, may be unpacked, or read once
	// more. Of a C++ library of 24 MB, the names of 300,000 addresses in any order take 20 for each
	// byte of its debug file (156 MB).
	usualWork, timesWork = 1 << 30, 64
	// A compressed section and all that is made of it take up unpackedTimes its unpacked size.
	unpackedTimes = 3
)

// ErrBudget says that the files of a process together expand to too much for all of it to be kept.
var ErrBudget = errors.New("all files of the process together expand to too much: this is left out")

// Budget bounds the memory that the images of one process expand to, and the work of expanding
// them. Each image that joins it adds what its file may honestly need. The zero value has no room
// yet. A Budget is safe for concurrent use.
type Budget struct {
	// Others, if it is not 0, is the most that the files of other users allow together beside the
	// largest one, bytes. Who looks on for a long time sees files that come and go, without an end.
	// Files that belong to root or to this program's user count as ever.
	Others int64

	kept, work atomic.Int64 // bytes that are left

	mu       sync.Mutex
	there    int64 // bytes of all files, without holes, as far as they count
	others   int64 // bytes of other users
	largest  int64 // bytes of the largest file, without holes
	granted  int64 // bytes that kept began with
	unpinned unpinned
}

// grant makes room for what a file with there bytes on disk may honestly expand to. own says that
// it is not another user's.
func (b *Budget) grant(there int64, own bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.granted == 0 {
		b.work.Add(usualWork)
	}
	counts := there
	if !own && b.Others > 0 {
		counts = min(there, b.Others-b.others)
		b.others += counts
	}
	b.there += counts
	b.largest = max(b.largest, min(there, largestFile))
	all := usualRoom + largestRoom*b.largest + lastRoom*max(b.there-usualFiles, 0)
	b.kept.Add(all - b.granted)
	b.granted = all
	b.work.Add(timesWork * there)
}

// Tight reports whether less than a quarter is left of the room, or of the work, which the images
// that have joined may need.
func (b *Budget) Tight() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.granted > 0 && (b.kept.Load() < b.granted/4 || b.work.Load() < (usualWork+timesWork*b.there)/4)
}

// keep takes n bytes of the room. It drops unpinned Evictables to make room.
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

// Budget returns the budget that the image has joined; nil if it has joined none.
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
		b.grant(0, true) // all of the mapped memory may be one page
	} else {
		b.grant(im.there, b.Others == 0 || im.own())
	}
	im.budget.Store(b)
	im.keepHeaders()
}

// own reports whether the image's file is not another user's.
func (im *Image) own() bool {
	f := im.OSFile()
	return f == nil || elffile.Own(f)
}

// Reserve reports whether the image may keep n more bytes of what it expands to, and counts them if
// so. To make room it may drop what an [Evictable] holds.
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

// A part of a file of up to uncounted bytes is read without being counted.
const uncounted = 16 << 10

// roomOnce takes room for n bytes, which are kept of a part of the file, unless it has taken room
// for that part before. The caller holds im.mu.
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

// headerSize is about the memory that a section header takes up, in bytes.
const headerSize = 320

// keepHeaders takes room for the section headers. If there is none, the image loses its sections.
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
	im.file.Store(&File{FileHeader: f.FileHeader, Programs: f.Programs})
}

// Room returns how many bytes all images of the image's budget together may keep; the largest
// number if there is no bound.
func (im *Image) Room() int64 {
	b := im.Budget()
	if b == nil {
		return math.MaxInt64
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.granted
}

// ReserveWork reports whether n more bytes of the image may be unpacked, and counts them if so.
func (im *Image) ReserveWork(n int64) bool {
	b := im.Budget()
	return b == nil || take(&b.work, n)
}
