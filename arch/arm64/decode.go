package arm64

import (
	"encoding/binary"
	"math"

	"golang.org/x/arch/arm64/arm64asm"

	"github.com/sfwalk/sfwalk/arch/dataflow"
)

// The analysis gives x0 to x30 the numbers 0 to 30, sp 31, and the low 64 bits of v0 to v31
// 32 to 63.
const (
	x16   dataflow.Reg = 16
	x17   dataflow.Reg = 17
	x29   dataflow.Reg = 29
	x30   dataflow.Reg = 30
	rsp   dataflow.Reg = 31
	v0    dataflow.Reg = 32
	nRegs              = 64
)

// size is the length of every instruction, bytes.
const size = 4

// An inst is an instruction that is being decoded.
type inst struct {
	dataflow.Inst
	ops []dataflow.Op
}

func (in *inst) do(ops ...dataflow.Op) { in.ops = append(in.ops, ops...) }

// decode implements dataflow.Machine.Decode. The Arm Architecture Reference Manual for A-profile,
// C4.1, has the encodings.
func decode(code []byte, at int, ops []dataflow.Op) (dataflow.Inst, []dataflow.Op) {
	in := inst{dataflow.Inst{Len: size, By: dataflow.None, Target: dataflow.NoTarget}, ops}
	if at+size > len(code) {
		in.Flow = dataflow.Bad
		return in.Inst, in.ops
	}
	w := binary.LittleEndian.Uint32(code[at:])
	switch {
	case w>>16 == 0: // udf: a trap, or padding
		in.Flow = dataflow.Stop
	case w>>26&7 == 4: // data processing, immediate
		in.immediate(w)
	case w>>26&7 == 5: // branches, exceptions, system
		in.control(w, at)
	case w>>27&1 == 1 && w>>25&1 == 0:
		in.memory(w)
	case w>>25&7 == 5:
		in.registers(w)
	case w>>25&7 == 7:
		in.float(w)
	case w>>25&15 == 2:
		in.scalable(w)
	default:
		in.byLibrary(code[at : at+size])
	}
	return in.Inst, in.ops
}

// The fields that most instructions have.
func rd(w uint32) uint32 { return w & 31 }
func rn(w uint32) uint32 { return w >> 5 & 31 }
func rm(w uint32) uint32 { return w >> 16 & 31 }

// x returns the general register of a field in which 31 is the zero register. xsp returns the
// general register of a field in which 31 is the stack pointer.
func x(n uint32) dataflow.Reg {
	if n == 31 {
		return dataflow.None
	}
	return dataflow.Reg(n)
}
func xsp(n uint32) dataflow.Reg { return dataflow.Reg(n) }
func v(n uint32) dataflow.Reg   { return v0 + dataflow.Reg(n) }

// signed returns the signed number in the n low bits of w.
func signed(w uint32, n int) int32 { return int32(w<<(32-n)) >> (32 - n) }

func (in *inst) sum(dst, base, index dataflow.Reg, imm int32) {
	in.do(dataflow.Op{Kind: dataflow.Sum, Dst: dst, Base: base, Index: index, Imm: imm})
}

func (in *inst) constant(dst dataflow.Reg, n int64) {
	if n < math.MinInt32 || n > math.MaxInt32 {
		in.Kill = dst.Bit()
		return
	}
	in.do(dataflow.Const(dst, int32(n)))
}

