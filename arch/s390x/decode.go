package s390x

import (
	"encoding/binary"
	"math"

	"github.com/sfwalk/sfwalk/arch/dataflow"
)

// The registers that have a task. The analysis gives all the numbers that DWARF gives them.
const (
	fp    = dataflow.Reg(R11)
	link  = dataflow.Reg(R14)
	sp    = dataflow.Reg(R15)
	nRegs = int(F15) + 1
)

// An inst is an instruction that is being decoded.
type inst struct {
	dataflow.Inst
	ops []dataflow.Op
}

func (in *inst) do(ops ...dataflow.Op) { in.ops = append(in.ops, ops...) }

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

// decode implements dataflow.Machine.Decode.
func decode(code []byte, at int, ops []dataflow.Op) (dataflow.Inst, []dataflow.Op) {
	in := inst{dataflow.Inst{By: dataflow.None, Target: dataflow.NoTarget}, ops}
	n := length(code[at])
	if at+n > len(code) {
		in.Flow, in.Len = dataflow.Bad, uint8(len(code)-at)
		return in.Inst, in.ops
	}
	p := code[at : at+n]
	in.Len = uint8(n)
	key := opcode(p)
	if in.flow(key, p, at) || in.data(key, p) {
		return in.Inst, in.ops
	}
	kill, ok := written(key, p)
	switch in.Kill = kill; {
	case ok:
	case key == 0 && p[1] == 0: // will never be one: a trap
		in.Flow = dataflow.Stop
	default:
		in.Flow = dataflow.Bad
	}
	return in.Inst, in.ops
}

// The fields of an instruction.
func r1(p []byte) dataflow.Reg    { return dataflow.Reg(p[1] >> 4) } // bits 8 to 11
func r2(p []byte) dataflow.Reg    { return dataflow.Reg(p[1] & 15) } // bits 12 to 15
func r1Low(p []byte) dataflow.Reg { return dataflow.Reg(p[3] >> 4) } // bits 24 to 27
func r2Low(p []byte) dataflow.Reg { return dataflow.Reg(p[3] & 15) } // bits 28 to 31
func r3(p []byte) dataflow.Reg    { return dataflow.Reg(p[2] >> 4) } // bits 16 to 19
func half(p []byte) int32         { return int32(int16(binary.BigEndian.Uint16(p[2:]))) }
func word(p []byte) int32         { return int32(binary.BigEndian.Uint32(p[2:])) }

// fpr returns a floating-point register by the processor's number.
func fpr(n dataflow.Reg) dataflow.Reg { return dataflow.Reg(fprs[n]) }

// address returns the base register and displacement of a storage operand, of 20
// bits signed where the instruction has them, else of 12.
func address(p []byte, long bool) (base dataflow.Reg, disp int32) {
	disp = int32(p[2]&15)<<8 | int32(p[3])
	if long {
		disp |= int32(int8(p[4])) << 12
	}
	if base = r3(p); base == 0 { // stands for "none"
		base = dataflow.None
	}
	return base, disp
}

// flow decodes what does not simply go on to the next instruction.
func (in *inst) flow(key uint16, p []byte, at int) bool {
	mask := p[1] >> 4 // which condition codes branch
	rel := int64(0)   // halfwords from the instruction
	switch key {
	case 0xa704: // brc
		rel = int64(half(p))
		in.branch(mask)
		if in.Flow == dataflow.Jump && rel == 1 {
			in.Flow = dataflow.Stop // into itself, where an invalid instruction is
		}
	case 0xc004: // brcl
		rel = int64(word(p))
		in.branch(mask)
	case 0xa706, 0xa707, 0x8400, 0x8500, 0xec44, 0xec45: // brct, brctg, brxh, brxle, brxhg, brxlg
		rel, in.Flow, in.Kill = int64(half(p)), dataflow.Branch, r1(p).Bit()
	case 0xcc06: // brcth
		rel, in.Flow, in.Kill = int64(word(p)), dataflow.Branch, r1(p).Bit()
	case 0xec64, 0xec65, 0xec76, 0xec77: // cgrj, clgrj, crj, clrj
		rel, in.Flow = int64(half(p)), dataflow.Branch
		if p[5] < 0x70 { // all 64 bits
			if p[4]>>4 == 6 {
				in.Flow = dataflow.BranchNE
			}
			in.do(dataflow.Op{Kind: dataflow.Compare, Dst: r1(p), Src: r2(p)})
		}
	case 0xec7c, 0xec7d, 0xec7e, 0xec7f: // cgij, clgij, cij, clij
		rel, in.Flow = int64(half(p)), dataflow.Branch
	case 0xa705, 0xc005: // bras, brasl
		if rel = int64(half(p)); key == 0xc005 {
			rel = int64(word(p))
		}
		in.link(r1(p), true)
	case 0x0d00: // basr
		in.link(r1(p), r2(p) != 0)
	case 0x4d00: // bas
		in.link(r1(p), true)
	case 0x0700: // bcr
		switch {
		case mask == 0 || r2(p) == 0:
			in.Nop = true
		case mask == 15:
			in.to(dataflow.To, r2(p))
		default:
			in.to(dataflow.MaybeTo, r2(p))
		}
	case 0x4700, 0xe347: // bc, bic
		switch mask {
		case 0:
			in.Nop = true
		case 15:
			in.Flow = dataflow.Away
		}
	case 0xecf6, 0xecf7, 0xece4, 0xece5, 0xecfe, 0xecff, 0xecfc, 0xecfd: // crb, clrb, cgrb, clgrb, cib, clib, cgib, clgib
		if b, disp := address(p, false); b != dataflow.None && disp == 0 {
			in.to(dataflow.MaybeTo, b)
		}
	default:
		return false
	}
	switch in.Flow {
	case dataflow.Jump, dataflow.Branch, dataflow.BranchNE, dataflow.Call:
		if rel != 0 {
			in.Target = int64(at) + 2*rel
		}
	}
	return true
}

