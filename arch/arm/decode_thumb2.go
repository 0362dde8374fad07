package arm

import (
	"math/bits"

	"github.com/sfwalk/sfwalk/arch/dataflow"
)

// wide decodes an instruction of 32 bits: w has its first half in the upper bits.
func (in *inst) wide(w uint32) {
	rn := field(w, 16, 4)
	switch {
	case w>>25 == 0x74 && !bit(w, 22): // ldm, stm
		if field(w, 23, 2) == 0 || field(w, 23, 2) == 3 { // srs, rfe
			in.Flow = dataflow.Bad
			return
		}
		in.multiple(bit(w, 20), rn, field(w, 0, 16), bit(w, 24), bit(w, 24), bit(w, 21))
	case w>>25 == 0x74:
		in.dual(w)
	case w>>25 == 0x75:
		in.shifted(w)
	case w>>24 == 0xef, w>>24 == 0xff:
		in.simd(w)
	case w>>26 == 0x3b, w>>26 == 0x3f:
		in.coprocessor(w)
	case w>>27 == 0x1e && !bit(w, 15):
		in.wideImmediate(w)
	case w>>27 == 0x1e:
		in.control(w)
	case w>>24 == 0xf9 && !bit(w, 20):
		in.elements(w)
	case w>>25 == 0x7c:
		in.wideSingle(w)
	case w>>24 == 0xfa:
		in.lose(field(w, 8, 4))
	case w>>23 == 0x1f6: // multiplies
		in.lose(field(w, 8, 4))
	case w>>23 == 0x1f7: // long multiplies, divisions
		in.lose(field(w, 8, 4))
		if field(w, 12, 4) != uint32(rpc) {
			in.lose(field(w, 12, 4))
		}
	default:
		in.Flow = dataflow.Bad
	}
}

// dual is ldrd and strd, exclusive loads and stores, and table branches.
func (in *inst) dual(w uint32) {
	rn, rt, rt2 := field(w, 16, 4), field(w, 12, 4), field(w, 8, 4)
	switch {
	case w&0xfff0ffe0 == 0xe8d0f000: // tbb, tbh
		in.Flow = dataflow.Away
	case bit(w, 24) || bit(w, 21):
		off := int32(w&0xff) * 4
		if !bit(w, 23) {
			off = -off
		}
		t := transfer{load: bit(w, 20), regs: [2]uint32{rt, rt2}, n: 2, base: rn, width: word}
		t.indexed(bit(w, 24), bit(w, 21), off)
		in.transfer(t)
	case bit(w, 20): // ldrex and the like
		in.lose(rt)
		if rt2 != uint32(rpc) && bit(w, 23) {
			in.lose(rt2)
		}
	case bit(w, 23): // strexb, strexh, strexd
		if field(w, 0, 4) != uint32(rpc) {
			in.lose(field(w, 0, 4))
		}
	default: // strex
		in.lose(rt2)
	}
}

// thumbOps translates the opcodes of wide data processing to the opcodes of A32. Instructions with
// other opcodes lose their result.
var thumbOps = [16]uint32{0: opAND, 1: opBIC, 2: opORR, 3: opORR, 4: opEOR, 8: opADD, 10: opADC, 11: opSBC, 13: opSUB, 14: opRSB}

// shifted is data processing on a register that is shifted by a number.
func (in *inst) shifted(w uint32) {
	op, rn, rd, rm := field(w, 21, 4), field(w, 16, 4), field(w, 8, 4), field(w, 0, 4)
	plain := field(w, 12, 3) == 0 && field(w, 4, 4) == 0
	if rd == uint32(rpc) { // tst, teq, cmn, cmp
		if op == 13 && plain {
			in.compare(rn, rm)
		}
		return
	}
	if op == 2 && rn == uint32(rpc) {
		in.dataRegister(opMOV, rd, rn, rm, plain)
		return
	}
	in.dataRegister(thumbOps[op], rd, rn, rm, plain)
}

