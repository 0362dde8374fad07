package live

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/target/procmaps"
)

// view is the address space in which one thread's stack is walked. It has the copies that were made
// while the thread was held. When other memory is read that the process may write to, the view
// copies that, too. Such a copy is of the same moment if the thread is still held, or stands still;
// else it is marked late.
type view struct {
	copies
	memory *memory
	tid    int
	sp, pc uint64

	// first is the inner part of the stack, copied when sp was read; empty if there is none, nil
	// when it was dropped.
	first atomic.Pointer[block]

	moved atomic.Bool   // late memory was read
	used  atomic.Uint64 // where the part of first that was read ends

	mu     sync.Mutex // held while copies are made
	held   bool       // the thread is held
	passed []span     // ranges of the copies that are not kept, oldest first
	old    bool       // another view has replaced this one
	size   int64      // size of the copies, bytes
	wanted uint64     // the address of the first late read
	lates  []span     // what was copied late; at most maxLates
	stood  bool       // the thread was seen to be blocked where it was
	turns  uint64     // how often the thread had got a processor by then; 0 if that is not known

	looked atomic.Pointer[look]  // nil if the thread was not looked at for a common
	shared map[uint64]*block     // what was read of a common or by takeHeld, by pages; nil if nothing was
	recent atomic.Pointer[block] // the one of shared that was read last
	unsure atomic.Bool           // shared has copies of which settle must find out whether they are late
}

// ReadMemory implements [target.Memory].
func (v *view) ReadMemory(addr uint64, p []byte) (n int, err error) {
	return read(addr, p, v.memory.live, func(at uint64) (b *block, end uint64) {
		if b := v.holder(at); b != nil {
			v.use(at + uint64(len(p)))
			return b, 0
		}
		if b := v.sharedAt(at); b != nil {
			return b, 0
		}
		data, end := v.mayChange(at)
		if data {
			if b := v.share(at); b != nil {
				return b, 0
			}
			return v.take(at), end
		}
		return nil, end
	})
}

// Window implements [target.CopiedMemory].
func (v *view) Window(addr uint64) (lo uint64, data []byte) {
	b := v.holder(addr)
	if b == nil || b.late {
		return 0, nil
	}
	lo, data = b.lo, b.data
	first := v.first.Load()
	if end := addr&^(pageSize-1) + pageSize + 64; first != nil && addr < first.hi() && addr >= first.lo && end-lo < uint64(len(data)) {
		data = data[:end-lo] // the reader asks again for more, which tells how much it uses
	}
	v.use(lo + uint64(len(data)))
	return lo, data
}

// use notes that first was read up to the address end.
func (v *view) use(end uint64) {
	first := v.first.Load()
	if first == nil {
		return
	}
	for end = min(end, first.hi()); ; {
		used := v.used.Load()
		if used >= end || v.used.CompareAndSwap(used, end) {
			return
		}
	}
}

// MovedOn implements [target.RunningMemory].
func (v *view) MovedOn(addr uint64, n int) bool {
	v.settle()
	return v.moved.Load() && anyPage(addr, n, v.movedAt)
}

// anyPage reports whether is returns true for an address in any page of the n bytes at addr. It
// also asks for the first and the last byte, because copies begin and end within pages.
func anyPage(addr uint64, n int, is func(addr uint64) bool) bool {
	last := addr + uint64(n) - 1
	for at := addr; at < last; at = at&^(pageSize-1) + pageSize {
		if is(at) {
			return true
		}
	}
	return is(last)
}

func (v *view) movedAt(addr uint64) bool {
	if b := v.holder(addr); b != nil {
		return b.late
	}
	if v.sharedAt(addr) != nil {
		return false
	}
	data, _ := v.mayChange(addr)
	return data
}

// mayChange reports whether the process may write to addr as it runs. end is where the next copy
// begins, or where the mapping of addr ends; 0 if neither is known.
func (v *view) mayChange(addr uint64) (may bool, end uint64) {
	list := v.all()
	if i := findBlock(list, addr); i < len(list) {
		end = list[i].lo
	}
	maps := v.memory.maps
	k, ok := procmaps.Find(maps, addr)
	if !ok {
		return true, end // memory may have been mapped there since
	}
	m := &maps[k]
	if end == 0 || end > m.Hi {
		end = m.Hi
	}
	// Writable code is not taken for data, unless the thread's own stack is executable.
	return m.Write && (!m.Exec || v.sp >= m.Lo && v.sp < m.Hi), end
}

