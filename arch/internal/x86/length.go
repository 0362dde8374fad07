package x86

import "github.com/sfwalk/sfwalk/arch/dataflow"

// unknown takes in an instruction that x86asm does not know, as far as it can be followed: its
// length, and the general registers that it might write. Such instructions are of the newer
// extensions (AMD's FMA4 and XOP, protection keys, newer VEX and EVEX codes), and none of them
// touches rsp.
func (in *inst) unknown(p []byte) {
	n, kill := in.extensionLen(p)
	if n == 0 || n > len(p) {
		in.Flow, in.Len = dataflow.Bad, 1
		return
	}
	in.Len, in.Kill = uint8(n), kill&^in.sp().Bit()
}

// known takes in the instructions whose lengths x86asm gets wrong: endbr64 and endbr32, the rest of
// the hint space F3 0F 1E (rdssp), and vzeroupper, which has no ModRM byte; and syscall in 32-bit
// code.
func (in *inst) known(p []byte) bool {
	switch {
	case len(p) >= 4 && p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e && p[3]&0xfe == 0xfa:
		in.Len, in.Nop = 4, true
	case len(p) >= 4 && p[0] == 0xf3 && (p[1] == 0x0f && p[2] == 0x1e || in.rex(p[1]) && p[2] == 0x0f && p[3] == 0x1e):
		in.unknown(p)
	case len(p) >= 3 && p[0] == 0xc5 && p[1]&3 == 0 && p[2] == 0x77:
		in.Len, in.Nop = 3, true
	case in.mode == 32 && len(p) >= 2 && p[0] == 0x0f && p[1] == 0x05: // syscall, which x86asm knows in 64-bit code alone
		in.Len, in.Kill = 2, in.set(numberAX, numberCX, numberBP) // as sysenter
	default:
		return false
	}
	return true
}

// rex reports whether b is a prefix that names the upper eight registers.
func (d *Decoder) rex(b byte) bool { return d.mode == 64 && b>>4 == 4 }

// extensionLen returns the length of the instruction that p begins with where
// its opcode is of a map whose instructions all have a ModRM byte (Intel SDM,
// volume 2, appendix A), else 0; and the general registers that the ModRM byte
// and the prefix can name.
func (d *Decoder) extensionLen(p []byte) (n int, kill dataflow.Set) {
	i := 0
	for i < len(p) && (p[i] == 0x66 || p[i] == 0x67 || p[i] == 0xf2 || p[i] == 0xf3 || p[i] == 0x2e || p[i] == 0x3e || p[i]>>1 == 0x64>>1) {
		i++
	}
	if i+4 > len(p) {
		return d.shortExtensionLen(p, i)
	}
	var opmap, r, b, v byte
	vector := true
	switch c := p[i:]; {
	case d.mode == 32 && c[1] < 0xc0 && c[0] != 0x8f: // lds, les and bound have an operand in memory
		return d.shortExtensionLen(p, i)
	case c[0] == 0xc5:
		opmap, r, v = 1, ^c[1]>>7&1, ^c[1]>>3&15
		i += 2
	case c[0] == 0xc4 || c[0] == 0x8f && c[1]&0x1f >= 8:
		opmap, r, b, v = c[1]&0x1f, ^c[1]>>7&1, ^c[1]>>5&1, ^c[2]>>3&15
		i += 3
	case c[0] == 0x62:
		opmap, r, b, v = c[1]&7, ^c[1]>>7&1, ^c[1]>>5&1, ^c[2]>>3&15
		i += 4
	default:
		return d.shortExtensionLen(p, i)
	}
	return d.modRMInst(p, i, opmap, r, b, v, vector)
}

// shortExtensionLen is extensionLen for the opcodes behind 0F, with or without
// a REX prefix at p[i].
func (d *Decoder) shortExtensionLen(p []byte, i int) (n int, kill dataflow.Set) {
	var r, b, opmap byte
	if i < len(p) && d.rex(p[i]) {
		r, b = p[i]>>2&1, p[i]&1
		i++
	}
	if i+2 > len(p) || p[i] != 0x0f {
		return 0, 0
	}
	switch i++; p[i] {
	case 0x38:
		opmap = 2
		i++
	case 0x3a:
		opmap = 3
		i++
	case 0x01, 0x0d, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0xae, 0xc7:
		opmap = 1
	default:
		return 0, 0
	}
	return d.modRMInst(p, i, opmap, r, b, 0, false)
}

// modRMInst measures an instruction whose opcode is at p[i].
func (d *Decoder) modRMInst(p []byte, i int, opmap, r, b, v byte, vector bool) (n int, kill dataflow.Set) {
	if i+2 > len(p) {
		return 0, 0
	}
	opcode, modrm := p[i], p[i+1]
	l := modRMLen(p[i+1:])
	if l == 0 {
		return 0, 0
	}
	n = i + 1 + l
	switch opmap {
	case 1:
		if vector && (opcode >= 0x70 && opcode <= 0x73 || opcode == 0xc2 || opcode >= 0xc4 && opcode <= 0xc6) {
			n++
		}
	case 2, 5, 6, 9:
	case 3, 8:
		n++
	case 10:
		n += 4
	default:
		return 0, 0
	}
	if n > len(p) {
		return 0, 0
	}
	kill = d.number[(r<<3|modrm>>3&7)&d.mask].Bit()
	if modrm>>6 == 3 {
		kill |= d.number[(b<<3|modrm&7)&d.mask].Bit()
	}
	if !vector {
		if opmap == 1 && (opcode == 0xc7 || opcode == 0xae) { // the middle of the ModRM byte is part of the opcode: rdseed, rdfsbase
			kill &^= d.number[modrm>>3&7].Bit()
		}
		if opmap == 1 && opcode == 0x01 { // the ModRM byte is part of the opcode
			kill = 0
		}
		return n, kill | d.set(numberAX, numberCX, numberDX)
	}
	// Of the vector maps only these opcodes write general registers.
	switch {
	case opmap == 1 && (opcode == 0x50 || opcode == 0x2c || opcode == 0x2d || opcode == 0x78 || opcode == 0x79 ||
		opcode == 0x7e || opcode == 0x93 || opcode == 0xc5 || opcode == 0xd7):
	case opmap == 2 && opcode >= 0xe0, opmap == 3 && (opcode == 0xf0 || opcode >= 0x14 && opcode <= 0x17),
		opmap == 5, opmap >= 9:
		kill |= d.number[v&d.mask].Bit()
	default:
		kill = 0
	}
	return n, kill
}
