package amd64

import (
	"bytes"
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch/values"
)

// maxStub is how many bytes of a linkage stub are looked at.
const maxStub = 16

// stubFrame implements arch.Arch.StubFrame. The stubs that linkers make consist
// of endbr64, pushes and jumps through memory: the return address is above what
// has been pushed. The first stub of a lazily bound table begins with a push of
// a word in memory, and what jumps to it has pushed an index already.
func stubFrame(code []byte, start, pc uint64) (fromSP int32, ok bool) {
	code = code[:min(len(code), maxStub)]
	off := pc - start
	if pc < start || off >= uint64(len(code)) {
		return 0, false
	}
	depth, found, over := int32(8), false, false
	if len(code) >= 2 && code[0] == 0xff && code[1] == 0x35 {
		depth = 16
	}
	var ops []values.Op
	for at := 0; at < len(code); {
		var o values.Inst
		o, ops = decode(code, at, ops[:0])
		next := at + int(o.Len)
		here := !found && off < uint64(next)
		if over && !o.Nop { // a stub of eight bytes, and the next one
			depth, over = 8, false
		}
		if here {
			fromSP, found = depth, true
		}
		switch p := code[at:min(next, len(code))]; {
		case over && here:
			return 0, false // padding
		case o.Nop:
		case pushesNumber(ops):
			depth += 8
		case o.Flow == values.Jump && depth > 8,
			// A push behind it is where the word in memory points at first.
			o.Flow == values.Away && throughMemory(p) && (depth > 8 || next >= len(code) || code[next] != 0x68):
			if found {
				return fromSP, true
			}
			over = true
		case o.Flow == values.Away && throughMemory(p):
		default:
			return 0, false
		}
		at = next
	}
	return 0, false
}

// pushesNumber reports whether an instruction pushes what is in no register.
func pushesNumber(ops []values.Op) bool {
	n := len(ops)
	return n >= 2 && ops[n-2].Kind == values.Store && ops[n-1] == values.Add(rsp, rsp, -8) && ops[n-2].Src >= nRegs
}

// throughMemory reports whether p is jmp *disp(%rip), with prefixes or without.
func throughMemory(p []byte) bool {
	return len(p) >= 6 && p[len(p)-6] == 0xff && p[len(p)-5] == 0x25
}

// stubSlot implements arch.Arch.StubSlot: [endbr64;] [bnd] jmp *slot(%rip), and padding to a multiple
// of eight bytes, or what binds the symbol at the first call: push $n; jmp.
func stubSlot(code []byte, start uint64) (slot uint64, length int, ok bool) {
	at := 0
	if bytes.HasPrefix(code, []byte("\xf3\x0f\x1e\xfa")) { // endbr64
		at = 4
	}
	if at == len(code) {
		return 0, 0, false
	}
	jump, _ := decode(code, at, nil)
	end := at + int(jump.Len)
	if jump.Flow != values.Away || !throughMemory(code[at:end]) {
		return 0, 0, false
	}
	slot = start + uint64(end) + uint64(int64(int32(binary.LittleEndian.Uint32(code[end-4:]))))
	length = (end + 7) &^ 7
	if end < len(code) && code[end] == 0x68 { // push $n
		length = maxStub
	}
	return slot, min(length, len(code)), true
}
