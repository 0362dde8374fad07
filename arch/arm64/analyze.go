package arm64

import "encoding/binary"

// mostAnalyzed is how many bytes of a function GDB analyzes.
const mostAnalyzed = 128

// analyzePrologue returns the address of the first instruction that cannot be a prologue's, as GDB
// finds it where no line table tells (aarch64_analyze_prologue): behind the instructions that set
// up the frame and store registers. start is the entry of the function whose bytes are code.
func analyzePrologue(code []byte, start uint64) uint64 {
	var fromSP, fixed [32]bool // the register's value is SP's and a constant; is a constant
	fromSP[31] = true
	set := false // the frame is set up: something is stored in it, or FP points to it
	at := 0
	for ; at+4 <= min(len(code), mostAnalyzed); at += 4 {
		in := binary.LittleEndian.Uint32(code[at:])
		rd, rn, rm := in&31, in>>5&31, in>>16&31
		switch {
		case in&0x3f800000 == 0x11000000: // add, sub immediate
			fromSP[rd], fixed[rd] = fromSP[rn], fixed[rn]
			set = set || rn == 31 && rd == 29
		case in&0x7fe00000 == 0x4b200000: // sub extended register
			fromSP[rd], fixed[rd] = fromSP[rn] && fixed[rm], fixed[rn] && fixed[rm]
		case in&0x7f800000 == 0x52800000: // movz
			if set {
				return start + uint64(at)
			}
			fromSP[rd], fixed[rd] = false, true
		case in&0x7fe0ffe0 == 0x2a0003e0: // mov register
			fromSP[rd], fixed[rd] = fromSP[rm], fixed[rm]
		case in&0xbfe00c00 == 0xb8000000: // stur
			set = set || rn == 31 // GDB goes on, also where stur stores a variable
		case in&0x7fc00000 == 0x29000000, in&0x3fc00000 == 0x2d000000, in&0x7fc00000 == 0x29800000, in&0x3fc00000 == 0x2d800000: // stp, not post-indexed
			if in>>30 == 3 || !fromSP[rn] {
				return start + uint64(at)
			}
			set = set || rn == 31 && in&(1<<23) == 0
		case in&0xbfe00400 == 0xb8000400, in&0xbfe00400 == 0xbc000400, in&0xffe00400 == 0x3c800400: // str, pre- and post-indexed
			if rn != 31 { // of a variable
				return start + uint64(at)
			}
			set = true
		case in&0xbfc00000 == 0xb9000000, in&0xbfc00000 == 0xbd000000, in&0xffc00000 == 0x3d800000: // str, unsigned offset
			if rn != 31 { // of a variable
				return start + uint64(at)
			}
			set = true
		case in == 0xd503233f, in == 0xd503237f, in == 0xd50323bf, in == 0xd50323ff: // paciasp, pacibsp, autiasp, autibsp
		case in&0xffffff3f == 0xd503241f: // bti
		default:
			return start + uint64(at)
		}
	}
	return start + uint64(at)
}
