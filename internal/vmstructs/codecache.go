package vmstructs

import (
	"errors"
	"fmt"
)

// Bounds for the heaps of a broken process.
const (
	maxHeaps   = 8           // releases have one, three or four
	maxSegment = 20          // log2 of a segment's size
	maxHops    = 1 << 14     // from a segment to its block's first
	fewHops    = 1 << 8      // so many hops take next to no time
	maxBlob    = 1 << 30     // bytes
	maxWords   = 1 << 20     // of a frame
	freeBlock  = 0xff        // a segment that belongs to no block
	perHops    = fewHops / 8 // how many hops count as one instruction of a search
)

// The errors of [CodeCache.Find].
var (
	ErrNoBlob   = errors.New("the Java virtual machine has no code at PC")
	ErrNoFrame  = errors.New("the Java virtual machine does not say how large the frame is")
	ErrNoEffort = errors.New("too much code without tables was looked at already")
)

// CodeCache says where a virtual machine has the code that it has made.
type CodeCache struct {
	heaps          Field // the list of code heaps; old releases have only heap
	heap           Field
	length, data   Field // of a GrowableArray
	memory, segmap uint64
	low, high      uint64 // of a VirtualSpace
	segment        Field  // log2 of a segment's size
	used           Field
	header         uint64 // size of HeapBlock

	frameSize, complete  Field
	codeBegin, codeEnd   Field // addresses; if the tables lack them,
	codeOffset, codeStop Field // offsets in the blob
}

// Blob is a piece of code: a CodeBlob.
type Blob struct {
	At       uint64 // the address of the CodeBlob itself
	Lo, Hi   uint64 // its code
	Frame    int32  // size of its frame in words, with the return address
	Complete int64  // distance from Lo, in bytes, at which the frame is set up; negative if not known
}

// Effort bounds how long a look-up may take.
type Effort interface {
	MaySearch() bool
	CountSearched(n int) (more bool)
}

// Needed takes fields from tables. It notes the first one that is missing.
type Needed struct {
	*Tables
	missing string
}

// Field returns the first of these fields that is there.
func (t *Needed) Field(names ...string) (f Field) {
	for _, name := range names {
		if f, ok := t.Fields[name]; ok {
			return f
		}
	}
	t.Lacks(names[0])
	return f
}

// Number returns the first of these fields that is there, which must be a number.
func (t *Needed) Number(names ...string) Field {
	f := t.Field(names...)
	if f.Size == 0 {
		t.Lacks("the type of " + names[0])
	}
	return f
}

// Bytes returns the size of a type.
func (t *Needed) Bytes(name string) uint64 {
	n := t.Types[name].Size
	if n == 0 {
		t.Lacks(name)
	}
	return n
}

// Lacks notes what is missing.
func (t *Needed) Lacks(what string) {
	if t.missing == "" {
		t.missing = what
	}
}

// Err says what was missing; nil if nothing was.
func (t *Needed) Err() error {
	if t.missing == "" {
		return nil
	}
	return fmt.Errorf("the Java virtual machine's tables leave out %s", t.missing)
}

// CodeCache returns where the machine has its code.
func (t *Needed) CodeCache() (c CodeCache) {
	if heap, ok := t.Fields["CodeCache::_heap"]; ok {
		c.heap = heap
	} else {
		c.heaps = t.Field("CodeCache::_heaps")
		c.length = t.Field("GrowableArrayBase::_len", "GenericGrowableArray::_len")
		c.data = t.Field("GrowableArray<int>::_data")
	}
	c.memory, c.segmap = t.Field("CodeHeap::_memory").Offset, t.Field("CodeHeap::_segmap").Offset
	c.low, c.high = t.Field("VirtualSpace::_low").Offset, t.Field("VirtualSpace::_high").Offset
	c.segment = t.Number("CodeHeap::_log2_segment_size")
	c.used = t.Number("HeapBlock::Header::_used")
	c.used.Offset += t.Field("HeapBlock::_header").Offset
	c.header = t.Bytes("HeapBlock")
	c.frameSize, c.complete = t.Number("CodeBlob::_frame_size"), t.Number("CodeBlob::_frame_complete_offset")
	if begin, ok := t.Fields["CodeBlob::_code_begin"]; ok {
		c.codeBegin, c.codeEnd = begin, t.Field("CodeBlob::_code_end")
	} else {
		c.codeOffset, c.codeStop = t.Number("CodeBlob::_code_offset"), t.Number("CodeBlob::_data_offset")
	}
	return c
}

