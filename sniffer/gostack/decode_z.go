package gostack

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/trad"
)

// decodeZ reads one instruction of s390x (z/Architecture Principles of Operation, 5-3). Of
// those that are not known here the first register is taken to be changed.
func decodeZ(code []byte, pc uint64) (in instruction, ok bool) {
	if len(code) == 0 {
		return in, false
	}
	in.size = [4]int{2, 4, 4, 6}[code[0]>>6]
	if len(code) < in.size {
		return in, false
	}
	b := code[:in.size]
	r1, r2 := trad.Reg(b[1]>>4), trad.Reg(b[1]&15)
	half := func() uint64 { return pc + 2*uint64(int64(int16(binary.BigEndian.Uint16(b[2:])))) }
	whole := func() uint64 { return pc + 2*uint64(int64(int32(binary.BigEndian.Uint32(b[2:])))) }
	jumps := func(mask trad.Reg, target uint64) {
		in.target = target
		switch mask {
		case 0:
		case 15:
			in.flow = jump
		default:
			in.flow = branch
		}
	}
	switch b[0] {
	case 0x00:
		in.flow = leaving
	case 0x07: // BCR
		if jumps(r1, 0); r2 == s390x.R14 && r1 == 15 {
			in.flow = leaving
		}
	case 0x0d: // BASR
		in.flow = call
	case 0x0a: // SVC
		in.add(lose, s390x.R2, none, 0)
	case 0x41: // LA
		in.addressZ(set, r1, r2, trad.Reg(b[2]>>4), int64(b[2]&15)<<8|int64(b[3]))
	case 0xa7:
		switch imm := int64(int16(binary.BigEndian.Uint16(b[2:]))); r2 {
		case 4: // BRC
			jumps(r1, half())
		case 9: // LGHI
			in.add(set, r1, none, imm)
		case 0xb: // AGHI
			in.add(set, r1, r1, imm)
		case 0xe, 0xf, 0, 1, 2, 3: // compares, tests
		default:
			in.add(lose, r1, none, 0)
		}
	case 0xc0:
		switch r2 {
		case 0: // LARL
			in.add(setAt, r1, none, int64(whole()))
		case 4: // BRCL
			jumps(r1, whole())
		case 5: // BRASL
			in.flow, in.target = call, whole()
		default:
			in.add(lose, r1, none, 0)
		}
	case 0xc4:
		switch r2 {
		case 8: // LGRL
			in.add(fetch, r1, none, int64(whole()))
		case 0xb, 0xf, 7: // stores
		default:
			in.add(lose, r1, none, 0)
		}
	case 0xb9:
		in.registersZ(b)
	case 0xe3, 0xeb:
		in.memoryZ(b, r1, r2)
	case 0xe5: // MVGHI and others: a constant to memory
		in.add(store, trad.Reg(b[2]>>4), none, int64(b[2]&15)<<8|int64(b[3]))
	case 0xec:
		switch b[5] {
		case 0x64, 0x65, 0x76, 0x77, 0x7c, 0x7d, 0x7e, 0x7f: // compare and branch
			in.flow, in.target = branch, half()
		case 0x44, 0x45:
			in.flow, in.target = branch, half()
			in.add(lose, r1, none, 0)
		default:
			in.add(lose, r1, none, 0)
		}
	case 0xb3: // floating point; some put a result into another register
		if b[1] >= 0x98 {
			in.add(lose, trad.Reg(b[3]>>4), none, 0)
		}
	default:
		floating := b[0]&0xe0 == 0x20 || b[0]&0xe0 == 0x60
		if !floating && (b[0] < 0x90 || in.size == 4 && b[0] >= 0xb0) { // else it stores, or moves memory
			in.add(lose, r1, none, 0)
		}
	}
	return in, true
}

// addressZ adds an operation on the address of an operand with an index and a base. Register
// 0 stands for none.
func (i *instruction) addressZ(kind opKind, r, index, base trad.Reg, disp int64) {
	switch {
	case base == 0:
		base = index
	case index != 0:
		base = 0
	}
	switch {
	case kind == store && base != 0:
		i.add(store, base, r, disp)
	case kind == store:
	case base == 0:
		i.add(lose, r, none, 0)
	default:
		i.add(kind, r, base, disp)
	}
}

// registersZ reads instructions that begin with 0xb9.
func (i *instruction) registersZ(b []byte) {
	r1, r2 := trad.Reg(b[3]>>4), trad.Reg(b[3]&15)
	switch b[1] {
	case 0x04, 0x02: // LGR, LTGR
		i.add(set, r1, r2, 0)
	case 0x09: // SGR
		if r1 == r2 {
			i.add(set, r1, none, 0)
		} else {
			i.add(minus, r1, r2, 0)
		}
	case 0x20, 0x21, 0x30, 0x31: // compares
	default:
		i.add(lose, r1, none, 0)
	}
}

// memoryZ reads instructions that begin with 0xe3 and 0xeb.
func (i *instruction) memoryZ(b []byte, r1, r2 trad.Reg) {
	base := trad.Reg(b[2] >> 4)
	disp := int64(int8(b[4]))<<12 | int64(b[2]&15)<<8 | int64(b[3])
	switch {
	case b[0] == 0xe3 && b[5] == 0x04: // LG
		i.addressZ(load, r1, r2, base, disp)
	case b[0] == 0xe3 && b[5] == 0x24: // STG
		i.addressZ(store, r1, r2, base, disp)
	case b[0] == 0xe3 && b[5] == 0x71: // LAY
		i.addressZ(set, r1, r2, base, disp)
	case b[0] == 0xe3 && b[5]&0xf0 == 0x20, b[0] == 0xe3 && (b[5] == 0x50 || b[5] == 0x70 || b[5] == 0x72): // compares, stores
	case b[0] == 0xeb && (b[5] == 0x04 || b[5] == 0x24): // LMG, STMG: from r1 to r2, round behind 15
		kind := load
		if b[5] == 0x24 {
			kind = store
		}
		for n, r := int64(0), r1; ; n, r = n+1, (r+1)&15 {
			if kind == load && r == base {
				i.add(lose, r, none, 0)
			} else {
				i.addressZ(kind, r, 0, base, disp+8*n)
			}
			if r == r2 {
				break
			}
		}
	default:
		i.add(lose, r1, none, 0)
	}
}