// branch sets what a relative branch does by its mask.
func (in *inst) branch(mask byte) {
	switch mask {
	case 0:
		in.Nop = true
	case 15:
		in.Flow = dataflow.Jump
	case 7:
		in.Flow = dataflow.BranchNE
	default:
		in.Flow = dataflow.Branch
	}
}

// link sets what an instruction does that puts the address behind it into a
// register. Through the link register it is a call. Others serve to find the
// constants behind them, which they jump over, or, through r0, to profile a
// function's entry.
func (in *inst) link(r dataflow.Reg, goes bool) {
	switch {
	case !goes || r == 0:
		in.Kill = r.Bit()
	case r == link:
		in.Flow = dataflow.Call
	default:
		in.Flow, in.Kill = dataflow.Jump, r.Bit()
	}
}

// to sets that control goes, or may go, to where a register says.
func (in *inst) to(flow dataflow.Flow, r dataflow.Reg) {
	in.Flow, in.By, in.Return = flow, r, r == link
}

// data decodes what moves addresses and 64-bit values around.
func (in *inst) data(key uint16, p []byte) bool {
	switch key {
	case 0xb904, 0xb902: // lgr, ltgr
		in.do(dataflow.Move(r1Low(p), r2Low(p)))
	case 0x1200: // ltr
		if r1(p) != r2(p) {
			in.Kill = r1(p).Bit()
		}
	case 0xb3c1: // ldgr
		in.do(dataflow.Move(fpr(r1Low(p)), r2Low(p)))
	case 0xb3cd: // lgdr
		in.do(dataflow.Move(r1Low(p), fpr(r2Low(p))))
	case 0x2800: // ldr
		in.do(dataflow.Move(fpr(r1(p)), fpr(r2(p))))
	case 0xa709: // lghi
		in.constant(r1(p), int64(half(p)))
	case 0xc001: // lgfi
		in.constant(r1(p), int64(word(p)))
	case 0xc00f: // llilf
		in.constant(r1(p), int64(uint32(word(p))))
	case 0xa50f: // llill
		in.constant(r1(p), int64(uint16(half(p))))
	case 0xa50e: // llilh
		in.constant(r1(p), int64(uint16(half(p)))<<16)
	case 0x4100, 0xe371: // la, lay
		base, disp := address(p, key == 0xe371)
		index := r2(p)
		switch {
		case base == dataflow.None && index == 0:
			in.constant(r1(p), int64(disp))
		case base == dataflow.None:
			in.sum(r1(p), index, dataflow.None, int64(disp))
		case index == 0:
			in.sum(r1(p), base, dataflow.None, int64(disp))
		default:
			in.sum(r1(p), base, index, int64(disp))
		}
	case 0xc000: // larl
		in.sum(r1(p), dataflow.PC, dataflow.None, 2*int64(word(p)))
	case 0xc408: // lgrl
		if off := 2 * int64(word(p)); int64(int32(off)) == off {
			in.do(dataflow.LoadWord(r1(p), dataflow.PC, int32(off)))
		} else {
			in.Kill = r1(p).Bit()
		}
	case 0xa70b: // aghi
		in.sum(r1(p), r1(p), dataflow.None, int64(half(p)))
	case 0xc208: // agfi
		in.sum(r1(p), r1(p), dataflow.None, int64(word(p)))
	case 0xc20a: // algfi
		in.sum(r1(p), r1(p), dataflow.None, int64(uint32(word(p))))
	case 0xc204: // slgfi
		in.sum(r1(p), r1(p), dataflow.None, -int64(uint32(word(p))))
	case 0xecd9, 0xecdb: // aghik, alghsik
		in.sum(r1(p), r2(p), dataflow.None, int64(half(p)))
	case 0xb908, 0xb90a: // agr, algr
		in.sum(r1Low(p), r1Low(p), r2Low(p), 0)
	case 0xb9e8, 0xb9ea: // agrk, algrk
		in.sum(r1Low(p), r2Low(p), r3(p), 0)
	case 0xb909, 0xb90b: // sgr, slgr
		in.do(dataflow.Op{Kind: dataflow.Minus, Dst: r1Low(p), Base: r1Low(p), Index: r2Low(p)})
	case 0xb9e9, 0xb9eb: // sgrk, slgrk
		in.do(dataflow.Op{Kind: dataflow.Minus, Dst: r1Low(p), Base: r2Low(p), Index: r3(p)})
	case 0xe304: // lg
		in.load(r1(p), p, true)
	case 0x6800, 0xed65: // ld, ldy
		in.load(fpr(r1(p)), p, key == 0xed65)
	case 0xeb04: // lmg
		in.loadAll(p)
	case 0xe324: // stg
		in.store(r1(p), 8, p, true)
	case 0x6000, 0xed67: // std, stdy
		in.store(fpr(r1(p)), 8, p, key == 0xed67)
	case 0xeb24: // stmg
		base, off := address(p, true)
		for r := r1(p); ; r, off = (r+1)&15, off+8 {
			if in.do(dataflow.StoreTo(base, off, 8, r)); r == r2(p) {
				break
			}
		}
	case 0x5000, 0xe350: // st, sty
		in.store(dataflow.None, 4, p, key == 0xe350)
	case 0xe54c, 0xe548: // mvhi, mvghi
		width := uint16(4)
		if key == 0xe548 {
			width = 8
		}
		base, off := address(p, false)
		in.do(dataflow.StoreTo(base, off, width, dataflow.None))
	case 0xd200, 0xd700: // mvc, xc
		base, off := address(p, false)
		in.do(dataflow.StoreTo(base, off, uint16(p[1])+1, dataflow.None))
	case 0xe70e: // vst
		in.store(dataflow.None, 16, p, false)
	case 0xb920, 0xb921: // cgr, clgr
		in.do(dataflow.Op{Kind: dataflow.Compare, Dst: r1Low(p), Src: r2Low(p)})
	default:
		return false
	}
	return true
}

