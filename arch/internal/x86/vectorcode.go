package x86

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/dataflow"
)

// VectorCode implements arch.Arch.VectorCode. A compiler that may use AVX writes no instruction of
// SSE that AVX has in a form of its own.
func (d *Decoder) VectorCode(code []byte) (c arch.VectorCode, ok bool) {
	var seen vectorUse
	for at := 0; at < len(code); {
		in, _ := d.Decode(code, at, nil)
		if in.Flow == dataflow.Bad || in.Len == 0 {
			return c, false
		}
		d.use(code[at:min(len(code), at+int(in.Len))], &seen)
		at += int(in.Len)
	}
	switch c = (arch.VectorCode{Least: 0, Most: 64, Memory: seen.memory}); {
	case seen.sse && (seen.vex || seen.wide):
		return c, false
	case seen.sse:
		c.Least, c.Most = 16, 16
	case seen.wide:
		c.Least = 64
	case seen.vex:
		c.Least = 32
	}
	return c, true
}

// vectorUse is what instructions use: registers of SSE, registers of AVX, all 64 bytes of registers
// of AVX-512, memory other than constants.
type vectorUse struct{ sse, vex, wide, memory bool }

// use takes in one instruction.
func (d *Decoder) use(p []byte, seen *vectorUse) {
	for len(p) > 1 && (p[0] == 0x67 || p[0] == 0x2e || p[0] == 0x36 || p[0] == 0x3e || p[0] == 0x26 || p[0]>>1 == 0x64>>1) {
		p = p[1:]
	}
	if len(p) >= 3 && (d.mode == 64 || p[1] >= 0xc0) {
		switch p[0] {
		case 0xc5:
			d.useVEX(1, p[2:], seen)
			return
		case 0xc4:
			d.useVEX(p[1]&0x1f, p[3:], seen)
			return
		case 0x62:
			if opmap := p[1] & 7; opmap != 4 && len(p) > 5 { // that one has general instructions
				seen.vex = true
				seen.wide = seen.wide || p[3]>>5&3 == 2 && p[3]&0x10 == 0
				seen.memory = seen.memory || d.inMemory(p[5])
			}
			return
		}
	}
	x, err := x86asm.Decode(p, d.mode)
	if err != nil || x.Op == x86asm.LEA || x.Op == x86asm.NOP {
		return
	}
	for _, a := range x.Args {
		switch a := a.(type) {
		case x86asm.Reg:
			seen.sse = seen.sse || a >= x86asm.X0 && a <= x86asm.X15
		case x86asm.Mem:
			seen.memory = seen.memory || a.Base != x86asm.RIP
		}
	}
}

// useVEX takes in an instruction of VEX, of whose opcode and what follows p begins.
func (d *Decoder) useVEX(opmap byte, p []byte, seen *vectorUse) {
	if len(p) < 1 {
		return
	}
	opcode := p[0]
	zeroes := opmap == 1 && opcode == 0x77 // vzeroupper, which has no operands
	if len(p) > 1 && !zeroes {
		seen.memory = seen.memory || d.inMemory(p[1])
	}
	general := opmap == 2 && opcode >= 0xf2 && opcode <= 0xf7 || opmap == 3 && opcode == 0xf0
	seen.vex = seen.vex || !general
}

// inMemory reports whether the ModRM byte of an instruction of VEX or EVEX names memory that is no
// constant.
func (d *Decoder) inMemory(modrm byte) bool {
	constant := d.mode == 64 && modrm&0xc7 == 5
	return modrm>>6 != 3 && !constant
}
