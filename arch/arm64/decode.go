package arm64

import (
	"encoding/binary"
	"math"

	"golang.org/x/arch/arm64/arm64asm"
)

// reg is a register that an analysis follows: 0 to 30 for x0 to x30, 31 for sp,
// 32 to 63 for the low 64 bits of v0 to v31.
type reg uint8

const (
	x16   reg = 16
	x17   reg = 17
	x29   reg = 29
	x30   reg = 30
	rsp   reg = 31
	v0    reg = 32
	nRegs     = 64
	noReg reg = 0xff // none that is followed; the zero register, too
)

// An opKind is what an instruction does, as far as frames are concerned.
type opKind uint8

const (
	opOther    opKind = iota // writes the registers in kill
	opMove                   // dst = src, of 64 bits
	opConst                  // dst = imm
	opKeep                   // dst = dst with 16 bits at shift replaced by imm (movk)
	opLea                    // dst = base+src+imm; src may be noReg
	opSub                    // dst = base-src
	opLoad                   // dst, and dst2 behind it, = memory at base+imm
	opStore                  // memory at base+imm = dst, and dst2 behind it
	opCompare                // dst with src
	opSign                   // x30 is signed (paciasp), or authenticated (autiasp)
	opCall                   // and comes back
	opJump                   // to target
	opBranch                 // to target or on
	opBranchNE               // to target unless what was compared is equal
	opJumpReg                // to where register src says
	opStop                   // traps
	opBad                    // is no instruction
)

// noTarget is the target of what is no direct branch.
const noTarget = math.MinInt64

// An op is one instruction.
type op struct {
	kind      opKind
	nop       bool
	link      bool  // a return: ret
	width     uint8 // bytes of each register of opLoad and opStore; only 8 are followed
	shift     uint8 // of opKeep
	dst, dst2 reg
	src, base reg
	imm       int32
	writeback int32 // added to base; before the access where pre is set
	pre       bool
	target    int64  // offset into the code, if it is in there
	kill      uint64 // registers that get a value which is not followed
}

// size is the length of every instruction, bytes.
const size = 4

// decode decodes the instruction at code[at:]. Encodings are those of the Arm
// Architecture Reference Manual for A-profile, C4.1.
func decode(code []byte, at int) op {
	o := op{dst: noReg, dst2: noReg, src: noReg, base: noReg, target: noTarget}
	if at+size > len(code) {
		o.kind = opBad
		return o
	}
	w := binary.LittleEndian.Uint32(code[at:])
	switch {
	case w>>16 == 0: // udf, and what follows the end of code
		o.kind = opBad
	case w>>26&7 == 4: // data processing, immediate
		o.immediate(w)
	case w>>26&7 == 5: // branches, exceptions, system
		o.control(w, at)
	case w>>27&1 == 1 && w>>25&1 == 0:
		o.memory(w)
	case w>>25&7 == 5:
		o.registers(w)
	case w>>25&7 == 7:
		o.float(w)
	case w>>25&15 == 2:
		o.scalable(w)
	default:
		o.byLibrary(code[at : at+size])
	}
	return o
}

// The fields that most instructions have.
func rd(w uint32) uint32 { return w & 31 }
func rn(w uint32) uint32 { return w >> 5 & 31 }
func rm(w uint32) uint32 { return w >> 16 & 31 }

// x returns the general register of a field in which 31 is the zero register; xsp
// that of one in which it is the stack pointer.
func x(n uint32) reg {
	if n == 31 {
		return noReg
	}
	return reg(n)
}
func xsp(n uint32) reg { return reg(n) }
func v(n uint32) reg   { return v0 + reg(n) }

// bit returns the one-register set of r.
func bit(r reg) uint64 {
	if r == noReg {
		return 0
	}
	return 1 << r
}

// signed returns the signed number in the n low bits of w.
func signed(w uint32, n int) int32 { return int32(w<<(32-n)) >> (32 - n) }

func (o *op) lea(dst, base, index reg, imm int32) {
	o.kind, o.dst, o.base, o.src, o.imm = opLea, dst, base, index, imm
}

func (o *op) constant(dst reg, n int64) {
	if dst == noReg || n < math.MinInt32 || n > math.MaxInt32 {
		o.kill = bit(dst)
		return
	}
	o.kind, o.dst, o.imm = opConst, dst, int32(n)
}

