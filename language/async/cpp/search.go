package cpp

import (
	"encoding/binary"
	"slices"

	"github.com/sfwalk/sfwalk/language/internal/malloc"
	"github.com/sfwalk/sfwalk/target"
)

// Bounds of the search in the memory of a process.
const (
	mostMemory = 4 << 30 // bytes that are searched through
	mostFound  = 1 << 20 // coroutines
	mostLeads  = 1 << 24 // pointers to coroutines that are looked at
)

// word returns the word that p begins with. Nearly all time goes into it: no method of an interface
// is called where that is not needed.
func (t *tasks) word(p []byte) uint64 {
	if t.little {
		return binary.LittleEndian.Uint64(p)
	}
	return t.arch.Order.Uint64(p)
}

// search finds the frames of coroutines: two pointers to functions, of which the first resumes a
// coroutine and the second one destroys it. The first is null if it has come to its end.
func (t *tasks) search(list []target.Mapping) {
	lo, hi := ^uint64(0), uint64(0)
	for at := range t.destroys {
		lo, hi = min(lo, at), max(hi, at)
	}
	whole := t.room.Words(t.memory, list, mostMemory, func(at uint64, data []byte) {
		for i := 8; i+8 <= len(data); i += 8 {
			word := t.word(data[i:])
			if word-lo > hi-lo {
				continue
			}
			of := t.destroys[word]
			if of == nil || len(t.list) == mostFound {
				continue
			}
			first := t.word(data[i-8:])
			for _, c := range of {
				if first == c.resume.lo || first == 0 {
					t.found(at+uint64(i-8), c, first == 0)
					break
				}
			}
		}
	})
	if !whole {
		t.fail("the process has more than %d GiB of memory that can have coroutines: the rest was not searched", mostMemory>>30)
	}
	if len(t.list) == mostFound {
		t.fail("there are more than %d coroutines", mostFound)
	}
}

// dropFree leaves out what lies in memory that is free: what a coroutine had there when it ended
// may stay there, and old handles lead to it.
func (t *tasks) dropFree() {
	addrs := make([]uint64, len(t.list))
	for i := range t.list {
		addrs[i] = t.list[i].at
	}
	kept := t.list[:0]
	for i, free := range malloc.Free(t.arch, t.memory, t.writable(), addrs) {
		if !free {
			kept = append(kept, t.list[i])
		}
	}
	t.list = kept
}

// leads finds out to which coroutines something leads that is not free: nobody can resume another
// one, so its memory is free, or it was forgotten.
func (t *tasks) leads(list []target.Mapping) {
	if len(t.list) == 0 {
		return
	}
	filter, lo, hi := newFilter(4*len(t.list)), t.list[0].at, uint64(0)
	for i := range t.list {
		end := t.end(i)
		for at := t.list[i].at / granule; at <= (end-1)/granule; at++ {
			filter.add(at)
		}
		hi = max(hi, end-1)
	}
	inner := map[int][]int{} // coroutines to which a coroutine leads
	var reached []int
	reach := func(i int) {
		if !t.list[i].reached {
			t.list[i].reached = true
			reached = append(reached, i)
		}
	}
	n := 0
	t.room.Words(t.memory, list, mostMemory, func(from uint64, data []byte) {
		for i := 0; i+8 <= len(data) && n < mostLeads; i += 8 {
			word := t.word(data[i:])
			if word-lo > hi-lo || !filter.has(word/granule) {
				continue
			}
			to := t.leadsInto(word)
			if to < 0 {
				continue
			}
			n++
			switch by := t.holder(from + uint64(i)); {
			case by < 0 && t.resumed(to, word):
				reach(to)
			case by < 0:
			case by != to:
				inner[by] = append(inner[by], to)
			}
		}
	})
	for _, addr := range t.registers {
		if i := t.leadsInto(addr); i >= 0 && t.resumed(i, addr) {
			reach(i)
		}
	}
	end := uint64(0)
	for i := range t.list { // what a compiler has put into another coroutine's frame is free there in the end
		x := &t.list[i]
		x.reached = x.reached && !(x.done && x.at < end)
		if !x.done {
			end = max(end, x.at+t.size(x.of))
		}
	}
	for len(reached) > 0 {
		i := reached[len(reached)-1]
		reached = reached[:len(reached)-1]
		for _, to := range append(inner[i], t.list[i].waiters...) {
			reach(to)
		}
	}
}

