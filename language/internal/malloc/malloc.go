// Package malloc tells which memory of a process glibc's allocator has free.
//
// What enters: the memory of the process, and addresses. What leaves: whether each is in a free
// chunk. The structures are the ones of malloc/malloc.c and malloc/arena.c of glibc 2.3 and later,
// where pointers have 8 bytes.
package malloc

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// A chunk begins with the size of the chunk before, which is there if that one is free, and its
// own size. The lowest bits of the size are flags.
const (
	sizeOf   = 8
	inUse    = 1 // the chunk before is
	mapped   = 2 // alone, by mmap: never among others
	flags    = 7
	least    = 32
	aligned  = 16
	fence    = 16 // two chunks of this size at most end a heap that cannot grow
	heapMax  = 64 << 20
	heapSize = 16 // where the record of a heap, at a multiple of heapMax, has the heap's size, bytes
	heapInfo = 32 // how long such a record is at least; the record of an arena may follow
	page     = 4096
)

// Bounds of a search.
const (
	mostChunks = 1 << 24 // of all heaps
	mostStarts = 256     // places where a heap may have its first chunk
	quick      = 8       // chunks by which most places are found to be none
)

// Free reports for each address whether it is in memory that malloc has free. The addresses
// ascend, and so do the mappings. An address counts as in use where it is in no heap of glibc's, or
// where the heap's chunks do not follow each other up to the heap's end: another allocator has it.
func Free(a *arch.Arch, m target.Memory, list []target.Mapping, addrs []uint64) []bool {
	free := make([]bool, len(addrs))
	if a.PtrSize != 8 {
		return free
	}
	h := heaps{arch: a, memory: m, left: mostChunks}
	for i := 0; i < len(addrs); {
		lo, hi, step := heapOf(&h, list, addrs[i])
		n := i + 1
		for n < len(addrs) && addrs[n] < hi {
			n++
		}
		for start := lo; start < min(addrs[i], lo+mostStarts*step); start += step {
			if h.chunks(start, hi, quick, nil, nil) && h.chunks(start, hi, mostChunks, addrs[i:n], free[i:n]) {
				break
			}
			clear(free[i:n])
		}
		i = n
	}
	return free
}

// heaps reads the chunks of heaps, one after the other.
type heaps struct {
	arch   *arch.Arch
	memory target.Memory
	left   int // chunks that may still be looked at

	at   uint64 // where data was read
	data []byte
	room [4 * page]byte
}

// heapOf returns where the heap that has an address may have its first chunk, and each step from
// there on, and where the heap ends.
func heapOf(h *heaps, list []target.Mapping, addr uint64) (lo, hi, step uint64) {
	i, _ := slices.BinarySearchFunc(list, addr, func(m target.Mapping, addr uint64) int { return cmp.Compare(m.Hi, addr+1) })
	if i == len(list) || addr < list[i].Lo {
		return addr, addr + 1, page
	}
	m := list[i]
	if base := addr &^ (heapMax - 1); base >= m.Lo { // of an arena of its own
		size, ok := h.word(base + heapSize)
		if ok && size%page == 0 && size > addr-base && size <= min(heapMax, m.Hi-base) {
			return base + heapInfo, base + size, aligned
		}
	}
	return m.Lo, m.Hi, page
}

// chunks goes from chunk to chunk, up to the end of a heap or for most chunks, and notes of each
// address whether it is free. It reports whether all are as chunks are.
func (h *heaps) chunks(at, end uint64, most int, addrs []uint64, free []bool) bool {
	for n := 0; n < most; n++ {
		if h.left--; h.left < 0 {
			return false
		}
		head, ok := h.word(at + sizeOf)
		size := head &^ flags
		if ok && size <= fence && end-at <= 2*fence {
			return true
		}
		if !ok || head&mapped != 0 || size < least || size%aligned != 0 || size > end-at {
			return false
		}
		next := at + size
		isFree := next == end // the top, of which new chunks are taken
		if !isFree {
			after, ok := h.word(next + sizeOf)
			if !ok {
				return false
			}
			if isFree = after&inUse == 0; isFree {
				if before, ok := h.word(next); !ok || before != size {
					return false
				}
			}
		}
		for len(addrs) > 0 && addrs[0] < next {
			free[0] = isFree && addrs[0] >= at
			addrs, free = addrs[1:], free[1:]
		}
		if next == end {
			return true
		}
		at = next
	}
	return true
}

// word reads a word of the process; ok is false if it cannot be read.
func (h *heaps) word(at uint64) (word uint64, ok bool) {
	if at < h.at || at-h.at+8 > uint64(len(h.data)) || at+8 < at {
		n, _ := h.memory.ReadMemory(at, h.room[:])
		if h.at, h.data = at, h.room[:n]; n < 8 {
			return 0, false
		}
	}
	return h.arch.Order.Uint64(h.data[at-h.at:]), true
}