func (in *inst) constant(r dataflow.Reg, v int64) {
	if v < math.MinInt32 || v > math.MaxInt32 {
		in.Kill = r.Bit()
		return
	}
	in.do(dataflow.Const(r, int32(v)))
}

func (in *inst) sum(r, base, index dataflow.Reg, disp int64) {
	if disp < math.MinInt32 || disp > math.MaxInt32 {
		in.Kill = r.Bit()
		return
	}
	if index == sp { // as good a base as any
		base, index = index, base
	}
	in.do(dataflow.Op{Kind: dataflow.Sum, Dst: r, Base: base, Index: index, Imm: int32(disp)})
}

// operand returns the address of a storage operand, which is followed unless it has an index.
func operand(p []byte, long bool) (base dataflow.Reg, off int32) {
	if r2(p) != 0 {
		return dataflow.None, 0
	}
	return address(p, long)
}

// load takes in a load of 8 bytes.
func (in *inst) load(r dataflow.Reg, p []byte, long bool) {
	base, off := operand(p, long)
	in.do(dataflow.LoadWord(r, base, off))
}

func (in *inst) store(r dataflow.Reg, width uint16, p []byte, long bool) {
	base, off := operand(p, long)
	in.do(dataflow.StoreTo(base, off, width, r))
}

// loadAll takes in lmg, which loads r1 to r2, one after another (r0 follows r15).
func (in *inst) loadAll(p []byte) {
	first, last := r1(p), r2(p)
	base, off := address(p, true)
	if base != last && base != dataflow.None && (base-first)&15 <= (last-first)&15 { // it is lost before the last load
		in.do(dataflow.Add(dataflow.Temp, base, off))
		base, off = dataflow.Temp, 0
	}
	for r := first; ; r, off = (r+1)&15, off+8 {
		if in.do(dataflow.LoadWord(r, base, off)); r == last {
			break
		}
	}
}
