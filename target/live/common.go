package live

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/target/procmaps"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// common is memory outside of stacks that some threads have in common. It is copied after each of
// them was seen to be blocked, so that it is of the moment of all that have not got a processor
// since. The threads of an interpreter need one copy of the objects that all of them use, then.
//
// Whether a thread has got a processor is found out when somebody asks whether it has moved on, not
// at each read: see view.settle.
type common struct {
	members atomic.Int64 // views that may read it

	mu     sync.Mutex
	blocks map[uint64]*block // by their pages
}

// look is what was seen of a thread before memory was copied for a common.
type look struct {
	turns   uint64 // see memory.turns
	blocked bool
	of      *common // nil for none
}

const (
	lookFactor = 8       // by how much more threads are looked at together than the last time
	maxLook    = 64      // how many threads are looked at together, at most
	maxCommon  = 1 << 10 // pages of a common, at most
)

// look looks at the thread of v, together with threads that will probably be read next: the more
// threads have read memory outside of their stacks before, the more they are.
func (m *memory) look(v *view) *look {
	if seen := v.looked.Load(); seen != nil {
		return seen
	}
	m.looking.Lock()
	defer m.looking.Unlock()
	if seen := v.looked.Load(); seen != nil {
		return seen
	}
	n := max(m.together, 1)
	m.together = min(n*lookFactor, maxLook)
	of, own := &common{}, v.lookAt()
	others := m.after(v, n-1)
	looks := make([]*look, len(others))
	for i, x := range others {
		looks[i] = x.lookAt()
	}
	// Nothing is copied before all were looked at.
	v.join(own, of)
	for i, x := range others {
		if looks[i].blocked {
			x.join(looks[i], of)
		}
	}
	return v.looked.Load()
}

// after returns n views after v that were not looked at, or fewer if there are no more.
func (m *memory) after(v *view, n int) (list []*view) {
	if n == 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, x := range m.views[slices.Index(m.views, v)+1:] {
		if x.looked.Load() == nil {
			if list = append(list, x); len(list) == n {
				break
			}
		}
	}
	return list
}

// lookAt finds out whether the thread of v is blocked where it was.
func (v *view) lookAt() *look {
	turns := v.memory.turns(v.tid)
	return &look{turns: turns, blocked: turns > 0 && v.memory.there(v)}
}

// join makes v a member of a common if its thread was blocked.
func (v *view) join(seen *look, of *common) {
	if seen.blocked {
		of.members.Add(1)
		seen.of = of
	}
	if !v.looked.CompareAndSwap(nil, seen) && seen.blocked { // v has left before
		of.members.Add(-1)
	}
}

// sharedAt returns the copy of addr that v has in common with others, or that takeHeld has made;
// nil if there is none yet.
func (v *view) sharedAt(addr uint64) *block {
	if b := v.recent.Load(); b != nil && addr-b.lo < uint64(len(b.data)) {
		return b
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	b := v.shared[addr&^(pageSize-1)]
	if b == nil {
		return nil
	}
	b.read = true
	v.recent.Store(b)
	return b
}

// share is sharedAt for memory outside of the thread's stack that v has not read yet. It returns
// nil if no copy is surely of the thread's moment.
func (v *view) share(addr uint64) *block {
	m := v.memory
	if _, ok := procmaps.Find(m.maps, addr); !ok || m.there == nil {
		return nil
	}
	page := addr &^ (pageSize - 1)
	list := v.all()
	i := findBlock(list, page)
	if i < len(list) && list[i].lo-page < pageSize || i > 0 && m.continues(&list[i-1], addr) {
		return nil
	}
	if b, held := v.takeHeld(page); held {
		return b
	}
	seen := m.look(v)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.held || v.moved.Load() || seen.of == nil || v.stood && v.turns != seen.turns {
		return nil
	}
	first := v.shared == nil
	if first && !m.same(v) {
		return nil
	}
	b := seen.of.copy(m, page)
	if b == nil {
		return nil
	}
	if !first {
		v.unsure.Store(true)
	} else if m.turns(v.tid) != seen.turns {
		// The kernel lists a thread as blocked just before it leaves its processor. So the one turn
		// after that is no reason to read the thread once more, and fetch looks at it again.
		v.leave()
		return nil
	} else {
		v.stood, v.turns, v.shared = true, seen.turns, map[uint64]*block{}
	}
	v.shared[page] = b
	return b
}

// takeHeld copies a page for a thread that is held: it is of the thread's moment, and of no
// other's. held is false for other threads. takeHeld returns nil as copy does.
func (v *view) takeHeld(page uint64) (b *block, held bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.held || !v.keeps(pageSize) {
		return nil, v.held
	}
	b = &block{lo: page, data: make([]byte, pageSize), read: true}
	if n, _ := v.memory.live.fetch(page, b.data); n < pageSize {
		return nil, true
	}
	v.memory.left.Add(-pageSize)
	v.size += pageSize
	if v.shared == nil {
		v.leave() // what is held now runs later
		v.shared = map[uint64]*block{}
	}
	v.shared[page] = b
	return b, true
}

// hold gives a thread that is held copies of pages outside of its stack.
func (v *view) hold(pages []block) {
	v.leave()
	v.shared = make(map[uint64]*block, len(pages))
	for i := range pages {
		if b := &pages[i]; b.lo%pageSize == 0 && len(b.data) == pageSize {
			v.shared[b.lo] = b
			v.size += pageSize
		}
	}
}

// readPages returns the addresses of the pages outside of its stack that were read while the thread
// was held, ascending.
func (v *view) readPages() (list []uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for page, b := range v.shared {
		if b.read {
			list = append(list, page)
		}
	}
	slices.Sort(list)
	return list
}

// copy returns the copy of a page, nil if it cannot be read, or there is no room for it.
func (c *common) copy(m *memory, page uint64) *block {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.blocks[page]; b != nil {
		return b
	}
	if len(c.blocks) == maxCommon || m.left.Load()-pageSize < passLimit {
		return nil
	}
	b := &block{lo: page, data: make([]byte, pageSize)}
	if n, _ := m.live.fetch(page, b.data); n < pageSize {
		return nil
	}
	if c.blocks == nil {
		c.blocks = map[uint64]*block{}
	}
	c.blocks[page] = b
	m.left.Add(-pageSize)
	return b
}

// settle finds out whether what v has in common with others is of its thread's moment: if the
// thread has got a processor since it was looked at, it is marked as late.
func (v *view) settle() {
	if !v.unsure.Load() {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.unsure.Swap(false) || v.memory.turns(v.tid) == v.turns {
		return
	}
	for _, b := range v.shared {
		v.late(b.lo)
		if len(v.lates) < maxLates {
			v.lates = append(v.lates, span{b.lo, b.hi()})
		}
	}
	v.leave()
}

// leave has v have nothing more in common with others.
func (v *view) leave() {
	v.shared = nil
	v.recent.Store(nil)
	seen := v.looked.Swap(&look{})
	if seen == nil || seen.of == nil || seen.of.members.Add(-1) > 0 {
		return
	}
	c := seen.of
	c.mu.Lock()
	defer c.mu.Unlock()
	v.memory.left.Add(int64(len(c.blocks)) * pageSize)
	c.blocks = nil
}

// sharedBlocks returns what v has in common with others, for a snapshot.
func (v *view) sharedBlocks() (list []snapshot.Block) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, b := range v.shared {
		list = append(list, snapshot.Block{Addr: b.lo, Data: b.data})
	}
	return list
}
