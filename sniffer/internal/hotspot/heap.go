package hotspot

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
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

// blob is a piece of code that the virtual machine has made.
type blob struct {
	lo, hi   uint64 // its code
	frame    int32  // size of its frame in words, with the return address
	complete int64  // distance from lo, in bytes, at which the frame is set up; negative if not known
}

// find returns the blob that q.AddressInBlock is in.
func (vm *machine) find(r *vmstructs.Reader, q *frame.Query) (b blob, why frame.Answer) {
	for i := range uint64(maxHeaps) {
		heap, ok := vm.nth(r, i)
		if !ok {
			break
		}
		low, ok := r.Word(heap + vm.memory + vm.low)
		high, known := r.Word(heap + vm.memory + vm.high)
		if ok && known && q.AddressInBlock >= low && q.AddressInBlock < high {
			return vm.within(r, q, heap, low)
		}
	}
	return b, noBlob
}

// nth returns the address of a code heap.
func (vm *machine) nth(r *vmstructs.Reader, i uint64) (heap uint64, ok bool) {
	if vm.heaps.Offset == 0 {
		heap, ok = r.Word(vm.heap.Offset)
		return heap, ok && i == 0
	}
	list, ok := r.Word(vm.heaps.Offset)
	if !ok || list == 0 {
		return 0, false
	}
	if n, ok := r.Number(list, vm.length); !ok || int64(i) >= n {
		return 0, false
	}
	data, ok := r.Pointer(list, vm.data)
	if !ok {
		return 0, false
	}
	return r.Word(data + 8*i)
}

// within returns the blob that q.AddressInBlock is in, in a heap whose memory begins at low. Each
// segment of that memory has a byte in the heap's map, which says how many segments back its block
// may begin.
func (vm *machine) within(r *vmstructs.Reader, q *frame.Query, heap, low uint64) (b blob, why frame.Answer) {
	shift, ok := r.Number(heap, vm.segment)
	segmap, known := r.Word(heap + vm.segmap + vm.low)
	if !ok || !known || shift < 0 || shift > maxSegment {
		return b, unread
	}
	at := (q.AddressInBlock - low) >> uint(shift)
	hops := 0
	for lo, near := at+1, []byte(nil); ; hops++ {
		if at < lo { // read the map backwards
			n := min(at+1, uint64(vmstructs.MostRead))
			lo = at + 1 - n
			if near = r.Read(segmap+lo, int(n)); uint64(len(near)) < n {
				return b, unread
			}
		}
		back := uint64(near[at-lo])
		if back == 0 {
			break
		}
		if back == freeBlock || back > at || hops == maxHops {
			return b, noBlob
		}
		if hops == fewHops {
			if !q.MaySearch() {
				return b, noEffort
			}
		}
		at -= back
	}
	if hops > fewHops {
		q.CountSearched(hops / perHops)
	}
	block := low + at<<uint(shift)
	if used, ok := r.Number(block, vm.used); !ok || used == 0 {
		return b, noBlob
	}
	return vm.blob(r, q, block+vm.header)
}

// blob reads a CodeBlob, which q.AddressInBlock must be in.
func (vm *machine) blob(r *vmstructs.Reader, q *frame.Query, at uint64) (b blob, why frame.Answer) {
	ok, known := true, true
	if vm.codeBegin.Offset != 0 {
		b.lo, ok = r.Pointer(at, vm.codeBegin)
		b.hi, known = r.Pointer(at, vm.codeEnd)
	} else {
		var lo, hi int64
		lo, ok = r.Number(at, vm.codeOffset)
		hi, known = r.Number(at, vm.codeStop)
		b.lo, b.hi = at+uint64(lo), at+uint64(hi)
	}
	if !ok || !known {
		return b, unread
	}
	if q.AddressInBlock < b.lo || q.AddressInBlock >= b.hi || b.hi-b.lo > maxBlob {
		return b, noBlob
	}
	size, ok := r.Number(at, vm.frameSize)
	if b.complete, known = r.Number(at, vm.complete); !ok || !known {
		return b, unread
	}
	if size < 2 || size > maxWords {
		return b, noFrame
	}
	if b.frame = int32(size); b.complete >= int64(b.hi-b.lo) {
		b.complete = -1
	}
	return b, frame.Claimed
}