// expand returns the number that 12 bits stand for (ThumbExpandImm).
func expand(imm uint32) uint32 {
	b := imm & 0xff
	switch imm >> 8 {
	case 0:
		return b
	case 1:
		return b | b<<16
	case 2:
		return b<<8 | b<<24
	case 3:
		return b | b<<8 | b<<16 | b<<24
	}
	return bits.RotateLeft32(0x80|imm&0x7f, -int(imm>>7))
}

// wideImmediate is data processing on a register and a number.
func (in *inst) wideImmediate(w uint32) {
	rn, rd := field(w, 16, 4), field(w, 8, 4)
	imm := field(w, 26, 1)<<11 | field(w, 12, 3)<<8 | w&0xff
	if !bit(w, 25) {
		op, n := field(w, 21, 4), expand(imm)
		switch {
		case rd == uint32(rpc): // tst, teq, cmn, cmp
		case op == 2 && rn == uint32(rpc):
			in.constant(rd, n)
		case op == 3 && rn == uint32(rpc):
			in.constant(rd, ^n)
		default:
			in.immediate(thumbOps[op], rd, rn, n)
		}
		return
	}
	long := field(w, 16, 4)<<12 | imm
	switch field(w, 20, 5) {
	case 0: // addw, adr
		in.set(rd, rn, dataflow.None, int32(imm))
	case 10: // subw, adr
		in.set(rd, rn, dataflow.None, -int32(imm))
	case 4: // movw
		in.constant(rd, long)
	case 12: // movt
		in.do(dataflow.Op{Kind: dataflow.Insert, Dst: dataflow.Reg(rd), Src: dataflow.None, Base: dataflow.None, Index: dataflow.None, Width: 16, Shift: 16, Imm: int32(long)})
	default:
		in.lose(rd)
	}
}

// control decodes branches and what changes the processor.
func (in *inst) control(w uint32) {
	s, j1, j2 := field(w, 26, 1), field(w, 13, 1), field(w, 11, 1)
	far := signed(s<<24|(1^j1^s)<<23|(1^j2^s)<<22|field(w, 16, 10)<<12|field(w, 0, 11)<<1, 25)
	switch {
	case bit(w, 14) && bit(w, 12): // bl
		in.branch(dataflow.Call, far)
	case bit(w, 14): // blx to A32 code, by a distance from a multiple of 4
		in.Flow = dataflow.Call
	case bit(w, 12): // b
		in.branch(dataflow.Jump, far)
	case field(w, 23, 3) != 7:
		in.branch(dataflow.Jump, signed(s<<20|j2<<19|j1<<18|field(w, 16, 6)<<12|field(w, 0, 11)<<1, 21))
		in.conditional(field(w, 22, 4))
	case w>>20 == 0xf7f: // udf, smc
		in.Flow = dataflow.Stop
	case w>>20 == 0xf3a: // hints, cps
		in.Nop = w&0xff00 == 0x8000
		if w == 0xf3af801d || w == 0xf3af802d { // pac, aut: pacbti
			in.Kill |= r12.Bit()
		}
	case w>>21 == 0x79f: // mrs
		in.lose(field(w, 8, 4))
	case w>>20 == 0xf3d: // subs pc, lr
		in.Flow = dataflow.Bad
	}
}

// wideSingle is a load or store of a register.
func (in *inst) wideSingle(w uint32) {
	rn, rt, size := field(w, 16, 4), field(w, 12, 4), field(w, 21, 2)
	t := transfer{load: bit(w, 20), regs: [2]uint32{rt}, n: 1, base: rn, width: uint16(1) << size}
	if bit(w, 24) {
		t.width = 0
	}
	imm8 := int32(w & 0xff)
	if !bit(w, 9) {
		imm8 = -imm8
	}
	switch {
	case size == 3:
		in.Flow = dataflow.Bad
		return
	case t.load && rt == uint32(rpc) && size != 2: // pld, pli
		return
	case rn == uint32(rpc):
		if t.off = int32(field(w, 0, 12)); !bit(w, 23) {
			t.off = -t.off
		}
	case bit(w, 23):
		t.off = int32(field(w, 0, 12))
	case !bit(w, 11):
		t.index = true
	default:
		t.indexed(bit(w, 10), bit(w, 8), imm8)
	}
	in.transfer(t)
}