const (
	maxStep    = 1 << 20   // bytes that are copied at a time, at most
	passStep   = 128 << 10 // the same for copies that are not kept
	leastOne   = pageSize  // bytes that are copied at a time, at least
	maxPassing = 8         // how many copies that are not kept may exist at once
)

// take copies the memory around addr, which no copy holds yet. On a stack, it copies more. It
// returns nil if nothing can be read, or if too much would be copied.
func (v *view) take(addr uint64) *block {
	v.mu.Lock()
	defer v.mu.Unlock()
	if b := v.holder(addr); b != nil {
		return b
	}
	if !v.memory.may(addr) {
		return nil
	}
	for _, part := range v.parts(addr) {
		if part.lo == part.hi {
			continue
		}
		size := int64(part.hi - part.lo)
		if v.memory.left.Add(-size) < 0 {
			v.memory.left.Add(size)
			v.late(addr)
			return nil
		}
		data := make([]byte, size)
		n, late := v.fetch(part.lo, data)
		v.memory.left.Add(size - int64(n))
		if uint64(n) <= addr-part.lo {
			v.memory.left.Add(int64(n))
			continue
		}
		b := block{lo: part.lo, data: data[:n], late: late}
		if late {
			v.late(addr)
			if len(v.lates) < maxLates {
				v.lates = append(v.lates, span{b.lo, b.hi()})
			}
		}
		v.size += int64(n)
		if b.passing = b.late && v.memory.lowMemory || !v.keeps(0); b.passing {
			if !v.memory.lowMemory {
				v.memory.passed.Store(true)
			}
			v.pass(b)
		} else {
			v.add(b)
		}
		v.memory.changed.Add(1)
		return v.holder(addr)
	}
	return nil
}

// maxLates and maxAgain bound what is copied at once when a thread is read once more: ranges, and
// bytes.
const maxLates, maxAgain = 1 << 10, 4 << 20

// again returns what was copied late, to be copied once more; nothing if that is too much.
func (v *view) again() (list []span) {
	v.mu.Lock()
	defer v.mu.Unlock()
	size := uint64(0)
	for _, s := range v.lates {
		size += s.hi - s.lo
	}
	if len(v.lates) == maxLates || size > maxAgain {
		return nil
	}
	list = slices.Clone(v.lates)
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	return list
}

// maxLooks bounds the looks at a thread that has turns on a processor all the time.
const maxLooks = 3

// fetch reads the process's memory at lo into data. It returns the number of bytes, from the first
// on, that it could read. late reports whether they may be of a later moment than the view's.
//
// The kernel lists a thread as blocked just before it leaves its processor. If the thread is
// preempted there, it has one more turn. So fetch looks at the thread again, unless other memory
// was read since an earlier look: it would be of the moment before that turn.
func (v *view) fetch(lo uint64, data []byte) (n int, late bool) {
	first := !v.stood
	for range maxLooks {
		stands := !v.held && v.stands()
		n, _ = v.memory.live.fetch(lo, data)
		if v.held || stands && v.memory.turns(v.tid) == v.turns {
			return n, false
		}
		if !stands || !first {
			break
		}
		v.stood = false
	}
	return n, true
}

// keeps reports whether the view keeps n more bytes of copies. As long as the thread stands still,
// other memory can be read again.
func (v *view) keeps(n int64) bool {
	if v.memory.lowMemory {
		return v.size+n <= spareKeep
	}
	return v.memory.left.Load()-n >= passLimit
}

// pass adds a copy that is not kept. If there are maxPassing such copies, the oldest one goes. If
// its memory is read again, it is copied again.
func (v *view) pass(b block) {
	out := span{lo: b.lo}
	if len(v.passed) == maxPassing {
		out = v.passed[0]
		v.passed = v.passed[1:]
		v.size -= int64(out.hi - out.lo)
		v.memory.left.Add(int64(out.hi - out.lo))
	}
	v.passed = append(v.passed, span{b.lo, b.hi()})
	v.exchange(b, out.lo)
}

