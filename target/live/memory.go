package live

import (
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// span is a range of addresses [lo, hi).
type span struct{ lo, hi uint64 }

// block is a copy of memory.
type block struct {
	lo    uint64
	data  []byte
	owner *owner // the thread that it is of the stack of; nil for other memory
}

func (b *block) hi() uint64 { return b.lo + uint64(len(b.data)) }

// owner is a thread whose stack is copied in steps: first the inner part, more when
// somebody reads beyond.
type owner struct {
	tid    int
	step   uint64  // copied last, bytes
	anchor *anchor // where the thread has left the stack; nil for the one that it runs on

	// movedOn: the thread has run since the first copy, so that what was not copied
	// then is of another moment.
	movedOn atomic.Bool
}

// anchor is where a thread has changed stacks. As long as it has not returned there, the
// stack that it has left behind stands still.
type anchor struct {
	sp    uint64  // of the first frame on the stack that was changed to
	lo    uint64  // address of was
	was   []byte  // what is around sp
	inner *anchor // of the stack that was changed to, if the thread has left that as well
}

// memory is a process's address space: copies of the stacks, which grow, and behind
// them the process as it is now.
type memory struct {
	blocks atomic.Pointer[[]block] // ascending, disjoint; never changed, but replaced
	live   *pages

	mu   sync.Mutex // over growing
	maps []procmaps.Mapping
	left uint64 // how much more may be copied, bytes
	// lift copies a part of a thread's stack, unless the thread has returned, since the
	// block before it was copied, from frames that are there, or to the stack; before is
	// nil for the first part of a stack. lift is nil where stacks do not grow.
	lift func(o *owner, before *block, part span) (data []byte, same bool)
}

func (m *memory) copies() []block {
	if p := m.blocks.Load(); p != nil {
		return *p
	}
	return nil
}

// add puts more copies in.
func (m *memory) add(blocks ...block) {
	all := disjoint(append(slices.Clip(m.copies()), blocks...))
	m.blocks.Store(&all)
}

// ReadMemory implements [target.Memory].
func (m *memory) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for n < len(p) {
		at, rest := addr+uint64(n), p[n:]
		if at < addr {
			return n, fmt.Errorf("read %d bytes at %#x: the address space ends: %w", len(p), addr, target.ErrUnmapped)
		}
		copies := m.copies()
		i := findBlock(copies, at)
		if i < len(copies) && copies[i].lo <= at {
			n += copy(rest, copies[i].data[at-copies[i].lo:])
			continue
		}
		if m.grow(at) {
			continue
		}
		if i < len(copies) {
			if room := copies[i].lo - at; room < uint64(len(rest)) {
				rest = rest[:room]
			}
		}
		got, err := m.live.read(at, rest)
		n += got
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Window implements [target.Lender].
func (m *memory) Window(addr uint64) (lo uint64, data []byte) {
	copies := m.copies()
	if i := findBlock(copies, addr); i < len(copies) && copies[i].lo <= addr {
		return copies[i].lo, copies[i].data
	}
	return 0, nil
}

// MovedOn implements [target.Mover].
func (m *memory) MovedOn(addr uint64) bool {
	copies := m.copies()
	before := m.below(copies, addr)
	return before != nil && before.owner.movedOn.Load()
}

// around is how much is compared, in bytes, on both sides of where a thread has changed
// stacks: the function that it has called there, and what was stored for the return.
const (
	aroundIn  = 64
	aroundOut = 16
)

// Follow implements [target.Follower].
func (m *memory) Follow(at, to uint64) (same bool) {
	if m.lift == nil {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	copies := m.copies()
	from := holder(copies, at)
	if from == nil || from.owner == nil {
		return true // nothing was copied of this thread
	}
	there := holder(copies, to)
	if there != nil && there.owner != nil && there.owner.tid == from.owner.tid && (there.owner.anchor == nil || there.owner.anchor.sp == at) {
		return !there.owner.movedOn.Load()
	}
	k, ok := procmaps.Find(m.maps, to)
	if !ok || !m.maps[k].Read {
		return true // not a stack: what is read there fails
	}
	lo := max(from.lo, at-min(at, aroundIn))
	hi := min(from.hi(), at+aroundOut)
	o := &owner{tid: from.owner.tid, step: firstCopy, anchor: &anchor{at, lo, from.data[lo-from.lo : hi-from.lo], from.owner.anchor}}
	part := span{max(to-min(to, aroundIn), m.maps[k].Lo), min(to+firstCopy, m.maps[k].Hi)} // the return address is inward of it
	if i := findBlock(copies, to); i < len(copies) && copies[i].lo > to {
		part.hi = min(part.hi, copies[i].lo)
	}
	if part.hi-part.lo > m.left {
		return false
	}
	data, same := m.lift(o, nil, part)
	if !same {
		from.owner.movedOn.Store(true)
	}
	if same && len(data) > 0 {
		m.left -= uint64(len(data))
		m.add(block{part.lo, data, o})
	}
	return same
}

// holder returns the copy that addr is in, or nil.
func holder(copies []block, addr uint64) *block {
	if i := findBlock(copies, addr); i < len(copies) && copies[i].lo <= addr {
		return &copies[i]
	}
	return nil
}

// copied returns what is copied from addr on, as far as it is in one block.
func (m *memory) copied(addr uint64) []byte {
	if lo, data := m.Window(addr); data != nil {
		return data[addr-lo:]
	}
	return nil
}

// below returns the copy of a stack that addr, which is in no copy, lies outward of:
// in the same mapping, with no other thread's copy between them. It is nil for an
// address that is on no stack.
func (m *memory) below(copies []block, addr uint64) *block {
	i := findBlock(copies, addr)
	if i < len(copies) && copies[i].lo <= addr || i == 0 || copies[i-1].owner == nil {
		return nil
	}
	k, ok := procmaps.Find(m.maps, addr)
	if !ok || !m.maps[k].Read || copies[i-1].hi() < m.maps[k].Lo {
		return nil
	}
	return &copies[i-1]
}

// maxStep is how much is copied at a time: what a thread is held for, if it must be.
const maxStep = 1 << 20

// grow copies more of the stack that addr is on, and reports whether addr is in a copy
// now. It is not where addr is on no stack, where the thread has moved on, or where
// too much would be copied.
func (m *memory) grow(addr uint64) bool {
	if m.lift == nil || m.below(m.copies(), addr) == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	copies := m.copies()
	before := m.below(copies, addr)
	if before == nil {
		return m.copied(addr) != nil
	}
	o := before.owner
	k, _ := procmaps.Find(m.maps, addr)
	step := min(2*o.step, maxStep)
	part := span{max(before.hi(), addr&^(pageSize-1)), 0}
	part.hi = min(part.lo+step, m.maps[k].Hi)
	if i := findBlock(copies, addr); i < len(copies) {
		part.hi = min(part.hi, copies[i].lo)
	}
	if o.movedOn.Load() || part.hi-part.lo > m.left || addr-part.lo >= part.hi-part.lo {
		return false
	}
	data, same := m.lift(o, before, part)
	if !same {
		o.movedOn.Store(true)
	}
	if !same || addr-part.lo >= uint64(len(data)) {
		return false
	}
	o.step = step
	m.left -= uint64(len(data))
	m.add(block{part.lo, data, o})
	return true
}

// findBlock returns the position of the first copy that ends above addr.
func findBlock(copies []block, addr uint64) int {
	return sort.Search(len(copies), func(i int) bool { return copies[i].hi() > addr })
}

// missing returns the parts of the wanted ranges that are in no copy yet,
// ascending and disjoint.
func missing(copies []block, want []span) (parts []span) {
	sort.Slice(want, func(i, j int) bool { return want[i].lo < want[j].lo })
	at := uint64(0)
	for _, w := range want {
		at = max(at, w.lo)
		for i := findBlock(copies, at); at < w.hi && i < len(copies) && copies[i].lo < w.hi; i++ {
			if at < copies[i].lo {
				parts = append(parts, span{at, copies[i].lo})
			}
			at = copies[i].hi()
		}
		if at < w.hi {
			parts = append(parts, span{at, w.hi})
			at = w.hi
		}
	}
	return parts
}

// disjoint sorts copies. Of two that overlap, the one that begins further outward keeps
// what both have: it is the inner part of its thread's stack.
func disjoint(blocks []block) []block {
	sort.SliceStable(blocks, func(i, j int) bool { return blocks[i].lo < blocks[j].lo })
	kept := blocks[:0]
	for i, b := range blocks {
		if i+1 < len(blocks) && blocks[i+1].lo < b.hi() {
			b.data = b.data[:blocks[i+1].lo-b.lo]
		}
		if len(b.data) > 0 {
			kept = append(kept, b)
		}
	}
	return kept
}

const (
	pageSize  = 4096      // the finest grain at which memory is there or not
	chunkSize = 16 * 1024 // read at once
	maxChunks = 256       // kept
)

// pages reads a process's memory through a small cache: neighbouring words,
// which is what unwinding asks for, cost one system call, not one each.
type pages struct {
	pid int
	// fetch reads from the process: how many bytes from the first on could be
	// read. An error says that nothing can be read any more: ErrExited.
	fetch func(addr uint64, p []byte) (n int, err error)

	mu     sync.RWMutex
	chunks map[uint64]*chunk
	order  [maxChunks]uint64 // the chunks' addresses; next is the oldest once it is full
	next   int
}

// chunk is chunkSize bytes of memory, of which some pages may not be there.
type chunk struct {
	there uint8 // bit i: page i
	data  [chunkSize]byte
}

func (c *pages) read(addr uint64, p []byte) (n int, err error) {
	if len(p) >= chunkSize {
		n, err = c.fetch(addr, p)
	}
	for err == nil && n < len(p) {
		at := addr + uint64(n)
		var k *chunk
		if k, err = c.chunk(at &^ (chunkSize - 1)); err != nil {
			break
		}
		off := at & (chunkSize - 1)
		if k.there&(1<<(off/pageSize)) == 0 {
			break
		}
		n += copy(p[n:], k.data[off:(off|(pageSize-1))+1])
	}
	if n == len(p) {
		return n, nil
	}
	if err != nil {
		return n, fmt.Errorf("read memory of process %d at %#x: %w: %w", c.pid, addr+uint64(n), err, target.ErrUnmapped)
	}
	return n, fmt.Errorf("read %d bytes at %#x: nothing readable at %#x: %w", len(p), addr, addr+uint64(n), target.ErrUnmapped)
}

func (c *pages) chunk(lo uint64) (*chunk, error) {
	c.mu.RLock()
	k := c.chunks[lo]
	c.mu.RUnlock()
	if k != nil {
		return k, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k = c.chunks[lo]; k != nil {
		return k, nil
	}
	k = new(chunk)
	for off := uint64(0); off < chunkSize; {
		n, err := c.fetch(lo+off, k.data[off:])
		if err != nil {
			return nil, err // of no use to remember: every read will say so
		}
		for end := off + uint64(n); off+pageSize <= end; off += pageSize {
			k.there |= 1 << (off / pageSize)
		}
		off += pageSize // the page that could not be read, or could in part only
	}
	if c.chunks == nil {
		c.chunks = make(map[uint64]*chunk)
	}
	if len(c.chunks) == maxChunks {
		delete(c.chunks, c.order[c.next])
	}
	c.order[c.next], c.next = lo, (c.next+1)%maxChunks
	c.chunks[lo] = k
	return k, nil
}
