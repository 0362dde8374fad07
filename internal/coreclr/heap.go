package coreclr

import "github.com/sfwalk/sfwalk/target"

// A heap of code has a map of nibbles, one for each bucket of addresses: 0, or 1 plus the place in
// the bucket where code begins, in units of codeAlign. The first address's nibble is the highest of
// its word. From .NET 10 on a word may tell the beginning of the code that takes all of its
// addresses: its lowest nibble is then more than any place. (NibbleMap)
const (
	bucket    = 32 // bytes
	codeAlign = 4
	perWord   = 8 // buckets
	mostHeap  = 1 << 32
	mostBack  = 1 << 16 // words of the map that are read backwards: 16 MiB of one method's code
	atOnce    = 64
)

// beginsAt returns where the code that has pc begins, in a heap.
func (r *Runtime) beginsAt(m target.Memory, heap, pc uint64) (start uint64, ok bool) {
	base, nibbles := word(m, heap+r.heap.base), word(m, heap+r.heap.nibbles)
	first, end := word(m, heap+r.heap.start), word(m, heap+r.heap.end)
	if base == 0 || nibbles == 0 || pc < first || pc >= end || pc < base || pc-base > mostHeap {
		return 0, false
	}
	off := pc - base
	at := off / bucket
	w, known := half(m, nibbles+4*(at/perWord))
	if !known {
		return 0, false
	}
	if start, ok = pointed(base, w); ok {
		return start, start <= pc
	}
	w >>= 28 - 4*(at%perWord)
	if n := uint64(w & 15); n != 0 && n <= off%bucket/codeAlign+1 {
		return base + at*bucket + (n-1)*codeAlign, true
	}
	// What begins in this bucket, if anything does, begins behind pc.
	for w, at = w>>4, at-1; (at+1)%perWord != 0; w, at = w>>4, at-1 {
		if n := uint64(w & 15); n != 0 {
			return base + at*bucket + (n-1)*codeAlign, true
		}
	}
	var part [4 * atOnce]byte
	for words := (at + 1) / perWord; words > 0 && off/bucket/perWord-words < mostBack; {
		n := min(words, atOnce)
		words -= n
		if !read(m, nibbles+4*words, part[:4*n]) {
			return 0, false
		}
		for i := n; i > 0; i-- {
			w := order.Uint32(part[4*(i-1):])
			if start, ok = pointed(base, w); ok {
				return start, true
			}
			for at := (words+i)*perWord - 1; w != 0; w, at = w>>4, at-1 {
				if n := uint64(w & 15); n != 0 {
					return base + at*bucket + (n-1)*codeAlign, true
				}
			}
		}
	}
	return 0, false
}

// pointed returns where the code begins that takes all addresses of a word of the map; ok is false
// if the word does not say that.
func pointed(base uint64, w uint32) (start uint64, ok bool) {
	const places = bucket / codeAlign
	if w&15 <= places {
		return 0, false
	}
	return base + uint64(w&^15) + uint64(w&15-places-1)*codeAlign, true
}
