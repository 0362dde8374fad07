package s390x

import (
	"encoding/binary"
	"math"

	"github.com/sfwalk/sfwalk/trad"
)

// An opKind is what an instruction does, as far as frames are concerned.
type opKind uint8

const (
	opOther    opKind = iota // writes the registers in kill
	opMove                   // dst = src, of 64 bits, between general and floating-point registers too
	opConst                  // dst = imm
	opLea                    // dst = base+src+imm; src may be noReg
	opSub                    // dst = base-src
	opLoad                   // dst = 8 bytes at base+imm
	opLoads                  // dst to last, one after another (r0 follows r15) = 8 bytes each, from base+imm on
	opStore                  // width bytes at base+imm = src
	opStores                 // dst to last, 8 bytes each, go to base+imm and on
	opCompare                // dst with src
	opCall                   // and comes back
	opJump                   // to target
	opBranch                 // to target or on
	opBranchNE               // to target unless dst and src, or the last ones compared, are equal
	opJumpReg                // to where register src says
	opMaybeReg               // there or on
	opJumpAway               // through memory, or to a computed address
	opStop                   // traps
	opBad                    // is no instruction
)

// noReg stands for "no register that is followed".
const noReg trad.Reg = 0xffff

// noTarget is the target of what is no direct branch.
const noTarget = math.MinInt64

// An op is one instruction.
type op struct {
	kind      opKind
	len       uint8
	nop       bool
	width     uint16 // bytes written by opStore, 256 at most
	dst, last trad.Reg
	src       trad.Reg
	base      trad.Reg // of the address; noReg where the address is not followed
	imm       int32
	target    int64  // offset into the code, if it is in there
	kill      uint32 // registers that get a value which is not followed, by DWARF number
}

// length returns the length of the instruction that begins with byte b: its two
// top bits tell (Principles of Operation, "Instruction Length").
func length(b byte) int { return [4]int{2, 4, 4, 6}[b>>6] }

// opcode returns an instruction's opcode: the first byte, and where that stands
// for many (Principles of Operation, "Instruction Formats"), the rest of the
// opcode in the low byte.
func opcode(p []byte) uint16 {
	first := uint16(p[0]) << 8
	switch p[0] {
	case 0xa5, 0xa7, 0xc0, 0xc2, 0xc4, 0xc6, 0xc8, 0xcc:
		return first | uint16(p[1]&15)
	case 0x01, 0xb2, 0xb3, 0xb9, 0xe5:
		return first | uint16(p[1])
	case 0xe3, 0xe6, 0xe7, 0xeb, 0xec, 0xed:
		return first | uint16(p[5])
	}
	return first
}

// decode decodes the instruction at code[at:].
func decode(code []byte, at int) op {
	o := op{dst: noReg, last: noReg, src: noReg, base: noReg, target: noTarget}
	n := length(code[at])
	if at+n > len(code) {
		o.kind, o.len = opBad, uint8(len(code)-at)
		return o
	}
	p := code[at : at+n]
	o.len = uint8(n)
	key := opcode(p)
	if o.flow(key, p, at) || o.data(key, p) {
		return o
	}
	kill, ok := written(key, p)
	if o.kill = kill; !ok {
		o.kind = opBad
	}
	return o
}

// The fields of an instruction.
func r1(p []byte) trad.Reg    { return trad.Reg(p[1] >> 4) } // bits 8 to 11
func r2(p []byte) trad.Reg    { return trad.Reg(p[1] & 15) } // bits 12 to 15
func r1Low(p []byte) trad.Reg { return trad.Reg(p[3] >> 4) } // bits 24 to 27
func r2Low(p []byte) trad.Reg { return trad.Reg(p[3] & 15) } // bits 28 to 31
func r3(p []byte) trad.Reg    { return trad.Reg(p[2] >> 4) } // bits 16 to 19
func half(p []byte) int32     { return int32(int16(binary.BigEndian.Uint16(p[2:]))) }
func word(p []byte) int32     { return int32(binary.BigEndian.Uint32(p[2:])) }

// address returns the base register and displacement of a storage operand, of 20
// bits signed where the instruction has them, else of 12.
func address(p []byte, long bool) (base trad.Reg, disp int32) {
	disp = int32(p[2]&15)<<8 | int32(p[3])
	if long {
		disp |= int32(int8(p[4])) << 12
	}
	if base = trad.Reg(p[2] >> 4); base == R0 { // stands for "none"
		base = noReg
	}
	return base, disp
}

