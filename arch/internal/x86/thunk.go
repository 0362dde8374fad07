package x86

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch/dataflow"
)

// Compilers and linkers protect indirect jumps and returns from speculation by thunks. A thunk
// calls code of its own that never returns there, because the first instruction replaces the return
// address, or drops it:
//
//	call 1f
//	0: pause; lfence; jmp 0b
//	1: mov %reg,(%rsp)       or lea 8(%rsp),%rsp
//	ret
//
// So such a call is a push and a jump, and the ret behind a replaced return address is a jump.

// dropsReturn reports whether the code at an offset, which is called, begins with an instruction
// that replaces its return address or drops it. No function does that.
func (d *Decoder) dropsReturn(code []byte, at int64) bool {
	if at < 0 || at >= int64(len(code)) {
		return false
	}
	p := code[at:]
	if len(p) > 0 && d.rex(p[0]) {
		p = p[1:]
	}
	word := byte(d.word)
	switch {
	case len(p) < 3:
		return false
	case storesTop(p):
		return true
	case p[0] == 0x83 && p[1] == 0xc4: // add $word,%rsp
		return p[2] == word
	}
	return len(p) > 3 && p[0] == 0x8d && p[1] == 0x64 && p[2] == 0x24 && p[3] == word // lea word(%rsp),%rsp
}

// storesTop reports whether p begins with mov %reg,(%rsp), behind its prefix.
func storesTop(p []byte) bool { return p[0] == 0x89 && p[1]&0xc7 == 0x04 && p[2] == 0x24 }

// ReturnReplaced implements arch.Arch.ReturnReplaced: the code ends with mov %reg,(%rsp).
func (d *Decoder) ReturnReplaced(code []byte) bool {
	const length = 3 // bytes, without the prefix
	n := len(code) - length
	if d.mode == 64 && (n < 1 || code[n-1]&0xf8 != 0x48) {
		return false
	}
	return n >= 0 && storesTop(code[n:])
}

const (
	callLength = 5  // bytes of a call and its distance
	maxLoop    = 11 // bytes of a thunk's loop
)

// ThunkBegins implements arch.Arch.ThunkBegins.
func (d *Decoder) ThunkBegins(before, code []byte) bool {
	return d.dropsReturn(code, 0) && thunkCall(before) >= 0
}

// thunkCall returns the offset of the call of a thunk that code ends before, or -1.
func thunkCall(code []byte) int {
	for at := len(code) - callLength - 2; at >= 0 && len(code)-at <= callLength+maxLoop; at-- {
		if distance, is := callAt(code, at); is && at+callLength+distance == len(code) {
			return at
		}
	}
	return -1
}

// callAt returns how far the call at an offset leads from its end. is is false if there is none.
func callAt(code []byte, at int) (distance int, is bool) {
	if at+callLength > len(code) || code[at] != 0xe8 {
		return 0, false
	}
	return int(int32(binary.LittleEndian.Uint32(code[at+1:]))), true
}

// Thunk implements arch.Arch.Thunk.
func (d *Decoder) Thunk(code []byte, at int) (pushed int32, called, ok bool) {
	begins := at // the instruction that drops the return address, or replaces it
	switch distance, is := callAt(code, at); {
	case is && distance >= 2 && distance <= maxLoop:
		begins = at + callLength + distance
	case is || at >= len(code):
		return 0, false, false
	case code[at] == 0xc3:
		for n := 3; n <= 5 && n <= at; n++ {
			if d.dropsReturn(code, int64(at-n)) && d.dropLength(code[at-n:]) == n {
				begins = at - n
			}
		}
	}
	if begins > len(code) || !d.dropsReturn(code, int64(begins)) {
		return 0, false, false
	}
	call, end := thunkCall(code[:begins]), begins+d.dropLength(code[begins:])
	if call < 0 || end >= len(code) || code[end] != 0xc3 {
		return 0, false, false
	}
	if at == begins || at == end && storesTop(code[end-3:]) {
		pushed = 1
	}
	for end++; end < len(code) && code[end] == 0xcc; end++ { // guards what is behind a ret
	}
	distance, is := callAt(code, end)
	return pushed, is && end+callLength+distance == call, true
}

