package v8

import "slices"

// noted is a frame that a compiler has noted.
type noted struct {
	shared      uint64 // the function's SharedFunctionInfo
	offset      int    // in the bytecode
	builtin     bool   // it has no bytecode
	constructor bool
	this        value
	function    value
}

// value is where a compiler keeps a value.
type value struct {
	known bool
	word  uint64 // the value
	shape uint64 // of an object that was taken apart: its Map; else 0
}

// Bounds of what a compiler notes.
const (
	mostNoted      = 1 << 10 // frames
	mostNested     = 32      // objects within each other
	mostSafepoints = 1 << 17
)

// safepoint returns the number of what is noted for a distance in code. A caller is just behind a
// call. If there is nothing for the place itself, it is the next place that has something, or else
// the one before; exact is false then.
func (h *heap) safepoint(c *code, distance int) (deopt int, exact bool) {
	maglev := c.kind == h.baseline+1
	var header [16]byte
	n := int(h.safepointHead) + 8
	if maglev {
		n = 16
	}
	if !h.Bytes(c.hi, header[:n]) {
		return -1, false
	}
	order := h.Arch.Order
	count := int(order.Uint32(header[h.safepointHead:]))
	config := order.Uint32(header[h.safepointHead+4:])
	hasDeopt, registers, pcs, indexes := config&1 != 0, int(config>>1&7), int(config>>4&7), int(config>>7&7)
	entry := 2*pcs + indexes + registers
	if maglev {
		entry++
	}
	if !hasDeopt || pcs == 0 || count > mostSafepoints {
		return -1, false
	}
	table := h.raw(c.hi+uint64(n), count*entry)
	number := func(p []byte) (v int) {
		for i, b := range p {
			v |= int(b) << (8 * i)
		}
		return v
	}
	deopt, before, behind := -1, -1, -1
	for ; len(table) > 0; table = table[entry:] {
		pc := number(table[:pcs])
		index := number(table[pcs:pcs+indexes]) - 1
		trampoline := number(table[pcs+indexes:2*pcs+indexes]) - 1
		if index < 0 {
			if pc == distance {
				deopt = -1
			}
			continue
		}
		switch {
		case trampoline == distance:
			return index, true
		case pc == distance:
			deopt = index
		case pc < distance:
			before = index
		case behind < 0:
			behind = index
		}
	}
	switch {
	case deopt >= 0:
		return deopt, true
	case behind >= 0:
		return behind, false
	}
	return before, false
}

// inlined returns the frames that are noted under a number, the innermost first.
func (h *heap) inlined(c *code, deopt int, fp uint64) (list []noted) {
	data := h.field(c.object, h.codeDeopt)
	if t, ok := h.typeOf(data); !ok || t != h.types.fixed && t != h.types.protectedFixed {
		return nil
	}
	const perEntry, translation = 3, 1
	i := h.deoptData.first + deopt*perEntry + translation
	if n := h.small(data, h.arrayLength); deopt < 0 || i >= n {
		return nil
	}
	bytes := h.bytes(h.element(data, h.deoptData.translation), mostTable)
	at := smallOf(h.element(data, i))
	literals := h.element(data, h.deoptData.literals)
	r := newReader(h.translations, bytes, at)
	constructor := false
	for range mostSteps {
		if r.failed || len(list) >= min(r.frames, mostNoted) {
			break
		}
		s := r.next()
		goesOn := slices.Contains(h.translations.continued[:], s.op)
		switch {
		case slices.Contains(h.translations.construct[:], s.op):
			constructor = true
		case goesOn, slices.Contains(h.translations.interpreted[:], s.op):
			f := noted{offset: s.args[0], constructor: constructor, builtin: goesOn}
			f.shared = weakly(h.element(literals, s.args[1]))
			f.function = h.value(r, literals, fp, 0)
			f.this = h.value(r, literals, fp, 0)
			list = append(list, f)
			constructor = false
		}
	}
	if r.failed || !h.OK() {
		return nil
	}
	slices.Reverse(list)
	return list
}

// sharedIn returns the SharedFunctionInfo of the function that was compiled, by the compiler's
// data; 0 if that is not known.
func (h *heap) sharedIn(data uint64) uint64 {
	if t, ok := h.typeOf(data); !ok || t != h.types.fixed && t != h.types.protectedFixed {
		return 0
	}
	shared := h.element(data, h.deoptData.shared)
	if h.deoptData.wrapped {
		shared = h.field(shared, 8)
	}
	return shared
}

// value reads the next value. Objects that were taken apart may have others within them.
func (h *heap) value(r *reader, literals, fp uint64, depth int) (v value) {
	s := r.next()
	switch s.op {
	case h.translations.literal:
		return value{known: true, word: weakly(h.element(literals, s.args[0]))}
	case h.translations.slot:
		return value{known: true, word: h.slot(fp + 8 - 8*uint64(s.args[0]))}
	case h.translations.captured:
		for i := 0; i < s.args[0] && !r.failed; i++ {
			if depth == mostNested {
				r.failed = true
				break
			}
			if part := h.value(r, literals, fp, depth+1); i == 0 {
				v.shape = part.word
			}
		}
	}
	return v
}