func (in *inst) immediate(w uint32) {
	wide := w>>31 == 1
	switch w >> 23 & 7 {
	case 0, 1: // adr, adrp
		dst, n := x(rd(w)), signed(w>>5, 19)<<2|int32(w>>29&3)
		switch far := int64(n) << 12; {
		case w>>31 == 0:
			in.do(dataflow.Add(dst, dataflow.PC, n))
		case int64(int32(far)) == far:
			in.do(dataflow.Op{Kind: dataflow.Round, Dst: dst, Base: dataflow.PC, Index: dataflow.None, Imm: -1 << 12}, dataflow.Add(dst, dst, int32(far)))
		default:
			in.Kill = dst.Bit()
		}
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
		case dst == dataflow.None: // cmp, cmn
		case wide:
			in.do(dataflow.Add(dst, xsp(rn(w)), imm))
		default:
			in.Kill = dst.Bit()
		}
	case 4: // and, orr, eor, ands
		opc := w >> 29 & 3
		dst := xsp(rd(w))
		if opc == 3 {
			dst = x(rd(w))
		}
		switch n, ok := bitmask(w); {
		case ok && opc == 1 && rn(w) == 31 && wide && dst != rsp:
			in.constant(dst, n)
		case ok && opc == 0 && rn(w) != 31 && wide && n < 0 && n >= math.MinInt32 && -n&(-n-1) == 0:
			in.do(dataflow.Op{Kind: dataflow.Round, Dst: dst, Base: x(rn(w)), Index: dataflow.None, Imm: int32(n)})
		default:
			in.Kill = dst.Bit()
		}
	case 5: // movn, movz, movk
		shift := w >> 21 & 3 * 16
		n := int64(w>>5&0xffff) << shift
		switch w >> 29 & 3 {
		case 0:
			if n = ^n; !wide {
				n = int64(uint32(n))
			}
			in.constant(x(rd(w)), n)
		case 2:
			in.constant(x(rd(w)), n)
		case 3:
			in.do(dataflow.Op{Kind: dataflow.Insert, Dst: x(rd(w)), Width: 16, Shift: uint8(shift), Imm: int32(w >> 5 & 0xffff)})
		}
	default: // bit fields, extract
		in.Kill = x(rd(w)).Bit()
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

func (in *inst) control(w uint32, at int) {
	jump := func(words int32) { in.Target = int64(at) + 4*int64(words) }
	switch {
	case w>>26 == 5: // b
		in.Flow = dataflow.Jump
		jump(signed(w, 26))
	case w>>26 == 0x25: // bl
		in.Flow = dataflow.Call
		jump(signed(w, 26))
	case w>>25&0x3f == 0x1a: // cbz, cbnz
		in.Flow = dataflow.Branch
		jump(signed(w>>5, 19))
	case w>>25&0x3f == 0x1b: // tbz, tbnz
		in.Flow = dataflow.Branch
		jump(signed(w>>5, 14))
	case w>>24 == 0x54: // b.cond
		in.Flow = dataflow.Branch
		switch w & 15 {
		case 1:
			in.Flow = dataflow.BranchNE
		case 14, 15:
			in.Flow = dataflow.Jump
		}
		jump(signed(w>>5, 19))
	case w>>25 == 0x6b: // to a register, also an authenticated one
		in.By = x(rn(w))
		switch w >> 21 & 7 {
		case 0:
			in.Flow = dataflow.To
		case 1:
			in.Flow = dataflow.Call
		case 2:
			in.Flow, in.Return = dataflow.To, true
			if w>>11&1 == 1 { // retaa, retab
				in.By = x30
			}
		default:
			in.Flow = dataflow.Stop
		}
	case w>>24 == 0xd4:
		switch w >> 21 & 7 {
		case 0: // svc, hvc, smc
			in.Kill = 1
		default: // brk, hlt
			in.Flow = dataflow.Stop
		}
	case w&0xfffff01f == 0xd503201f: // hints
		switch w >> 5 & 0x7f {
		case 24, 25, 26, 27, 28, 29, 30, 31: // paciaz, paciasp, pacibz, pacibsp, autiaz, autiasp, autibz, autibsp
			in.do(dataflow.Op{Kind: dataflow.Sign})
		case 0, 32, 34, 36, 38: // nop, bti
			in.Nop = true
		case 8, 10, 12, 14: // pacia1716, pacib1716, autia1716, autib1716
			in.Kill = x17.Bit()
		case 40: // chkfeat
			in.Kill = x16.Bit()
		}
	case w>>20 == 0xd53 || w>>19 == 0xd528>>3: // mrs, sysl
		in.Kill = x(rd(w)).Bit()
	}
}

func (in *inst) registers(w uint32) {
	wide := w>>31 == 1
	switch {
	case w>>24&0x1f == 0x0a: // logical, shifted
		if wide && w>>29&3 == 1 && w>>21&1 == 0 && w>>22&3 == 0 && w>>10&63 == 0 && rn(w) == 31 { // mov
			if rm(w) == 31 {
				in.constant(x(rd(w)), 0)
			} else {
				in.do(dataflow.Move(x(rd(w)), x(rm(w))))
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
		case d == dataflow.None && w>>29&1 == 1:
			if wide && plain && n != dataflow.None {
				in.do(dataflow.Op{Kind: dataflow.Compare, Dst: n, Src: x(rm(w))})
			}
			return
		case wide && plain && n != dataflow.None && x(rm(w)) != dataflow.None:
			if w>>30&1 == 0 {
				in.sum(d, n, x(rm(w)), 0)
			} else {
				in.do(dataflow.Op{Kind: dataflow.Minus, Dst: d, Base: n, Index: x(rm(w))})
			}
			return
		}
		in.Kill = d.Bit()
		return
	case w>>21&0xff == 0xd2: // ccmp, ccmn
		return
	}
	in.Kill = x(rd(w)).Bit()
}

func (in *inst) float(w uint32) {
	switch {
	case w == w&0x3ff|0x9e660000: // fmov x, d
		in.do(dataflow.Move(x(rd(w)), v(rn(w))))
	case w == w&0x3ff|0x9e670000 && rn(w) != 31: // fmov d, x
		in.do(dataflow.Move(v(rd(w)), x(rn(w))))
	case w == w&0x3ff|0x1e604000: // fmov d, d
		in.do(dataflow.Move(v(rd(w)), v(rn(w))))
	case w&0x5f203c00 == 0x1e202000, w&0x5f200c00 == 0x1e200400: // fcmp, fccmp
	case w&0x5f20fc00 == 0x1e200000: // between integers and floating point
		if op := w >> 16 & 7; op == 2 || op == 3 || op == 7 {
			in.Kill = v(rd(w)).Bit()
		} else {
			in.Kill = x(rd(w)).Bit()
		}
	case w&0x5f200000 == 0x1e000000: // the same, fixed point
		if w>>19&3 == 3 {
			in.Kill = x(rd(w)).Bit()
		} else {
			in.Kill = v(rd(w)).Bit()
		}
	case w&0xbfe08400 == 0x0e000400 && (w>>11&15 == 5 || w>>11&15 == 7): // smov, umov
		in.Kill = x(rd(w)).Bit()
	default:
		in.Kill = v(rd(w)).Bit()
	}
}

// scalable covers SVE: its vectors share registers with v0 to v31.
func (in *inst) scalable(w uint32) {
	in.Kill = v(rd(w)).Bit()
	switch {
	case w&0xffa0f000 == 0x04205000: // addvl, addpl; addsvl, addspl
		in.Kill = xsp(rd(w)).Bit()
	case w&0xff20f000 == 0x0420e000, w&0xfffff000 == 0x04bf5000, w&0xff200000 == 0x25200000: // cntb and so on, rdvl and rdsvl, counts of predicates
		in.Kill |= x(rd(w)).Bit()
	case w>>29 == 7: // stores
		in.Kill = 0
	}
}

// byLibrary asks the library's decoder, for what has no case of its own.
func (in *inst) byLibrary(p []byte) {
	decoded, err := arm64asm.Decode(p)
	if err != nil {
		in.Flow = dataflow.Bad
		return
	}
	switch r := decoded.Args[0].(type) {
	case arm64asm.Reg:
		if r >= arm64asm.X0 && r <= arm64asm.X30 {
			in.Kill = dataflow.Reg(r - arm64asm.X0).Bit()
		} else if r >= arm64asm.W0 && r <= arm64asm.W30 {
			in.Kill = dataflow.Reg(r - arm64asm.W0).Bit()
		}
	case arm64asm.RegSP:
		in.Kill = rsp.Bit()
	}
}
