package gostack

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/trad"
)

// decodeARM reads one instruction (Arm Architecture Reference Manual, C4.1). Of those that
// are not known here the first register is taken to be changed: so it is in nearly all
// that change one.
func decodeARM(code []byte, pc uint64) (in instruction, ok bool) {
	if len(code) < 4 {
		return in, false
	}
	x := binary.LittleEndian.Uint32(code)
	in.size = 4
	switch {
	case x&0x7c000000 == 0x14000000: // B, BL
		in.flow, in.target = jump, branchARM(pc, x, 26, 0)
		if x>>31 != 0 {
			in.flow = call
		}
	case x&0xff000010 == 0x54000000, x&0x7e000000 == 0x34000000: // B.cond, CBZ, CBNZ
		in.flow, in.target = branch, branchARM(pc, x, 19, 5)
	case x&0x7e000000 == 0x36000000: // TBZ, TBNZ
		in.flow, in.target = branch, branchARM(pc, x, 14, 5)
	case x&0xfffffc1f == 0xd61f0000: // BR
		in.flow = jump
	case x&0xfffffc1f == 0xd63f0000: // BLR
		in.flow = call
	case x&0xfffffc1f == 0xd65f0000, x&0xffe0001f == 0xd4200000, x>>16 == 0: // RET, BRK, UDF
		in.flow = leaving
	case x&0xff000000 == 0x58000000: // LDR (literal) of 64 bits
		in.literalARM(code, orSP(x), int64(int32(x<<8)>>13)<<2)
	default:
		switch {
		case in.arithmeticARM(x, pc), in.memoryARM(x):
		case x&0x3a000000 == 0x38000000 && x>>22&3 == 0, x&0x3a000000 == 0x28000000 && x>>22&1 == 0: // a store
		case x&0x3f000000 == 0x08000000:
			in.lost(orSP(x >> 16)) // of an exclusive store, whether it was one
			fallthrough
		default:
			in.lost(orSP(x))
		}
	}
	return in, true
}

// branchARM returns the target of a branch whose offset has n bits, from bit at on.
func branchARM(pc uint64, x uint32, n, at int) uint64 {
	return pc + uint64(int64(int32(x<<(32-at-n)))>>(32-n))*4
}

// orSP is a register's number where 31 is the stack pointer: it is DWARF's, too.
func orSP(n uint32) trad.Reg { return trad.Reg(n & 31) }

// lost says that a register is changed, unless it is the one that is always zero.
func (i *instruction) lost(r trad.Reg) {
	if r != arm64.SP {
		i.add(lose, r, none, 0)
	}
}

// literalARM is a load of a constant that lies at an offset from the instruction, which the
// assembler puts behind the function.
func (i *instruction) literalARM(code []byte, r trad.Reg, off int64) {
	switch {
	case r == arm64.SP: // the zero register
	case off < 4 || off > int64(len(code))-8:
		i.add(lose, r, none, 0)
	default:
		i.add(set, r, none, int64(binary.LittleEndian.Uint64(code[off:])))
	}
}

// scratchARM is a place for an address that is in no register.
const scratchARM trad.Reg = arm64.D15 + 1

// arithmeticARM reads instructions that work on registers.
func (i *instruction) arithmeticARM(x uint32, pc uint64) bool {
	rd, rn, rm := orSP(x), orSP(x>>5), orSP(x>>16)
	switch {
	case x&0xbf800000 == 0x91000000&0xbf800000 && x>>31 != 0: // ADD, SUB (immediate)
		n := int64(x >> 10 & 0xfff)
		if x>>22&1 != 0 {
			n <<= 12
		}
		if x>>30&1 != 0 {
			n = -n
		}
		i.add(set, rd, rn, n)
	case x&0xffe0ffe0 == 0xaa0003e0: // MOV (register)
		if rm == arm64.SP { // the zero register
			rm = none
		}
		if rd != arm64.SP {
			i.add(set, rd, rm, 0)
		}
	case x&0xffe00000 == 0xd2800000: // MOVZ, not shifted
		i.add(set, rd, none, int64(x>>5&0xffff))
	case x&0xffe0fc00 == 0xcb000000 && rd != arm64.SP && rn != arm64.SP && rm != arm64.SP && rd != rm: // SUB (register)
		if rd != rn {
			i.add(set, rd, rn, 0)
		}
		i.add(minus, rd, rm, 0)
	case x&0xff800000 == 0x92000000: // AND (immediate)
		ones, rotated := x>>10&63+1, x>>16&63
		if x>>22&1 == 0 || ones != rotated || ones < 52 {
			i.add(lose, rd, none, 0)
			break
		}
		if rd != rn {
			i.add(set, rd, rn, 0)
		}
		i.add(align, rd, none, -1<<(64-ones))
	case x&0x9f000000 == 0x90000000: // ADRP
		n := int64(int32(x<<8)>>13)<<2 | int64(x>>29&3)
		i.add(setAt, rd, none, int64(pc&^0xfff)+n<<12)
	default:
		return false
	}
	return true
}

// double is the number of a floating-point register.
func double(n uint32) trad.Reg { return arm64.D8 - 8 + trad.Reg(n&31) }

// memoryARM reads instructions that move whole registers to memory and back.
func (i *instruction) memoryARM(x uint32) bool {
	base := orSP(x >> 5)
	name := orSP // of what is moved
	if x>>26&1 != 0 {
		name = double
	}
	move := func(n uint32, off int64) {
		switch r := name(n); {
		case x>>22&1 == 0:
			if r == arm64.SP {
				r = none
			}
			i.add(store, base, r, off)
		case r != arm64.SP:
			i.add(load, r, base, off)
		}
	}
	// How the base changes: by off before, or behind, or not at all.
	index := func(how uint32, off int64, moves func(off int64)) {
		at := off
		if how == 1 {
			at = 0
		}
		moves(at)
		if how == 1 || how == 3 {
			i.add(set, base, base, off)
		}
	}
	switch {
	case x&0xfb800000 == 0xf9000000: // LDR, STR of 64 bits, unsigned offset
		move(x, int64(x>>10&0xfff)*8)
	case x&0xfba00000 == 0xf8000000: // LDUR, STUR, LDR, STR with an index of 9 bits
		how := x >> 10 & 3
		if how == 2 {
			return false
		}
		index(how, int64(int32(x<<11)>>23), func(off int64) { move(x, off) })
	case x&0xffe0fc00 == 0xf8206800 && orSP(x>>16) != arm64.SP: // STR of 64 bits, at a sum of registers
		r := orSP(x)
		if r == arm64.SP {
			r = none
		}
		i.add(set, scratchARM, base, 0)
		i.add(plus, scratchARM, orSP(x>>16), 0)
		i.add(store, scratchARM, r, 0)
		i.add(lose, scratchARM, none, 0)
	case x&0xfe000000 == 0xa8000000, x&0xfe000000 == 0x6c000000: // LDP, STP of 64 bits
		index(x>>23&3, int64(int32(x<<10)>>25)*8, func(off int64) {
			move(x, off)
			if x>>22&1 != 0 && orSP(x) == base && base != arm64.SP {
				i.add(lose, name(x>>10), none, 0) // the base is gone
				return
			}
			move(x>>10, off+8)
		})
	default:
		return false
	}
	return true
}
