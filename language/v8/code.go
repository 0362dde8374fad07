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
	kindRegExp   = 3
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
	for lo := pc &^ (alignment - 1); pc-lo < mostBackward && lo > h.codeHeader && h.spend(8); lo -= alignment {
		object := lo - h.codeHeader + 1
		m := h.field(object, 0)
		if !h.OK() {
			h.Err()
			return c, false // what is before is not mapped
		}
		if !isPointer(m) || m&7 != 1 {
			continue
		}
		if t := h.Uint(m-1+h.mapType, 2); h.Err() != nil || uint16(t) != h.types.instructions {
			continue
		}
		c, ok = h.codeOfInstructions(object, lo)
		if err := h.Err(); ok && err == nil {
			return c, pc < c.hi
		}
	}
	return c, false
}

// codeOfInstructions returns the code whose instructions are in an object, from lo on.
func (h *heap) codeOfInstructions(object, lo uint64) (c code, ok bool) {
	c.object, c.lo = object, lo
	if h.codeOf != 0 {
		c.object = h.field(object, h.codeOf)
		if !h.is(c.object, h.types.code) || h.field(c.object, h.codeStart) != lo {
			return c, false
		}
	}
	size := h.Uint(c.object-1+h.codeSize, 4)
	if size == 0 || size > mostCode {
		return c, false
	}
	c.kind, c.hi = int(h.Uint(c.object-1+h.codeFlags, 4)&codeKindMask), lo+size
	return c, true
}
