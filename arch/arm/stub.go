package arm

import (
	"encoding/binary"
	"math/bits"
)

// A linkage stub computes the address of its slot in ip and jumps through it: add ip, pc, #…; add
// ip, ip, #…, once or twice; ldr pc, [ip, #…]!. Callers of Thumb code that know no blx have bx pc;
// nop in front (A32 follows). The first of the table pushes lr and uses that.
const (
	thumbBXPC  = 0x4778
	stubPush   = 0xe52de004 // push {lr}
	stubLoadLR = 0xe59fe004 // ldr lr, [pc, #4]
)

// a32 returns the word at an offset, or 0 beyond the end.
func a32(code []byte, at int) uint32 {
	if at < 0 || at+word > len(code) {
		return 0
	}
	return binary.LittleEndian.Uint32(code[at:])
}

// thunk returns how many bytes of code are bx pc and what pads it.
func thunk(code []byte) int {
	if len(code) >= word && half(code, 0) == thumbBXPC {
		return word
	}
	return 0
}

func rotated(w uint32) uint32 { return bits.RotateLeft32(w&0xff, -int(2*field(w, 8, 4))) }

// stub follows the A32 stub that code, at address start, begins with, from its instruction number
// from on.
func stub(code []byte, start uint64, from int) (slot uint64, length int, ok bool) {
	ip, at := uint32(0), 0
	if w := a32(code, 0); from == 0 && w>>12 == 0xe28fc {
		ip, at = uint32(start)+8+rotated(w), word
	} else if from == 0 {
		return 0, 0, false
	}
	for ; a32(code, at)>>12 == 0xe28cc && at < 3*word; at += word {
		ip += rotated(a32(code, at))
	}
	w := a32(code, at)
	if w>>12 != 0xe5bcf {
		return 0, 0, false
	}
	return uint64(ip + w&0xfff), at + word, true
}

// thumbStub follows a stub of Thumb code alone: movw ip; movt ip; add ip, pc; ldr.w pc, [ip].
func thumbStub(code []byte, start uint64) (slot uint64, length int, ok bool) {
	const size = 14
	if len(code) < size || half(code, 8) != 0x44fc || half(code, 10) != 0xf8dc || half(code, 12) != 0xf000 {
		return 0, 0, false
	}
	var in, second = newInst(0, 4, true, nil), newInst(4, 4, true, nil)
	in.wide(half(code, 0)<<16 | half(code, 2))
	second.wide(half(code, 4)<<16 | half(code, 6))
	if len(in.ops) != 1 || in.ops[0].Dst != r12 || len(second.ops) != 1 || second.ops[0].Dst != r12 || second.ops[0].Shift != 16 {
		return 0, 0, false
	}
	return uint64(uint32(in.ops[0].Imm)&0xffff + uint32(second.ops[0].Imm)<<16 + uint32(start) + 8 + 4), size, true
}

// inStub implements dataflow.Machine.InStub: more than the last jump is left, which other code may
// have as well.
func inStub(code []byte) bool {
	rest := code[thunk(code):]
	if _, _, ok := stub(rest, 0, 0); ok {
		return true
	}
	_, length, ok := stub(rest, 0, 1)
	if ok && (length > word || len(rest) < len(code)) {
		return true
	}
	_, _, ok = thumbStub(code, 0)
	return ok
}

// stubSlot implements arch.Arch.StubSlot.
func stubSlot(code []byte, start, _ uint64) (slot uint64, length int, ok bool) {
	if slot, length, ok = thumbStub(code, start); ok {
		if len(code) >= length+2 && half(code, length) == 0xe7fc { // b to itself: padding
			length += 2
		}
		return slot, length, true
	}
	skip := thunk(code)
	slot, length, ok = stub(code[skip:], start+uint64(skip), 0)
	return slot, skip + length, ok
}

// stubFrame implements arch.Arch.StubFrame.
func stubFrame(code []byte, start, pc uint64) (fromSP int32, ok bool) {
	off := pc - start
	if pc < start || off >= uint64(len(code)) {
		return 0, false
	}
	if a32(code, 0) == stubPush && a32(code, word) == stubLoadLR {
		switch {
		case off == 0:
			return 0, true
		case off < 4*word && off%word == 0:
			return word, true
		}
		return 0, false
	}
	_, length, ok := stubSlot(code, start, 0)
	return 0, ok && off < uint64(length)
}