// granule is how many bytes a bit of the filter of [tasks.leads] stands for, at least.
const granule = 64

// mostUnknown bounds the part of a frame of unknown size to which pointers may lead, bytes.
const mostUnknown = 512

// end returns where the frame of the coroutine with number i ends. If its size is not known, other
// memory may follow before that.
func (t *tasks) end(i int) uint64 {
	x := &t.list[i]
	if l := t.layoutOf(x.of); l.size > 0 {
		return x.at + min(l.size, mostFrame)
	}
	end := x.at + max(t.size(x.of), mostUnknown)
	if i+1 < len(t.list) {
		end = min(end, max(t.list[i+1].at, x.at+16))
	}
	return end
}

// leadsInto returns the number of the coroutine to whose frame an address leads; -1 if there is
// none. Who resumes a coroutine need not have the address of its frame: what it waits with may be
// in a list, and lies in the frame.
func (t *tasks) leadsInto(addr uint64) int {
	i := t.before(addr)
	if i < 0 || addr >= t.end(i) {
		return -1
	}
	return i
}

// resumed reports whether the coroutine with number i may be resumed by who has an address in its
// frame: it waits in its body. What has come to its end is free soon, and old pointers lead to it.
func (t *tasks) resumed(i int, addr uint64) bool {
	if t.at(addr) == i {
		return true
	}
	x := &t.list[i]
	p, ok := t.pointOf(x)
	if t.begins(x) && t.onStacks.Thread(x.at) != 0 { // or the two pointers of a frame that was just made lie there
		return false
	}
	return ok && !x.done && (t.begins(x) || p.file == t.opens(x.of).file)
}

// holder returns the number of the coroutine whose frame has an address; -1 if there is none.
func (t *tasks) holder(addr uint64) int {
	i := t.before(addr)
	if i < 0 || addr-t.list[i].at >= t.size(t.list[i].of) {
		return -1
	}
	return i
}

// before returns the number of the last coroutine whose frame begins at an address or before; -1 if
// there is none.
func (t *tasks) before(addr uint64) int {
	i, is := slices.BinarySearchFunc(t.list, addr, func(x object, addr uint64) int {
		switch {
		case x.at < addr:
			return -1
		case x.at > addr:
			return 1
		}
		return 0
	})
	if !is {
		i--
	}
	return i
}

// size returns how large the frames of a coroutine are, bytes; what is certain if that is not
// known.
func (t *tasks) size(c *coroutine) uint64 {
	l := t.layoutOf(c)
	if l.size > 0 {
		return l.size
	}
	n := uint64(0)
	if l.promise.typ != nil {
		n, _ = l.promise.typ.SizeOf()
	}
	return max(16, l.promise.offset+n, l.index.offset+uint64(l.index.size))
}

// filter tells of most words that it does not have them.
type filter struct {
	bits  []uint64
	shift int
}

func newFilter(n int) *filter {
	f := &filter{shift: 64 - 16}
	for size := 1 << 12; size < n && f.shift > 64-26; size *= 2 { // 32 bits for each
		f.shift--
	}
	f.bits = make([]uint64, 1<<(64-f.shift)/64)
	return f
}

// place returns where the bit of a word is.
func (f *filter) place(word uint64) (at, bit uint64) {
	const golden = 0x9e3779b97f4a7c15
	n := word * golden >> f.shift
	return n / 64, n % 64
}

func (f *filter) add(word uint64) {
	at, bit := f.place(word)
	f.bits[at] |= 1 << bit
}

func (f *filter) has(word uint64) bool {
	at, bit := f.place(word)
	return f.bits[at]>>bit&1 != 0
}