// drop drops all copies, so that others may take their room.
func (v *view) drop() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.memory.left.Add(v.size)
	v.size, v.passed = 0, nil
	v.list.Store(nil)
	v.first.Store(nil)
	v.leave()
	v.memory.changed.Add(1)
}

// dropPassed drops the copies that are not kept.
func (v *view) dropPassed() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.passed) == 0 {
		return
	}
	for _, out := range v.passed {
		v.size -= int64(out.hi - out.lo)
		v.memory.left.Add(int64(out.hi - out.lo))
	}
	v.passed = nil
	list := slices.DeleteFunc(slices.Clone(v.all()), func(b block) bool { return b.passing })
	v.list.Store(&list)
	v.memory.changed.Add(1)
}

// parts returns two ranges to copy for addr: first what walking a stack outward needs, then, in
// case that cannot be read, the page alone.
func (v *view) parts(addr uint64) (parts [2]span) {
	page := addr &^ (pageSize - 1)
	parts[1] = span{page, page + leastOne}
	list := v.all()
	i := findBlock(list, addr)
	if i > 0 {
		b := &list[i-1]
		parts[1].lo = max(page, b.hi())
		most := uint64(maxStep)
		if v.memory.lowMemory && v.moved.Load() || !v.keeps(maxStep) {
			most = passStep
		}
		if n := min(outward(b), most); v.memory.continues(b, addr) && addr-b.hi() < n && b.hi()+n > b.hi() {
			parts[0] = span{b.hi(), b.hi() + n}
		}
	}
	_, end := v.mayChange(addr)
	for i := range parts {
		if end > addr {
			parts[i].hi = min(parts[i].hi, end)
		}
	}
	return parts
}

// outward returns how much may be copied of the stack of which b is a copy, outward of it.
func outward(b *block) uint64 { return min(max(2*uint64(len(b.data)), leastOne), maxStep) }

// continues reports whether the memory at addr, outward of a copy, may be of the same stack. What
// is mapped right behind a stack is of another use, even if a copy of the stack reaches into it.
func (m *memory) continues(b *block, addr uint64) bool {
	if addr-b.hi() >= outward(b) {
		return false
	}
	k, ok := procmaps.Find(m.maps, b.lo)
	if !ok {
		return true
	}
	end := m.maps[k].Hi
	for k++; k < len(m.maps) && m.maps[k].Lo == end && m.maps[k].Path == "[stack]"; k++ {
		end = m.maps[k].Hi // mprotect has split the stack's mapping
	}
	return addr < end
}

// may reports whether there may be memory at addr: a reader may ask for any value that it takes for
// a pointer.
func (m *memory) may(addr uint64) bool {
	if _, ok := procmaps.Find(m.maps, addr); ok {
		return true
	}
	var b [1]byte // it may have been mapped since
	n, _ := m.live.fetch(addr, b[:])
	return n > 0
}

// late notes that the memory at addr is of another moment.
func (v *view) late(addr uint64) {
	if !v.moved.Swap(true) {
		v.wanted = addr
		v.memory.moved.Store(true)
	}
}

// stands reports whether the thread has been blocked at the same place since it was held. Once the
// view has late memory, stands returns false. Memory that the caller reads after stands is of the
// same moment only if the thread has not got a processor since; the caller must check that.
func (v *view) stands() bool {
	switch {
	case v.moved.Load() || v.memory.there == nil:
		return false
	case v.stood && v.turns > 0:
		return true
	}
	v.turns = v.memory.turns(v.tid)
	v.stood = v.memory.there(v) && v.memory.same(v)
	return v.stood
}

// rests implements [Thread.Rests]. The kernel tells where a thread is blocked only when it has left
// its processor: if it got none before and after that, it gets there with a later turn alone.
func (v *view) rests() (turns uint64, ok bool) {
	v.settle()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.held || !v.stands() || v.turns == 0 {
		return 0, false
	}
	return v.turns, v.memory.turns(v.tid) == v.turns
}

// release says that the thread is no longer held.
func (v *view) release() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.held = false
}

// forget frees the room of a view that another view has replaced. Holders of the old view can still
// read it.
func (v *view) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.memory.left.Add(v.size)
	v.size, v.old = 0, true
	v.leave()
}

func (v *view) forgotten() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.old
}
