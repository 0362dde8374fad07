package coreclr

import "github.com/sfwalk/sfwalk/target"

const (
	mostPlaces  = 1 << 16 // of a method
	mostRead    = 1 << 20 // bytes of a list
	sourceBits  = 2       // of a packed place
	packedSince = 16      // ReadyToRun's major version
	partSize    = 256     // bytes that are read at once
)

// Offsets in the method below 0 have a meaning of their own.
const (
	unmapped = 1 // code of no place
	prologue = 2 // code that sets up the frame
	specials = 3
)

// Flags of what stands before the list of places.
const (
	replaced     = 1 // what a method needs that is replaced while it runs
	rich         = 2 // more about what was inlined
	uninstrument = 4 // a second list
)

// Place is a place in a method.
type Place struct {
	IL uint32 // offset in the method's own code
	// Near says that the code is of no place, such as of a method that is inlined: it is the place
	// of the code before.
	Near bool
}

// Place returns the place that pc is at; ok is false if that is not known.
func (r *Runtime) Place(m target.Memory, c *Code, pc uint64) (p Place, ok bool) {
	b := stream{m: m, at: c.places}
	packs := r.places == packed
	if c.Brought {
		if b.at, packs = broughtPlaces(m, c); b.at == 0 {
			return p, false
		}
	} else {
		if r.places == unknown || c.places == 0 || !b.skipExtra(r.replacedSize) {
			return p, false
		}
	}
	n := nibbleReader{b: &b}
	size := n.number()
	if b.second {
		n.number()
	}
	n.number() // the size of what is said of variables
	if size == 0 || b.failed {
		return p, false
	}
	n.half = false
	off := uint32(pc - c.Start)
	if packs {
		return packedPlace(&b, off)
	}
	return nibblePlace(&b, off)
}

// stream reads bytes one after the other.
type stream struct {
	m      target.Memory
	at     uint64
	part   [partSize]byte
	have   []byte // of part, what is not read yet
	total  int
	failed bool
	second bool // there is a second list
}

func (b *stream) next() byte {
	if len(b.have) == 0 {
		n := 0
		if b.total < mostRead && b.at != 0 {
			n, _ = b.m.ReadMemory(b.at, b.part[:])
		}
		if n == 0 {
			b.failed = true
			return 0
		}
		b.have, b.at, b.total = b.part[:n], b.at+uint64(n), b.total+n
	}
	v := b.have[0]
	b.have = b.have[1:]
	return v
}

func (b *stream) word() (v uint32) {
	for i := range 4 {
		v |= uint32(b.next()) << (8 * i)
	}
	return v
}

// skip passes over n bytes.
func (b *stream) skip(n uint32) {
	for ; n > 0 && !b.failed; n-- {
		b.next()
	}
}

// skipExtra passes over what stands before the sizes of the lists. It reports whether it could.
// replacedSize is the size of a PatchpointInfo without variables.
func (b *stream) skipExtra(replacedSize uint32) bool {
	flags := b.next()
	if flags&replaced != 0 { // registers, the count of variables, five numbers, and one for each variable
		b.skip(replacedSize - 24)
		n := b.word()
		if n > mostPlaces {
			return false
		}
		b.skip(20 + 4*n)
	}
	if flags&rich != 0 {
		n := b.word()
		if n > mostRead {
			return false
		}
		b.skip(n)
	}
	b.second = flags&uninstrument != 0
	return !b.failed && flags&^(replaced|rich|uninstrument) == 0
}

// nibbleReader reads numbers whose nibbles have three bits each, and one bit that says that more
// follow. The lower nibble of a byte comes first.
type nibbleReader struct {
	b    *stream
	half bool // the higher nibble of last is next
	last byte
}

func (n *nibbleReader) number() (v uint32) {
	for range 11 {
		if !n.half {
			n.last = n.b.next()
		}
		nibble := n.last & 15
		n.last, n.half = n.last>>4, !n.half
		if v = v<<3 | uint32(nibble&7); nibble&8 == 0 {
			return v
		}
	}
	n.b.failed = true
	return 0
}

// best is the last place before an offset.
type best struct {
	Place
	ok bool
}

// note notes a place. Offsets of the method have specials added.
func (x *best) note(il uint32) {
	switch {
	case il >= specials:
		*x = best{Place{IL: il - specials}, true}
	case il == specials-prologue && !x.ok:
		x.ok = true // the method's beginning
	case il == specials-unmapped:
		x.Near = true
	}
}

func nibblePlace(b *stream, off uint32) (p Place, ok bool) {
	n := nibbleReader{b: b}
	var x best
	var native uint32
	for left := min(n.number(), mostPlaces); left > 0; left-- {
		native += n.number()
		place := n.number()
		n.number() // what kind of place it is
		if b.failed || native > off {
			break
		}
		x.note(place)
	}
	return x.Place, x.ok
}

func packedPlace(b *stream, off uint32) (p Place, ok bool) {
	n := nibbleReader{b: b}
	left, nativeBits, placeBits := min(n.number(), mostPlaces), n.number()+1, n.number()+1
	if nativeBits > 32 || placeBits > 32 {
		return p, false
	}
	var x best
	var native uint32
	var have uint64 // bits that are read, and how many
	var count uint32
	take := func(n uint32) uint32 {
		for count < n {
			have |= uint64(b.next()) << count
			count += 8
		}
		v := uint32(have & (1<<n - 1))
		have, count = have>>n, count-n
		return v
	}
	for ; left > 0; left-- {
		take(sourceBits)
		native += take(nativeBits)
		place := take(placeBits)
		if b.failed || native > off {
			break
		}
		x.note(place)
	}
	return x.Place, x.ok
}