func (o *op) immediate(w uint32) {
	wide := w>>31 == 1
	switch w >> 23 & 7 {
	case 0, 1: // adr, adrp
		o.kill = bit(x(rd(w)))
	case 2: // add, adds, sub, subs
		imm := int32(w >> 10 & 0xfff)
		if w>>22&1 == 1 {
			imm <<= 12
		}
		if w>>30&1 == 1 {
			imm = -imm
		}
		dst := xsp(rd(w))
		if w>>29&1 == 1 {
			dst = x(rd(w))
		}
		switch {
		case dst == noReg: // cmp, cmn
			o.kind = opCompare
		case wide:
			o.lea(dst, xsp(rn(w)), noReg, imm)
		default:
			o.kill = bit(dst)
		}
	case 4: // and, orr, eor, ands
		opc := w >> 29 & 3
		dst := xsp(rd(w))
		if opc == 3 {
			dst = x(rd(w))
		}
		if n, ok := bitmask(w); ok && opc == 1 && rn(w) == 31 && wide && dst != rsp {
			o.constant(dst, n)
			return
		}
		o.kill = bit(dst)
	case 5: // movn, movz, movk
		shift := w >> 21 & 3 * 16
		n := int64(w>>5&0xffff) << shift
		switch w >> 29 & 3 {
		case 0:
			if n = ^n; !wide {
				n = int64(uint32(n))
			}
			o.constant(x(rd(w)), n)
		case 2:
			o.constant(x(rd(w)), n)
		case 3:
			o.kind, o.dst, o.imm, o.shift = opKeep, x(rd(w)), int32(w>>5&0xffff), uint8(shift)
		}
	default: // bit fields, extract
		o.kill = bit(x(rd(w)))
	}
}

// bitmask decodes the immediate of a logical instruction: a run of ones, turned
// and repeated (DecodeBitMasks).
func bitmask(w uint32) (n int64, ok bool) {
	imms, immr := w>>10&63, w>>16&63
	length := -1
	for i, t := 6, w>>22&1<<6|^imms&63; i >= 0; i-- {
		if t>>i&1 == 1 {
			length = i
			break
		}
	}
	if length < 1 {
		return 0, false
	}
	width := uint32(1) << length
	ones, turn := imms&(width-1)+1, immr&(width-1)
	if ones == width {
		return 0, false
	}
	element := uint64(1)<<ones - 1
	mask := ^uint64(0) >> (64 - width)
	element = (element>>turn | element<<(width-turn)) & mask
	v := uint64(0)
	for at := uint32(0); at < 64; at += width {
		v |= element << at
	}
	return int64(v), true
}

func (o *op) control(w uint32, at int) {
	jump := func(words int32) { o.target = int64(at) + 4*int64(words) }
	switch {
	case w>>26 == 5: // b
		o.kind = opJump
		jump(signed(w, 26))
	case w>>26 == 0x25: // bl
		o.kind = opCall
		jump(signed(w, 26))
	case w>>25&0x3f == 0x1a: // cbz, cbnz
		o.kind = opBranch
		jump(signed(w>>5, 19))
	case w>>25&0x3f == 0x1b: // tbz, tbnz
		o.kind = opBranch
		jump(signed(w>>5, 14))
	case w>>24 == 0x54: // b.cond
		o.kind = opBranch
		switch w & 15 {
		case 1:
			o.kind = opBranchNE
		case 14, 15:
			o.kind = opJump
		}
		jump(signed(w>>5, 19))
	case w>>25 == 0x6b: // to a register, also an authenticated one
		o.src = x(rn(w))
		switch w >> 21 & 7 {
		case 0:
			o.kind = opJumpReg
		case 1:
			o.kind = opCall
		case 2:
			o.kind, o.link = opJumpReg, true
			if w>>11&1 == 1 { // retaa, retab
				o.src = x30
			}
		default:
			o.kind = opStop
		}
	case w>>24 == 0xd4:
		switch w >> 21 & 7 {
		case 0: // svc, hvc, smc
			o.kill = 1
		default: // brk, hlt
			o.kind = opStop
		}
	case w&0xfffff01f == 0xd503201f: // hints
		switch w >> 5 & 0x7f {
		case 24, 25, 26, 27, 28, 29, 30, 31: // paciaz, paciasp, pacibz, pacibsp, autiaz, autiasp, autibz, autibsp
			o.kind = opSign
		case 0, 32, 34, 36, 38: // nop, bti
			o.nop = true
		case 8, 10, 12, 14: // pacia1716, pacib1716, autia1716, autib1716
			o.kill = bit(x17)
		case 40: // chkfeat
			o.kill = bit(x16)
		}
	case w>>20 == 0xd53 || w>>19 == 0xd528>>3: // mrs, sysl
		o.kill = bit(x(rd(w)))
	}
}

