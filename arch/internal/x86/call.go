package x86

import "encoding/binary"

// AfterCall implements arch.Arch.AfterCall. It reports whether code ends with a near call: E8
// rel32, or FF /2 with any addressing form. Prefixes stand before the opcode and change no length,
// so they need no look.
func AfterCall(code []byte) bool {
	n := len(code)
	if n >= 5 && code[n-5] == 0xe8 {
		return true
	}
	for l := 2; l <= 7 && l <= n; l++ {
		if in := code[n-l:]; in[0] == 0xff && in[1]>>3&7 == 2 && 1+modRMLen(in[1:]) == l {
			return true
		}
	}
	return false
}

// modRMLen returns the length of the ModRM byte that p begins with and of the
// SIB byte and displacement that it calls for (addresses of 32 or 64 bits); 0 where p ends
// before that is known.
func modRMLen(p []byte) int {
	if len(p) == 0 {
		return 0
	}
	mod, rm := p[0]>>6, p[0]&7
	if mod == 3 {
		return 1
	}
	n := 1
	base := rm
	if rm == 4 {
		if len(p) < 2 {
			return 0
		}
		n, base = 2, p[1]&7
	}
	switch {
	case mod == 1:
		n++
	case mod == 2, mod == 0 && base == 5:
		n += 4
	}
	return n
}

// CallTarget implements arch.Arch.CallTarget: call rel32 alone says where it goes.
func (d *Decoder) CallTarget(code []byte, ra uint64) (target uint64, ok bool) {
	n := len(code)
	if n < 5 || code[n-5] != 0xe8 {
		return 0, false
	}
	target = ra + uint64(int64(int32(binary.LittleEndian.Uint32(code[n-4:]))))
	if d.mode == 32 {
		target = uint64(uint32(target))
	}
	return target, true
}