// flow decodes what does not simply go on to the next instruction.
func (o *op) flow(key uint16, p []byte, at int) bool {
	mask := p[1] >> 4 // which condition codes branch
	rel := int64(0)   // halfwords from the instruction
	switch key {
	case 0xa704: // brc
		rel = int64(half(p))
		o.branch(mask)
		if o.kind == opJump && rel == 1 {
			o.kind = opStop // into itself, where an invalid instruction is
		}
	case 0xc004: // brcl
		rel = int64(word(p))
		o.branch(mask)
	case 0xa706, 0xa707, 0x8400, 0x8500, 0xec44, 0xec45: // brct, brctg, brxh, brxle, brxhg, brxlg
		rel, o.kind, o.kill = int64(half(p)), opBranch, bit(r1(p))
	case 0xcc06: // brcth
		rel, o.kind, o.kill = int64(word(p)), opBranch, bit(r1(p))
	case 0xec64, 0xec65, 0xec76, 0xec77: // cgrj, clgrj, crj, clrj
		rel, o.kind = int64(half(p)), opBranch
		if p[4]>>4 == 6 && p[5] < 0x70 { // unless equal, all 64 bits
			o.kind, o.dst, o.src = opBranchNE, r1(p), r2(p)
		}
	case 0xec7c, 0xec7d, 0xec7e, 0xec7f: // cgij, clgij, cij, clij
		rel, o.kind = int64(half(p)), opBranch
	case 0xa705, 0xc005: // bras, brasl
		if rel = int64(half(p)); key == 0xc005 {
			rel = int64(word(p))
		}
		o.link(r1(p), true)
	case 0x0d00: // basr
		o.link(r1(p), r2(p) != R0)
	case 0x4d00: // bas
		o.link(r1(p), true)
	case 0x0700: // bcr
		switch {
		case mask == 0 || r2(p) == R0:
			o.nop = true
		case mask == 15:
			o.kind, o.src = opJumpReg, r2(p)
		default:
			o.kind, o.src = opMaybeReg, r2(p)
		}
	case 0x4700, 0xe347: // bc, bic
		switch mask {
		case 0:
			o.nop = true
		case 15:
			o.kind = opJumpAway
		}
	case 0xecf6, 0xecf7, 0xece4, 0xece5, 0xecfe, 0xecff, 0xecfc, 0xecfd: // crb, clrb, cgrb, clgrb, cib, clib, cgib, clgib
		if b, disp := address(p, false); b != noReg && disp == 0 {
			o.kind, o.src = opMaybeReg, b
		}
	default:
		return false
	}
	switch o.kind {
	case opJump, opBranch, opBranchNE, opCall:
		if rel != 0 {
			o.target = int64(at) + 2*rel
		}
	}
	return true
}

// branch sets what a relative branch does by its mask.
func (o *op) branch(mask byte) {
	switch mask {
	case 0:
		o.nop = true
	case 15:
		o.kind = opJump
	case 7:
		o.kind = opBranchNE
	default:
		o.kind = opBranch
	}
}

// link sets what an instruction does that puts the address behind it into a
// register. Through the link register it is a call. Others serve to find the
// constants behind them, which they jump over, or, through r0, to profile a
// function's entry.
func (o *op) link(r trad.Reg, goes bool) {
	switch {
	case !goes || r == R0:
		o.kill = bit(r)
	case r == R14:
		o.kind = opCall
	default:
		o.kind, o.kill = opJump, bit(r)
	}
}

