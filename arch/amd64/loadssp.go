package amd64

import "bytes"

// maxLoad is how many instructions are looked at for one that loads the stack pointer.
const maxLoad = 6

// loadsSP implements arch.Arch.LoadsSP.
func loadsSP(code []byte) bool {
	if !mayLoadSP(code) {
		return false
	}
	at := 0
	for range maxLoad {
		if at >= len(code) {
			return false
		}
		o := decode(code, at)
		switch {
		case o.dst == RSP && (o.kind == opLoad && o.base == RSP || o.kind == opPop):
			return true
		case o.dst == RSP:
			return false
		}
		switch o.kind {
		case opJump, opJumpAway, opBranch, opBranchNE, opReturn, opStop, opBad:
			return false
		}
		at += int(o.len)
	}
	return false
}

// mayLoadSP reports whether code has the bytes of mov disp(%rsp),%rsp or of pop %rsp: to decode it
// takes longer.
func mayLoadSP(code []byte) bool {
	for i := indexByte(code, 0x8b, 0); i >= 0; i = indexByte(code, 0x8b, i+1) {
		if i > 0 && code[i-1] == 0x48 && i+2 < len(code) && code[i+1]&0x3f == 0x24 && code[i+1] < 0xc0 && code[i+2] == 0x24 {
			return true
		}
	}
	for i := indexByte(code, 0x5c, 0); i >= 0; i = indexByte(code, 0x5c, i+1) {
		if (i == 0 || code[i-1] != 0x41) && (i+1 == len(code) || code[i+1] != 0x24) { // no pop %r12, no disp(%rsp)
			return true
		}
	}
	return false
}

// indexByte is where b stands in code, at or behind a place; negative where it does not.
func indexByte(code []byte, b byte, from int) int {
	if i := bytes.IndexByte(code[from:], b); i >= 0 {
		return from + i
	}
	return -1
}
