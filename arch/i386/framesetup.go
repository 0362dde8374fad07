package i386

import (
	"bytes"
	"encoding/binary"
)

// frameSetUp implements arch.Arch.FrameSetUp, as GDB reads the prologues of i386: what may come
// before push %ebp; mov %esp,%ebp, those, and the room for variables, the registers that are saved
// and the address of the global offset table behind them.
func frameSetUp(code []byte, start uint64) uint64 {
	rest := behindEntry(code)
	rest = behindStructResult(rest)
	rest = behindProbe(rest)
	rest = behindAlignment(rest)
	rest, ok := behindFramePointer(rest)
	if !ok {
		return start
	}
	rest = behindTable(behindSaves(rest))
	return start + uint64(len(code)-len(rest))
}

// behindEntry returns what follows endbr32, and what stands at the entry for patches: nops, and mov
// %edi,%edi. It follows a jump forward in the function.
func behindEntry(code []byte) []byte {
	code = bytes.TrimPrefix(code, []byte{0xf3, 0x0f, 0x1e, 0xfb})
	for {
		switch {
		case len(code) > 0 && code[0] == 0x90:
			code = code[1:]
		case bytes.HasPrefix(code, []byte{0x8b, 0xff}):
			code = code[2:]
		default:
			return behindJump(code)
		}
	}
}

func behindJump(code []byte) []byte {
	to := -1
	switch {
	case len(code) >= 2 && code[0] == 0xeb:
		to = 2 + int(int8(code[1]))
	case len(code) >= 5 && code[0] == 0xe9:
		to = 5 + int(int32(binary.LittleEndian.Uint32(code[1:])))
	}
	if to <= 0 || to > len(code) {
		return code
	}
	return code[to:]
}

// behindStructResult returns what follows pop %eax; xchg %eax,(%esp), by which old compilers take
// the address of a result from between the arguments.
func behindStructResult(code []byte) []byte {
	for _, prefix := range []string{"\x58\x87\x04\x24", "\x58\x87\x44\x24\x00"} {
		if rest, ok := bytes.CutPrefix(code, []byte(prefix)); ok {
			return rest
		}
	}
	return code
}

// behindProbe returns what follows push $size; call; add $4,%esp, the call of a routine that
// touches pages.
func behindProbe(code []byte) []byte {
	push := 0
	switch {
	case len(code) > 5 && code[0] == 0x68:
		push = 5
	case len(code) > 2 && code[0] == 0x6a:
		push = 2
	default:
		return code
	}
	if rest := code[push:]; len(rest) >= 8 && rest[0] == 0xe8 && rest[6] == 0xc4 && rest[7] == 4 {
		return rest[8:]
	}
	return code
}

// behindAlignment returns what follows the alignment of the stack: the CFA goes to a register (lea
// 4(%esp),%ecx), SP is rounded (and $-16,%esp), and the return address is pushed once more (push
// -4(%ecx)). The register may be saved first (push; lea 8(%esp)).
func behindAlignment(code []byte) []byte {
	const longest = 1 + 4 + 6 + 3
	if len(code) < longest {
		return code
	}
	at, from := 0, byte(4)
	if code[0]&0xf8 == 0x50 {
		at, from = 1, 8
	}
	if code[at] != 0x8d || code[at+1]&0xc7 != 0x44 || code[at+2] != 0x24 || code[at+3] != from {
		return code
	}
	reg := code[at+1] >> 3 & 7
	at += 4
	switch {
	case bytes.HasPrefix(code[at:], []byte{0x83, 0xe4}):
		at += 3
	case bytes.HasPrefix(code[at:], []byte{0x81, 0xe4}):
		at += 6
	default:
		return code
	}
	if code[at] != 0xff || code[at+1] != 0x70|reg || code[at+2] != 0xfc {
		return code
	}
	return code[at+3:]
}

// between are the instructions that compilers put between push %ebp and mov %esp,%ebp: a constant
// or a variable to eax, ecx or edx, or one of them cleared. A byte is as it is under the mask.
var between = []struct {
	bytes, mask string
	length      int
}{
	{"\xb0", "\xfc", 2}, {"\xb4", "\xfc", 2}, // a constant to a part of one
	{"\xb8", "\xfe", 5}, {"\xba", "\xff", 5},
	{"\xa1", "\xff", 5}, {"\x8b\x05", "\xff\xf7", 6}, {"\x8b\x15", "\xff\xff", 6},
	{"\x29\xc0", "\xfd\xff", 2}, {"\x29\xc9", "\xfd\xff", 2}, {"\x29\xd2", "\xfd\xff", 2},
	{"\x31\xc0", "\xfd\xff", 2}, {"\x31\xc9", "\xfd\xff", 2}, {"\x31\xd2", "\xfd\xff", 2},
}

// behindBetween returns what follows one of these; ok is false where code begins with none.
func behindBetween(code []byte) (rest []byte, ok bool) {
	for _, in := range between {
		if len(code) < in.length {
			continue
		}
		same := true
		for i := range len(in.bytes) {
			same = same && code[i]&in.mask[i] == in.bytes[i]
		}
		if same {
			return code[in.length:], true
		}
	}
	return code, false
}

// behindFramePointer returns what follows push %ebp; mov %esp,%ebp or enter, and the room for
// variables; ok is false where code begins with neither.
func behindFramePointer(code []byte) (rest []byte, ok bool) {
	if len(code) >= 4 && code[0] == 0xc8 {
		return code[4:], true
	}
	rest, ok = bytes.CutPrefix(code, []byte{0x55})
	for more := ok; more; {
		rest, more = behindBetween(rest)
	}
	if !ok {
		return code, false
	}
	for _, mov := range []string{"\x8b\xec", "\x89\xe5", "\x8d\x2c\x24"} {
		if behind, ok := bytes.CutPrefix(rest, []byte(mov)); ok {
			return behindRoom(behind), true
		}
	}
	return code, false
}

// behindRoom returns what follows sub $n,%esp or lea -n(%esp),%esp.
func behindRoom(code []byte) []byte {
	for more := true; more; {
		code, more = behindBetween(code)
	}
	for _, in := range []struct {
		bytes  string
		length int
	}{{"\x83\xec", 3}, {"\x81\xec", 6}, {"\x8d\x64\x24", 4}} {
		if bytes.HasPrefix(code, []byte(in.bytes)) && len(code) >= in.length {
			return code[in.length:]
		}
	}
	return code
}

// behindSaves returns what follows the pushes of registers, eight at most.
func behindSaves(code []byte) []byte {
	for i := 0; i < 8 && len(code) > 0 && code[0]&0xf8 == 0x50; i++ {
		code = code[1:]
	}
	return code
}

// behindTable returns what follows call +0; pop %ebx; add $n,%ebx, by which old compilers find the
// global offset table; %ebx may be stored before.
func behindTable(code []byte) []byte {
	rest, ok := bytes.CutPrefix(code, []byte{0xe8, 0, 0, 0, 0, 0x5b})
	if !ok || len(rest) < 2 {
		return code
	}
	if rest[0] == 0x89 {
		n := map[byte]int{0x5d: 3, 0x9d: 6}[rest[1]] // mov %ebx,n(%ebp)
		if n == 0 || len(rest) < n {
			return code
		}
		rest = rest[n:]
	}
	if len(rest) >= 6 && rest[0] == 0x81 && rest[1] == 0xc3 {
		return rest[6:]
	}
	return code
}