// Find returns the blob that pc is in. effort may be nil.
func (c *CodeCache) Find(r *Reader, pc uint64, effort Effort) (b Blob, err error) {
	if heap, low, ok := c.heapOf(r, pc); ok {
		return c.within(r, pc, effort, heap, low)
	}
	return b, ErrNoBlob
}

// Has reports whether pc is where the machine has the code that it makes, if there is some or not.
func (c *CodeCache) Has(r *Reader, pc uint64) bool {
	_, _, ok := c.heapOf(r, pc)
	return ok
}

// heapOf returns the address of the code heap that pc is in, and where its memory begins.
func (c *CodeCache) heapOf(r *Reader, pc uint64) (heap, low uint64, ok bool) {
	for i := range uint64(maxHeaps) {
		if heap, ok = c.nth(r, i); !ok {
			break
		}
		low, ok = r.Word(heap + c.memory + c.low)
		high, known := r.Word(heap + c.memory + c.high)
		if ok && known && pc >= low && pc < high {
			return heap, low, true
		}
	}
	return 0, 0, false
}

// nth returns the address of a code heap.
func (c *CodeCache) nth(r *Reader, i uint64) (heap uint64, ok bool) {
	if c.heaps.Offset == 0 {
		heap, ok = r.Word(c.heap.Offset)
		return heap, ok && i == 0
	}
	list, ok := r.Word(c.heaps.Offset)
	if !ok || list == 0 {
		return 0, false
	}
	if n, ok := r.Number(list, c.length); !ok || int64(i) >= n {
		return 0, false
	}
	data, ok := r.Pointer(list, c.data)
	if !ok {
		return 0, false
	}
	return r.Word(data + 8*i)
}

// within returns the blob that pc is in, in a heap whose memory begins at low. Each segment of that
// memory has a byte in the heap's map, which says how many segments back its block may begin.
func (c *CodeCache) within(r *Reader, pc uint64, effort Effort, heap, low uint64) (b Blob, err error) {
	shift, ok := r.Number(heap, c.segment)
	segmap, known := r.Word(heap + c.segmap + c.low)
	if !ok || !known || shift < 0 || shift > maxSegment {
		return b, ErrUnread
	}
	at := (pc - low) >> uint(shift)
	hops := 0
	for lo, near := at+1, []byte(nil); ; hops++ {
		if at < lo { // read the map backwards
			n := min(at+1, MostRead)
			lo = at + 1 - n
			if near = r.Read(segmap+lo, int(n)); uint64(len(near)) < n {
				return b, ErrUnread
			}
		}
		back := uint64(near[at-lo])
		if back == 0 {
			break
		}
		if back == freeBlock || back > at || hops == maxHops {
			return b, ErrNoBlob
		}
		if hops == fewHops && effort != nil && !effort.MaySearch() {
			return b, ErrNoEffort
		}
		at -= back
	}
	if hops > fewHops && effort != nil {
		effort.CountSearched(hops / perHops)
	}
	block := low + at<<uint(shift)
	if used, ok := r.Number(block, c.used); !ok || used == 0 {
		return b, ErrNoBlob
	}
	return c.blob(r, pc, block+c.header)
}

// blob reads a CodeBlob, which pc must be in.
func (c *CodeCache) blob(r *Reader, pc, at uint64) (b Blob, err error) {
	ok, known := true, true
	if c.codeBegin.Offset != 0 {
		b.Lo, ok = r.Pointer(at, c.codeBegin)
		b.Hi, known = r.Pointer(at, c.codeEnd)
	} else {
		var lo, hi int64
		lo, ok = r.Number(at, c.codeOffset)
		hi, known = r.Number(at, c.codeStop)
		b.Lo, b.Hi = at+uint64(lo), at+uint64(hi)
	}
	if !ok || !known {
		return b, ErrUnread
	}
	if pc < b.Lo || pc >= b.Hi || b.Hi-b.Lo > maxBlob {
		return b, ErrNoBlob
	}
	b.At = at
	size, ok := r.Number(at, c.frameSize)
	if b.Complete, known = r.Number(at, c.complete); !ok || !known {
		return b, ErrUnread
	}
	if size < 2 || size > maxWords {
		return b, ErrNoFrame
	}
	if b.Frame = int32(size); b.Complete >= int64(b.Hi-b.Lo) {
		b.Complete = -1
	}
	return b, nil
}
