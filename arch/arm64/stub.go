package arm64

import "encoding/binary"

// A linkage stub goes where a slot says: [bti c;] adrp x16, slot; ldr x17, [x16,
// slot]; add x16, x16, slot; [autia1716;] br x17. The first of the table, for
// symbols that are not bound yet, stores x16 and x30 before. Where the slot begins a
// page, there is nothing to add, and linkers such as binutils 2.47 write a nop.
// A pattern is one instruction: its fixed bits, and which they are.
type pattern struct{ bits, mask uint32 }

var (
	btiC     = pattern{0xd503245f, ^uint32(0)}
	pushPair = pattern{0xa9bf7bf0, ^uint32(0)} // stp x16, x30, [sp, #-16]!
	adrpX16  = pattern{0x90000010, 0x9f00001f}
	ldrX17   = pattern{0xf9400211, 0xffc003ff}
	ldrStart = pattern{0xf9400211, ^uint32(0)} // ldr x17, [x16]
	addX16   = pattern{0x91000210, 0xffc003ff}
	addNone  = pattern{0xd503201f, ^uint32(0)}
	autia    = pattern{0xd503219f, ^uint32(0)}
	brX17    = pattern{0xd61f0220, ^uint32(0)}
)

func (p pattern) is(code []byte) bool {
	return len(code) >= size && binary.LittleEndian.Uint32(code)&p.mask == p.bits
}

// stubRest returns how many bytes of a stub are at the beginning of code, from
// one of its instructions on; 0 where that is none.
func stubRest(code []byte) int {
	steps := [...]struct {
		pattern
		must bool
	}{{btiC, false}, {adrpX16, true}, {ldrX17, true}, {addX16, true}, {autia, false}, {brX17, true}}
	for from := range steps {
		at, ok := 0, steps[from].is(code)
		for _, s := range steps[from:] {
			if !ok {
				break
			}
			here := code[min(at, len(code)):]
			if s.is(here) || s.pattern == addX16 && addNone.is(here) && at > 0 && ldrStart.is(code[at-size:]) {
				at += size
			} else if s.must {
				ok = false
			}
		}
		if ok {
			return at
		}
	}
	return 0
}

// inStub reports whether code, which begins at a pc, is the rest of a linkage
// stub that leaves the stack alone: more than its branch, which other code may
// have as well.
func inStub(code []byte) bool { return stubRest(code) > size }

// stubSlot implements arch.Arch.StubSlot.
func stubSlot(code []byte, start, _ uint64) (slot uint64, length int, ok bool) {
	if !btiC.is(code) && !adrpX16.is(code) {
		return 0, 0, false
	}
	length = stubRest(code)
	refers := Machine.References(code[:length], start) // the last is the slot; none if that is too far away
	if len(refers) == 0 {
		return 0, 0, false
	}
	for addNone.is(code[length:]) {
		length += size // padding
	}
	return refers[len(refers)-1], length, true
}

// stubFrame implements arch.Arch.StubFrame.
func stubFrame(code []byte, start, pc uint64) (fromSP int32, ok bool) {
	off := pc - start
	if pc < start || off%size != 0 || off >= uint64(len(code)) {
		return 0, false
	}
	first := 0
	if btiC.is(code) {
		first = size
	}
	if pushPair.is(code[min(first, len(code)):]) {
		first += size
		if n := stubRest(code[first:]); n == 0 || off >= uint64(first+n) {
			return 0, false // no stub, or the padding behind it
		}
		if off >= uint64(first) {
			return 16, true
		}
		return 0, true
	}
	if n := stubRest(code); n == 0 || off >= uint64(n) {
		return 0, false
	}
	return 0, true
}
