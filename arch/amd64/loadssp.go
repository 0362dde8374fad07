package amd64

import "bytes"

// loadsSP implements arch.Arch.LoadsSP.
func loadsSP(code []byte) bool { return mayLoadSP(code) && Machine.LoadsSP(code) }

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