// dropLength is the length of the instruction that dropsReturn is true of.
func (d *Decoder) dropLength(code []byte) (n int) {
	if d.rex(code[0]) {
		code, n = code[1:], 1
	}
	if code[0] == 0x8d {
		n++
	}
	return n + 3
}

// maxPath is how many instructions of linkage stubs are followed.
const maxPath = 24

// StubPath implements arch.Arch.StubPath.
func (d *Decoder) StubPath(lo, hi, pc uint64, read func(addr uint64) []byte) (fromSP int32, ok bool) {
	word, sp := int32(d.word), d.number[numberSP]
	end, binds, ok := d.firstStub(lo, read)
	if !ok {
		return 0, false
	}
	fromSP = word // where the path leaves the section, the return address alone is on the stack
	bound := false
	var ops []dataflow.Op
	for range maxPath {
		if pc < lo || pc >= hi { // behind a jump
			return fromSP, fromSP >= word
		}
		if binds && pc < end && !bound {
			bound, fromSP = true, fromSP+2*word
		}
		var in dataflow.Inst
		p := read(pc)
		if in, ops = d.Decode(p, 0, ops[:0]); int(in.Len) > len(p) || in.Kill.Has(sp) {
			return 0, false
		}
		for i := range ops {
			switch o := &ops[i]; {
			case o.Dst != sp || o.Kind == dataflow.Store || o.Kind == dataflow.Compare:
			case o.Kind == dataflow.Sum && o.Base == sp && o.Index == dataflow.None:
				fromSP += o.Imm
			default:
				return 0, false
			}
		}
		switch {
		case in.Return:
			return fromSP + word, fromSP >= 0
		case in.Flow == dataflow.Away:
			return fromSP, fromSP >= word
		case in.Flow == dataflow.Call && in.Target != dataflow.NoTarget:
			fromSP -= word
			pc += uint64(in.Target)
		case in.Flow == dataflow.Jump:
			pc += uint64(in.Target)
		case in.Flow == dataflow.Next:
			pc += uint64(in.Len)
		default:
			return 0, false
		}
	}
	return 0, false
}

// firstStub returns where the straight code of a section's first stub ends. binds says that symbols
// are bound late: the stub begins with a push of a word in memory, and jumps to the dynamic linker
// with two words on the stack that no other function gets.
func (d *Decoder) firstStub(lo uint64, read func(addr uint64) []byte) (end uint64, binds, ok bool) {
	end = lo
	var ops []dataflow.Op
	for range maxPath {
		var in dataflow.Inst
		p := read(end)
		if in, ops = d.Decode(p, 0, ops[:0]); int(in.Len) > len(p) {
			return 0, false, false
		}
		if end == lo {
			binds = len(ops) > 0 && ops[0].Kind == dataflow.Load && ops[0].Dst == dataflow.Temp
		}
		if end += uint64(in.Len); in.Flow != dataflow.Next {
			break
		}
	}
	return end, binds, true
}

// thunkSlot is StubSlot for a stub that loads the word into a register, for a thunk that jumps
// there:
//
//	mov slot(%rip),%r11          or, in 32-bit code, push %eax; mov slot(%ebx),%eax
//	call thunk; jmp; push $n; jmp first stub
//
// If symbols are not bound late, the stub ends in a jump to the thunk.
func (d *Decoder) thunkSlot(code []byte, start, got uint64) (slot uint64, length int, ok bool) {
	const short, jump = 16, 5
	at := 0
	if d.mode == 32 && len(code) > 0 && code[0] == 0x50 { // push %eax
		at = 1
	}
	load, ops := d.Decode(code, at, nil)
	end := at + int(load.Len)
	if len(ops) != 1 || ops[0].Kind != dataflow.Load || ops[0].Width != d.word || load.Len < 5 || end+jump > len(code) {
		return 0, 0, false
	}
	switch o := &ops[0]; {
	case o.Index != dataflow.None:
		return 0, 0, false
	case d.mode == 64 && o.Base == dataflow.PC:
		slot = start + uint64(int64(o.Imm))
	case d.mode == 32 && o.Base == d.number[numberBX] && got != 0:
		slot = uint64(uint32(got + uint64(int64(o.Imm))))
	default:
		return 0, 0, false
	}
	switch length = short; code[end] {
	case 0xe8:
		length = 2 * short
	case 0xe9:
	default:
		return 0, 0, false
	}
	return slot, min(length, len(code)), true
}
