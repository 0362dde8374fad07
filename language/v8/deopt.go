package v8

import (
	"encoding/binary"
	"slices"
)

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
	slot  int    // if it is on the stack, how many words below the return address; else 0
}

// site is a place in optimized code: the frames that are noted there, the innermost first, and
// whether they are of this very place.
type site struct {
	list  []noted
	exact bool
}

// siteOf returns what is noted for a PC in code.
func (h *heap) siteOf(c *code, pc uint64) site {
	s, ok := h.sites[pc]
	if !ok {
		deopt, exact := h.safepoint(c, int(pc-c.lo))
		s = site{h.inlined(c, deopt), exact}
		if h.Err() != nil {
			return site{exact: exact}
		}
		keep(h.sites, pc, s)
	}
	return s
}

// at returns a value of the frame whose record is at an address.
func (v value) at(h *heap, fp uint64) value {
	if v.slot == 0 {
		return v
	}
	v = value{known: true, word: h.onStack(fp + 8 - 8*uint64(v.slot))}
	if h.Err() != nil {
		return value{}
	}
	return v
}

// Bounds of what a compiler notes.
const (
	mostNoted      = 1 << 10 // frames
	mostNested     = 32      // objects within each other
	mostSafepoints = 1 << 17
)

// safepoint is a place in code to which a thread comes back from a call.
type safepoint struct {
	pc         int // from the beginning of the code
	trampoline int // where it goes instead once the code is not valid any more; -1 for nowhere
	deopt      int // the number of what is noted; -1 for nothing
}

// safepoint returns the number of what is noted for a distance in code. A caller is just behind a
// call. If there is nothing for the place itself, it is the next place that has something, or else
// the one before; exact is false then.
func (h *heap) safepoint(c *code, distance int) (deopt int, exact bool) {
	each := h.eachSafepoint
	if h.packedSafepoints && c.kind != h.baseline+1 {
		each = h.eachPacked
	}
	deopt, left, before, behind := -1, -1, -1, -1
	each(c, func(p safepoint) {
		switch {
		case p.deopt < 0 && p.pc == distance:
			deopt = -1
		case p.deopt < 0:
		case p.trampoline == distance:
			left = p.deopt
		case p.pc == distance:
			deopt = p.deopt
		case p.pc < distance:
			before = p.deopt
		case behind < 0:
			behind = p.deopt
		}
	})
	switch {
	case left >= 0:
		return left, true
	case deopt >= 0:
		return deopt, true
	case behind >= 0:
		return behind, false
	}
	return before, false
}

// eachSafepoint hands out the table behind a piece of code.
func (h *heap) eachSafepoint(c *code, do func(p safepoint)) {
	maglev := c.kind == h.baseline+1
	var header [16]byte
	n := int(h.safepointHead) + 8
	if maglev {
		n = 16
	}
	if !h.Bytes(c.hi, header[:n]) {
		return
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
		return
	}
	number := func(p []byte) (v int) {
		for i, b := range p {
			v |= int(b) << (8 * i)
		}
		return v
	}
	for table := h.raw(c.hi+uint64(n), count*entry); len(table) > 0; table = table[entry:] {
		do(safepoint{number(table[:pcs]), number(table[pcs+indexes:2*pcs+indexes]) - 1, number(table[pcs:pcs+indexes]) - 1})
	}
}

