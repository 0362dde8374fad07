package goroutine

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/target"
)

const (
	// maxGoroutines bounds the goroutines of a list. Each takes two kilobytes of the program's
	// memory.
	maxGoroutines = 1 << 22
	// defaultLimit bounds the goroutines that are listed, since each takes memory here.
	defaultLimit = 1 << 19
	// convincing is the number of elements to read before making room for as many as the process
	// claims.
	convincing = 1 << 14
)

// pointers reads the slice of pointers at an address. It returns its first max pointers in
// ascending order, each once, and the number of pointers that the slice claims to have. If some
// cannot be read, it returns the pointers before them, and an error.
func (r *Runtime) pointers(at uint64, max uint64) (list []uint64, claimed uint64, err error) {
	mem := r.t.Memory()
	var header [24]byte
	if n, err := mem.ReadMemory(at, header[:]); n < len(header) {
		return nil, 0, fmt.Errorf("%w: its slice at %#x: %w", ErrUnknown, at, err)
	}
	h := words{at, header[:], r.arch.Order}
	ptr, n, room := h.word(0), h.word(8), h.word(16)
	if ptr == 0 || ptr%8 != 0 || n == 0 || n > room || n > maxGoroutines {
		return nil, 0, fmt.Errorf("%w: a slice at %#x has %d pointers at %#x, with room for %d", ErrUnknown, at, n, ptr, room)
	}
	claimed, n = n, min(n, max)
	var page [4096]byte // list grows page by page: n may be more than can be read
	for read := uint64(0); read < n; {
		part := page[:min(8*(n-read), uint64(len(page)))]
		addr := ptr + 8*read
		got, why := mem.ReadMemory(addr, part)
		w := words{addr, part[:min(got, len(part))], r.arch.Order}
		for i := int64(0); i+8 <= int64(len(w.data)); i += 8 {
			if g := w.word(i); g != 0 && g%8 == 0 {
				list = append(withRoom(list, int(n)), g)
			}
		}
		read += uint64(len(part)) / 8
		if got < len(part) {
			err = fmt.Errorf("%w: %d pointers at %#x, of which those from %#x on: %w", ErrUnknown, n, ptr, addr+uint64(got)&^7, why)
			break
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if err == nil && uint64(len(list)) < n {
		err = fmt.Errorf("%w: %d of %d pointers at %#x point to nothing, or where others do", ErrUnknown, n-uint64(len(list)), n, ptr)
	}
	return list, claimed, err
}

// withRoom returns list. When list has convincing elements, withRoom makes room for all of them.
func withRoom[T any](list []T, all int) []T {
	if len(list) == convincing && cap(list) < all {
		return slices.Grow(list, all-len(list))
	}
	return list
}

// span bounds the bytes of several structs g that are read at once. Structs that the runtime has
// made at once lie close together.
const span = 64 << 10

// gap is how much is read, and not used, between two structs at most, bytes: another call of the
// kernel takes longer.
const gap = 8 << 10

// structs reads size bytes at each address of list, and calls visit with them. list is in ascending
// order, and size at most span. data is valid until visit returns; if it is lent
// by a [target.CopiedMemory], for good. err says that the bytes cannot be read.
func (r *Runtime) structs(list []uint64, size int, visit func(addr uint64, data []byte, lent bool, err error)) {
	mem := r.t.Memory()
	lent, _ := mem.(target.CopiedMemory)
	room := make([]byte, span)
	var at uint64 // address of data
	var data []byte
	kept := false // data is lent
	for i, addr := range list {
		if lent != nil && (addr-at >= uint64(len(data)) || uint64(len(data))-(addr-at) < uint64(size)) {
			at, data = lent.Window(addr)
			kept = true
		}
		if addr-at >= uint64(len(data)) || uint64(len(data))-(addr-at) < uint64(size) {
			end := addr + uint64(size)
			for _, next := range list[i+1:] {
				if next-addr > span-uint64(size) || next > end+gap {
					break
				}
				end = next + uint64(size)
			}
			n, err := mem.ReadMemory(addr, room[:end-addr])
			n = min(n, int(end-addr))
			at, data, kept = addr, room[:n], false
			if n < size {
				visit(addr, nil, false, fmt.Errorf("struct g at %#x: %w", addr, err))
				continue
			}
		}
		visit(addr, data[addr-at:][:size], kept, nil)
	}
}

// words are bytes of memory, from an address on.
type words struct {
	addr  uint64
	data  []byte
	order binary.ByteOrder
}

// word returns the word at an offset, which is among the bytes.
func (w words) word(at int64) uint64 { return w.order.Uint64(w.data[at:]) }

// half returns the 32 bits at an offset.
func (w words) half(at int64) uint32 { return w.order.Uint32(w.data[at:]) }
