package live

import (
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// span is a range of addresses [lo, hi).
type span struct{ lo, hi uint64 }

// block is a copy of memory.
type block struct {
	lo   uint64
	data []byte
	late bool  // of another moment than the registers of the thread that it was copied for
	of   *view // the view of the thread; nil for memory of no thread
	// passing says that the copy is not kept: see view.pass.
	passing bool
	read    bool // of a copy in view.shared: somebody has read it
}

func (b *block) hi() uint64 { return b.lo + uint64(len(b.data)) }

func (b *block) holds(addr uint64) bool { return addr-b.lo < uint64(len(b.data)) }

// copies are copies of memory. Others may read them while more are made.
type copies struct {
	list atomic.Pointer[[]block] // ascending, disjoint; a list never changes, but is replaced
}

func (c *copies) all() []block {
	if p := c.list.Load(); p != nil {
		return *p
	}
	return nil
}

// holder returns the copy that holds addr, or nil.
func (c *copies) holder(addr uint64) *block { return holder(c.all(), addr) }

func holder(list []block, addr uint64) *block {
	if i := findBlock(list, addr); i < len(list) && list[i].lo <= addr {
		return &list[i]
	}
	return nil
}

// add adds copies.
func (c *copies) add(blocks ...block) {
	all := disjoint(append(slices.Clip(c.all()), blocks...))
	c.list.Store(&all)
}

// exchange adds a copy, and removes the one that begins at out.
func (c *copies) exchange(b block, out uint64) {
	list := slices.DeleteFunc(slices.Clone(c.all()), func(x block) bool { return x.passing && x.lo == out })
	all := disjoint(append(list, b))
	c.list.Store(&all)
}

// memory is a process's address space: the copies that were made for its threads, and elsewhere the
// process as it is now.
type memory struct {
	arch      *arch.Arch
	live      *pageCache
	maps      []procmaps.Mapping
	left      atomic.Int64 // how much more may be copied, bytes
	limit     int64        // how much may be copied and kept at most, bytes
	lowMemory bool         // each thread keeps only some of its copies: see view.keeps
	// there reports whether a thread is blocked where it was when its view was made. It is nil if
	// that cannot be told.
	there func(v *view) bool
	// same reports whether the part of a thread's stack that was read is as it was.
	same func(v *view) bool
	// turns returns how often a thread has got a processor; 0 if that is not known.
	turns func(tid int) uint64

	changed atomic.Int64 // how often copies were added or dropped
	moved   atomic.Bool  // some view has read late memory
	passed  atomic.Bool  // something was not kept for lack of room, not because of lowMemory

	looking  sync.Mutex // held while threads are looked at
	together int        // how many were looked at together the last time

	mu     sync.Mutex
	other  []block                // copies of no thread
	views  []*view                // one for each thread
	merged atomic.Pointer[merged] // nil before the first read
}

// merged holds the copies of all views.
type merged struct {
	list []block // ascending, disjoint: memory.other, and the views' copies that are not late
	of   int64   // the value of memory.changed when the list was made
}

// add adds copies that belong to no thread.
func (m *memory) add(blocks ...block) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.other = append(m.other, blocks...)
	m.changed.Add(1)
}

// show adds views to the address space, and forgets old ones.
func (m *memory) show(views, old []*view) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, v := range old {
		v.forget()
	}
	m.views = append(slices.DeleteFunc(m.views, (*view).forgotten), views...)
	m.changed.Add(1)
}

// copies returns all copies, ascending and disjoint. If threads have copies of one address from
// different moments, it returns one of these.
func (m *memory) copies() []block {
	if made := m.merged.Load(); made != nil && made.of == m.changed.Load() {
		return made.list
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.changed.Load()
	list := slices.Clone(m.other)
	for _, v := range m.views {
		for _, b := range v.all() {
			if !b.late {
				b.of = v
				list = append(list, b)
			}
		}
	}
	made := &merged{disjoint(list), now}
	m.merged.Store(made)
	return made.list
}

// ReadMemory implements [target.Memory].
func (m *memory) ReadMemory(addr uint64, p []byte) (n int, err error) {
	return read(addr, p, m.live, func(at uint64) (b *block, end uint64) {
		list := m.copies()
		i := findBlock(list, at)
		if i < len(list) && list[i].lo <= at {
			return &list[i], 0
		}
		if v := m.outward(list[:i], at); v != nil {
			if b := v.take(at); b != nil && !b.late {
				return b, 0
			}
		}
		if i < len(list) {
			return nil, list[i].lo
		}
		return nil, 0
	})
}

// read reads copies, and the process where there are none. find returns the copy that holds an
// address. If that is nil, read reads the process up to end; 0 stands for no end.
func read(addr uint64, p []byte, live *pageCache, find func(at uint64) (b *block, end uint64)) (n int, err error) {
	for n < len(p) {
		at, rest := addr+uint64(n), p[n:]
		if at < addr {
			return n, fmt.Errorf("read %d bytes at %#x: the address space ends: %w", len(p), addr, target.ErrUnmapped)
		}
		b, end := find(at)
		if b != nil {
			n += copy(rest, b.data[at-b.lo:])
			continue
		}
		if end > at && end-at < uint64(len(rest)) {
			rest = rest[:end-at]
		}
		got, err := live.read(at, rest)
		n += got
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Window implements [target.CopiedMemory].
func (m *memory) Window(addr uint64) (lo uint64, data []byte) {
	if b := holder(m.copies(), addr); b != nil {
		return b.lo, b.data
	}
	return 0, nil
}

// MovedOn implements [target.RunningMemory].
func (m *memory) MovedOn(addr uint64, n int) bool {
	return m.moved.Load() && anyPage(addr, n, m.movedAt)
}

func (m *memory) movedAt(addr uint64) bool {
	list := m.copies()
	i := findBlock(list, addr)
	if i < len(list) && list[i].lo <= addr {
		return false
	}
	v := m.outward(list[:i], addr)
	return v != nil && v.moved.Load()
}

// outward returns the view of the thread on whose stack addr lies: it has the last copy in list,
// and addr lies outward of that copy in the same mapping. outward returns nil for an address that
// is on no stack.
func (m *memory) outward(list []block, addr uint64) *view {
	if len(list) == 0 || list[len(list)-1].of == nil {
		return nil
	}
	b := &list[len(list)-1]
	k, ok := procmaps.Find(m.maps, addr)
	if !ok || !m.maps[k].Read || b.hi() < m.maps[k].Lo {
		return nil
	}
	return b.of
}

// findBlock returns the index of the first copy that ends above addr.
func findBlock(copies []block, addr uint64) int {
	return sort.Search(len(copies), func(i int) bool { return copies[i].hi() > addr })
}

// missing returns the parts of the wanted ranges that no copy holds yet, ascending and disjoint.
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

// disjoint sorts copies, and cuts copies that overlap. Of two copies, the one that begins further
// outward keeps the bytes that both have: it is the inner part of its thread's stack.
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