func (o *op) registers(w uint32) {
	wide := w>>31 == 1
	switch {
	case w>>24&0x1f == 0x0a: // logical, shifted
		if wide && w>>29&3 == 1 && w>>21&1 == 0 && w>>22&3 == 0 && w>>10&63 == 0 && rn(w) == 31 { // mov
			if rm(w) == 31 {
				o.constant(x(rd(w)), 0)
			} else {
				o.kind, o.dst, o.src = opMove, x(rd(w)), x(rm(w))
			}
			return
		}
	case w>>24&0x1f == 0x0b: // add, sub
		extended := w>>21&1 == 1
		plain := w>>22&3 == 0 && w>>10&63 == 0
		n, d := x(rn(w)), x(rd(w))
		if extended {
			plain = w>>13&7 == 3 && w>>10&7 == 0 // uxtx #0
			if n = xsp(rn(w)); w>>29&1 == 0 {
				d = xsp(rd(w))
			}
		}
		switch {
		case d == noReg && w>>29&1 == 1:
			o.kind = opCompare
			if wide && plain {
				o.dst, o.src = n, x(rm(w))
			}
			return
		case wide && plain && n != noReg && x(rm(w)) != noReg:
			if w>>30&1 == 0 {
				o.lea(d, n, x(rm(w)), 0)
			} else {
				o.kind, o.dst, o.base, o.src = opSub, d, n, x(rm(w))
			}
			return
		}
		o.kill = bit(d)
		return
	case w>>21&0xff == 0xd2: // ccmp, ccmn
		return
	}
	o.kill = bit(x(rd(w)))
}

func (o *op) float(w uint32) {
	switch {
	case w == w&0x3ff|0x9e660000: // fmov x, d
		o.kind, o.dst, o.src = opMove, x(rd(w)), v(rn(w))
	case w == w&0x3ff|0x9e670000 && rn(w) != 31: // fmov d, x
		o.kind, o.dst, o.src = opMove, v(rd(w)), x(rn(w))
	case w == w&0x3ff|0x1e604000: // fmov d, d
		o.kind, o.dst, o.src = opMove, v(rd(w)), v(rn(w))
	case w&0x5f203c00 == 0x1e202000, w&0x5f200c00 == 0x1e200400: // fcmp, fccmp
	case w&0x5f20fc00 == 0x1e200000: // between integers and floating point
		if op := w >> 16 & 7; op == 2 || op == 3 || op == 7 {
			o.kill = bit(v(rd(w)))
		} else {
			o.kill = bit(x(rd(w)))
		}
	case w&0x5f200000 == 0x1e000000: // the same, fixed point
		if w>>19&3 == 3 {
			o.kill = bit(x(rd(w)))
		} else {
			o.kill = bit(v(rd(w)))
		}
	case w&0xbfe08400 == 0x0e000400 && (w>>11&15 == 5 || w>>11&15 == 7): // smov, umov
		o.kill = bit(x(rd(w)))
	default:
		o.kill = bit(v(rd(w)))
	}
}

// scalable covers SVE: its vectors share registers with v0 to v31.
func (o *op) scalable(w uint32) {
	o.kill = bit(v(rd(w)))
	switch {
	case w&0xffa0f000 == 0x04205000: // addvl, addpl; addsvl, addspl
		o.kill = bit(xsp(rd(w)))
	case w&0xff20f000 == 0x0420e000, w&0xfffff000 == 0x04bf5000, w&0xff200000 == 0x25200000: // cntb and so on, rdvl and rdsvl, counts of predicates
		o.kill |= bit(x(rd(w)))
	case w>>29 == 7: // stores
		o.kill = 0
	}
}

// byLibrary asks the library's decoder, for what has no case of its own.
func (o *op) byLibrary(p []byte) {
	in, err := arm64asm.Decode(p)
	if err != nil {
		o.kind = opBad
		return
	}
	switch r := in.Args[0].(type) {
	case arm64asm.Reg:
		if r >= arm64asm.X0 && r <= arm64asm.X30 {
			o.kill = bit(reg(r - arm64asm.X0))
		} else if r >= arm64asm.W0 && r <= arm64asm.W30 {
			o.kill = bit(reg(r - arm64asm.W0))
		}
	case arm64asm.RegSP:
		o.kill = bit(rsp)
	}
}
