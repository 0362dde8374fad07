package v8

// code is a piece of code that V8 has made.
type code struct {
	object uint64 // the Code
	kind   int
	lo, hi uint64 // its instructions
}

// Bounds of code.
const (
	mostCode     = 8 << 20 // bytes of one
	mostBackward = 1 << 20 // how far an address is from the beginning of its code
	alignment    = 32      // of code, at least
	codeKindMask = 0xf
)

// codeAt finds the code that an address is in. V8 has no table of it that is easy to read. But each
// code begins with a header, which leads to an object that leads back.
func (h *heap) codeAt(pc uint64) (c code, ok bool) {
	if c, ok = h.codes[pc]; ok {
		return c, c.object != 0
	}
	if c, ok = h.findCode(pc); !ok {
		c = code{}
	}
	return keep(h.codes, pc, c), ok
}

func (h *heap) findCode(pc uint64) (c code, ok bool) {
	if lo := h.kept.codeOf(pc); lo != 0 {
		if c, ok = h.codeFrom(lo); ok && pc >= lo && pc < c.hi {
			return c, true
		}
	}
	const page = 4 << 10
	room := &h.room
	header := pc&^(alignment-1) - h.codeHeader
	for at := header &^ (page - 1); header < pc && pc-at < mostBackward && at > 0 && h.spend(page/4); at -= page {
		if !h.Bytes(at, room[:header-at+8]) {
			h.Err()
			return c, false // what is before is not mapped
		}
		for ; header >= at && header < pc; header -= alignment {
			if m := h.Arch.Order.Uint64(room[header-at:]); !h.packed && (!isPointer(m) || m&7 != 1) || m&3 != 1 {
				continue
			}
			lo := header + h.codeHeader
			if c, ok = h.codeFrom(lo); ok {
				h.kept.keepCode(pc, lo)
				return c, pc < c.hi
			}
		}
	}
	return c, false
}

// codeFrom returns the code whose instructions begin at an address.
func (h *heap) codeFrom(lo uint64) (c code, ok bool) {
	c.object, c.lo = lo-h.codeHeader+1, lo
	defer h.Err()
	if m := h.field(c.object, 0); uint16(h.Uint(m-1+h.mapType, 2)) != h.types.instructions || !h.OK() {
		h.spend(1 << 10)
		return c, false
	}
	if h.codeOf != 0 {
		c.object = h.protected(c.object, h.codeOf)
		if !h.is(c.object, h.types.code) || !h.leadsBack(c) {
			return c, false
		}
	}
	size := h.Uint(c.object-1+h.codeSize, 4)
	c.kind, c.hi = int(h.Uint(c.object-1+h.codeFlags, 4)&codeKindMask), lo+size
	return c, size > 0 && size <= mostCode && h.OK()
}

// leadsBack reports whether a Code has the instructions that lead to it.
func (h *heap) leadsBack(c code) bool {
	if h.codeBack != 0 {
		return uint32(h.Uint(c.object-1+h.codeBack, 4)) == uint32(c.lo-h.codeHeader+1)
	}
	return h.Uint(c.object-1+h.codeStart, 8) == c.lo
}
