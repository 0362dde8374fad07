package amd64

import "bytes"

// frameSetUp implements arch.Arch.FrameSetUp, by the instructions that GDB knows: push %rbp, and
// mov %rsp,%rbp in both encodings, with endbr64 or the alignment of the stack before.
func frameSetUp(code []byte, start uint64) uint64 {
	rest := bytes.TrimPrefix(code, []byte{0xf3, 0x0f, 0x1e, 0xfa})
	rest = behindAlignment(rest)
	rest, pushed := bytes.CutPrefix(rest, []byte{0x55})
	if !pushed {
		return start
	}
	for _, mov := range [][]byte{{0x48, 0x89, 0xe5}, {0x48, 0x8b, 0xec}} {
		if behind, ok := bytes.CutPrefix(rest, mov); ok {
			return start + uint64(len(code)-len(behind))
		}
	}
	return start
}

// behindAlignment returns what follows GCC's alignment of the stack, or code itself if that does
// not begin with one: the CFA goes to a register (lea 8(%rsp),%r10), SP is rounded (and $-16,%rsp),
// and the return address is pushed once more (push -8(%r10)). The register may be saved first
// (push; lea 16(%rsp)).
func behindAlignment(code []byte) []byte {
	if len(code) < 24 {
		return code
	}
	at, from := 0, byte(8)
	if code[0]&0xf8 == 0x50 {
		at, from = 1, 16
	} else if code[0] == 0x41 && code[1]&0xf8 == 0x50 {
		at, from = 2, 16
	}
	if code[at]&0xfb != 0x48 || code[at+1] != 0x8d || code[at+2]&0xc7 != 0x44 || code[at+3] != 0x24 || code[at+4] != from {
		return code
	}
	reg := code[at+2] >> 3 & 7
	extended := code[at]&4 != 0
	at += 5
	switch {
	case bytes.HasPrefix(code[at:], []byte{0x48, 0x83, 0xe4}):
		at += 4
	case bytes.HasPrefix(code[at:], []byte{0x48, 0x81, 0xe4}):
		at += 7
	default:
		return code
	}
	if extended {
		if code[at] != 0x41 {
			return code
		}
		at++
	}
	if code[at] != 0xff || code[at+1] != 0x70|reg || code[at+2] != 0xf8 {
		return code
	}
	return code[at+3:]
}
