package x86

import (
	"bytes"
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch/dataflow"
)

// maxStub is how many bytes of a linkage stub are looked at.
const maxStub = 16

// StubFrame implements arch.Arch.StubFrame. The stubs that linkers make consist
// of endbr64 or endbr32, pushes and jumps through memory: the return address is above what
// has been pushed. The first stub of a lazily bound table begins with a push of
// a word in memory, and what jumps to it has pushed an index already.
func (d *Decoder) StubFrame(code []byte, start, pc uint64) (fromSP int32, ok bool) {
	code = code[:min(len(code), maxStub)]
	off := pc - start
	if pc < start || off >= uint64(len(code)) {
		return 0, false
	}
	word := int32(d.word)
	depth, found, over := word, false, false
	if len(code) >= 2 && code[0] == 0xff && (code[1] == 0x35 || d.mode == 32 && code[1] == 0xb3) {
		depth = 2 * word
	}
	var ops []dataflow.Op
	for at := 0; at < len(code); {
		var o dataflow.Inst
		o, ops = d.Decode(code, at, ops[:0])
		next := at + int(o.Len)
		here := !found && off < uint64(next)
		if over && !o.Nop { // a stub of eight bytes, and the next one
			depth, over = word, false
		}
		if here {
			fromSP, found = depth, true
		}
		switch p := code[at:min(next, len(code))]; {
		case over && here:
			return 0, false // padding
		case o.Nop:
		case d.pushesNumber(ops):
			depth += word
		case o.Flow == dataflow.Jump && depth > word,
			// A push behind it is where the word in memory points at first.
			o.Flow == dataflow.Away && d.throughMemory(p) && (depth > word || next >= len(code) || code[next] != 0x68):
			if found {
				return fromSP, true
			}
			over = true
		case o.Flow == dataflow.Away && d.throughMemory(p):
		default:
			return 0, false
		}
		at = next
	}
	return 0, false
}

// pushesNumber reports whether an instruction pushes what is in no register.
func (d *Decoder) pushesNumber(ops []dataflow.Op) bool {
	n, sp := len(ops), d.number[numberSP]
	return n >= 2 && ops[n-2].Kind == dataflow.Store && ops[n-1] == dataflow.Add(sp, sp, -int32(d.word)) && ops[n-2].Src >= dataflow.MaxRegs
}

// throughMemory reports whether p is jmp *disp(%rip), of 32-bit code jmp *disp or jmp *disp(%ebx),
// with prefixes or without.
func (d *Decoder) throughMemory(p []byte) bool {
	return len(p) >= 6 && p[len(p)-6] == 0xff && (p[len(p)-5] == 0x25 || d.mode == 32 && p[len(p)-5] == byBX)
}

const byBX = 0xa3 // the ModRM byte of jmp *disp(%ebx)

// StubSlot implements arch.Arch.StubSlot: [endbr;] [bnd] jmp *slot, and padding to a multiple
// of eight bytes, or what binds the symbol at the first call: push $n; jmp.
func (d *Decoder) StubSlot(code []byte, start, got uint64) (slot uint64, length int, ok bool) {
	at := 0
	if bytes.HasPrefix(code, []byte("\xf3\x0f\x1e")) && len(code) > 3 && code[3]&0xfe == 0xfa { // endbr64, endbr32
		at = 4
	}
	if at == len(code) {
		return 0, 0, false
	}
	if slot, length, ok = d.thunkSlot(code, start, got); ok {
		return slot, length, true
	}
	jump, _ := d.Decode(code, at, nil)
	end := at + int(jump.Len)
	if jump.Flow != dataflow.Away || !d.throughMemory(code[at:end]) {
		return 0, 0, false
	}
	slot = uint64(int64(int32(binary.LittleEndian.Uint32(code[end-4:]))))
	switch {
	case d.mode == 64:
		slot += start + uint64(end)
	case code[end-5] == byBX && got == 0:
		return 0, 0, false // nobody knows what ebx has
	case code[end-5] == byBX:
		slot = uint64(uint32(slot + got))
	default:
		slot = uint64(uint32(slot))
	}
	length = (end + 7) &^ 7
	if end < len(code) && code[end] == 0x68 { // push $n
		length = maxStub
	}
	return slot, min(length, len(code)), true
}