// data decodes what moves addresses and 64-bit values around.
func (o *op) data(key uint16, p []byte) bool {
	switch key {
	case 0xb904, 0xb902: // lgr, ltgr
		o.kind, o.dst, o.src = opMove, r1Low(p), r2Low(p)
	case 0x1200: // ltr
		if r1(p) != r2(p) {
			o.kill = bit(r1(p))
		}
	case 0xb3c1: // ldgr
		o.kind, o.dst, o.src = opMove, fprs[r1Low(p)], r2Low(p)
	case 0xb3cd: // lgdr
		o.kind, o.dst, o.src = opMove, r1Low(p), fprs[r2Low(p)]
	case 0x2800: // ldr
		o.kind, o.dst, o.src = opMove, fprs[r1(p)], fprs[r2(p)]
	case 0xa709: // lghi
		o.constant(r1(p), int64(half(p)))
	case 0xc001: // lgfi
		o.constant(r1(p), int64(word(p)))
	case 0xc00f: // llilf
		o.constant(r1(p), int64(uint32(word(p))))
	case 0xa50f: // llill
		o.constant(r1(p), int64(uint16(half(p))))
	case 0xa50e: // llilh
		o.constant(r1(p), int64(uint16(half(p)))<<16)
	case 0x4100, 0xe371: // la, lay
		base, disp := address(p, key == 0xe371)
		index := r2(p)
		switch {
		case base == noReg && index == R0:
			o.constant(r1(p), int64(disp))
		case base == noReg:
			o.lea(r1(p), index, noReg, int64(disp))
		case index == R0:
			o.lea(r1(p), base, noReg, int64(disp))
		default:
			o.lea(r1(p), base, index, int64(disp))
		}
	case 0xa70b: // aghi
		o.lea(r1(p), r1(p), noReg, int64(half(p)))
	case 0xc208: // agfi
		o.lea(r1(p), r1(p), noReg, int64(word(p)))
	case 0xc20a: // algfi
		o.lea(r1(p), r1(p), noReg, int64(uint32(word(p))))
	case 0xc204: // slgfi
		o.lea(r1(p), r1(p), noReg, -int64(uint32(word(p))))
	case 0xecd9, 0xecdb: // aghik, alghsik
		o.lea(r1(p), r2(p), noReg, int64(half(p)))
	case 0xb908, 0xb90a: // agr, algr
		o.lea(r1Low(p), r1Low(p), r2Low(p), 0)
	case 0xb9e8, 0xb9ea: // agrk, algrk
		o.lea(r1Low(p), r2Low(p), r3(p), 0)
	case 0xb909, 0xb90b: // sgr, slgr
		o.kind, o.dst, o.base, o.src = opSub, r1Low(p), r1Low(p), r2Low(p)
	case 0xb9e9, 0xb9eb: // sgrk, slgrk
		o.kind, o.dst, o.base, o.src = opSub, r1Low(p), r2Low(p), r3(p)
	case 0xe304: // lg
		o.load(r1(p), p, true)
	case 0x6800, 0xed65: // ld, ldy
		o.load(fprs[r1(p)], p, key == 0xed65)
	case 0xeb04: // lmg
		o.base, o.imm = address(p, true)
		o.kind, o.dst, o.last = opLoads, r1(p), r2(p)
	case 0xe324: // stg
		o.store(r1(p), 8, p, true)
	case 0x6000, 0xed67: // std, stdy
		o.store(fprs[r1(p)], 8, p, key == 0xed67)
	case 0xeb24: // stmg
		o.base, o.imm = address(p, true)
		o.kind, o.dst, o.last = opStores, r1(p), r2(p)
	case 0x5000, 0xe350: // st, sty
		o.store(noReg, 4, p, key == 0xe350)
	case 0xe54c, 0xe548: // mvhi, mvghi
		o.kind, o.width = opStore, 4
		if key == 0xe548 {
			o.width = 8
		}
		o.base, o.imm = address(p, false)
	case 0xd200, 0xd700: // mvc, xc
		o.kind, o.width = opStore, uint16(p[1])+1
		o.base, o.imm = address(p, false)
	case 0xe70e: // vst
		o.store(noReg, 16, p, false)
	case 0xb920, 0xb921: // cgr, clgr
		o.kind, o.dst, o.src = opCompare, r1Low(p), r2Low(p)
	default:
		return false
	}
	return true
}

func (o *op) constant(r trad.Reg, v int64) {
	if v < math.MinInt32 || v > math.MaxInt32 {
		o.kill = bit(r)
		return
	}
	o.kind, o.dst, o.imm = opConst, r, int32(v)
}

func (o *op) lea(r, base, index trad.Reg, disp int64) {
	if disp < math.MinInt32 || disp > math.MaxInt32 {
		o.kill = bit(r)
		return
	}
	o.kind, o.dst, o.base, o.src, o.imm = opLea, r, base, index, int32(disp)
}

// load sets a load of 8 bytes, from an address that is followed unless it has an
// index.
func (o *op) load(r trad.Reg, p []byte, long bool) {
	o.kind, o.dst = opLoad, r
	if r2(p) == R0 {
		o.base, o.imm = address(p, long)
	}
}

func (o *op) store(r trad.Reg, width uint16, p []byte, long bool) {
	o.kind, o.src, o.width = opStore, r, width
	if r2(p) == R0 {
		o.base, o.imm = address(p, long)
	}
}

// bit returns the one-register set of r, nothing for a register that is not
// followed.
func bit(r trad.Reg) uint32 {
	if r > F15 {
		return 0
	}
	return 1 << r
}

// loads reports whether register r is one of those of opLoads or opStores.
func (o *op) loads(r trad.Reg) bool { return (r-o.dst)&15 <= (o.last-o.dst)&15 }