// eachPacked hands out the table behind a piece of TurboFan's code as it is from V8 15.0 on: each
// number is the difference to the one before.
func (h *heap) eachPacked(c *code, do func(p safepoint)) {
	const (
		head         = 8
		hasRegisters = 1 << 30
		hasDeopt     = 1 << 31
	)
	var header [head]byte
	if !h.Bytes(c.hi, header[:]) {
		return
	}
	config := h.Arch.Order.Uint32(header[4:])
	size := int(config & (hasRegisters - 1))
	if config&hasDeopt == 0 || size <= head || size > mostTable {
		return
	}
	table := h.raw(c.hi+head, size-head)
	number := func() int {
		v, n := binary.Uvarint(table)
		table = table[max(n, 0):]
		if n <= 0 || v > mostCode {
			table = nil // it is broken
		}
		return int(v)
	}
	last := safepoint{pc: 1 + number(), deopt: -1}
	for len(table) > 0 {
		p := safepoint{pc: last.pc, trampoline: -1, deopt: -1}
		if more := number(); more != 0 {
			last.deopt += more
			last.trampoline += number()
			p.deopt, p.trampoline = last.deopt, last.trampoline
		}
		if config&hasRegisters != 0 {
			number()
		}
		table = behindSlots(table)
		do(p)
		last.pc += number()
	}
}

// behindSlots returns what follows the slots of a safepoint: a count of bytes, twice, and these;
// or, if it is odd, bits in bytes of which the last one has no top bit, and before them another
// such number if the first two bits are set.
func behindSlots(table []byte) []byte {
	const more = 0x80
	chunk := func() {
		for len(table) > 0 {
			last := table[0]&more == 0
			if table = table[1:]; last {
				break
			}
		}
	}
	switch {
	case len(table) == 0:
	case table[0]&1 == 0:
		v, n := binary.Uvarint(table)
		if n <= 0 || v>>1 > uint64(len(table)-n) {
			return nil
		}
		return table[n+int(v>>1):]
	case table[0]&3 == 3:
		chunk()
		chunk()
	default:
		chunk()
	}
	return table
}

// isDeoptData reports whether a value is what a compiler has noted of its code: an array, of a type
// that is not the same in all releases.
func (h *heap) isDeoptData(data uint64) bool {
	t, ok := h.typeOf(data)
	return ok && (t == h.types.fixed || t == h.types.protectedFixed || t == h.types.trustedFixed)
}

// inlined returns the frames that are noted under a number, the innermost first.
func (h *heap) inlined(c *code, deopt int) (list []noted) {
	data := h.protected(c.object, h.codeDeopt)
	if !h.isDeoptData(data) {
		return nil
	}
	const perEntry, translation = 3, 1
	i := h.deoptData.first + deopt*perEntry + translation
	if n := h.lengthOf(data); deopt < 0 || i >= n {
		return nil
	}
	bytes := h.bytes(h.protectedElement(data, h.deoptData.translation), mostTable)
	at := smallOf(h.element(data, i))
	literals := h.protectedElement(data, h.deoptData.literals)
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
			f.function = h.value(r, literals, 0)
			f.this = h.value(r, literals, 0)
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

// compiledFrom returns the SharedFunctionInfo of the function that optimized code was made of; 0 if
// that is not known.
func (h *heap) compiledFrom(c *code) uint64 {
	shared, ok := h.compiled[c.object]
	if !ok {
		if shared = h.sharedIn(h.protected(c.object, h.codeDeopt)); h.OK() {
			keep(h.compiled, c.object, shared)
		}
	}
	return shared
}

// sharedIn returns the SharedFunctionInfo of the function that was compiled, by the compiler's
// data; 0 if that is not known.
func (h *heap) sharedIn(data uint64) uint64 {
	if !h.isDeoptData(data) {
		return 0
	}
	shared := h.protectedElement(data, h.deoptData.shared)
	if h.deoptData.wrapped {
		shared = h.field(shared, h.word)
	}
	return shared
}

// value reads the next value. Objects that were taken apart may have others within them.
func (h *heap) value(r *reader, literals uint64, depth int) (v value) {
	s := r.next()
	switch s.op {
	case h.translations.literal:
		return value{known: true, word: weakly(h.element(literals, s.args[0]))}
	case h.translations.slot:
		return value{slot: s.args[0]}
	case h.translations.captured:
		for i := 0; i < s.args[0] && !r.failed; i++ {
			if depth == mostNested {
				r.failed = true
				break
			}
			if part := h.value(r, literals, depth+1); i == 0 {
				v.shape = part.word
			}
		}
	}
	return v
}
