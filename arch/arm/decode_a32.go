package arm

import (
	"encoding/binary"
	"math/bits"

	"github.com/sfwalk/sfwalk/arch/dataflow"
)

// decodeA32 implements dataflow.Machine.Decode for A32 code. The Arm Architecture Reference Manual
// for ARMv7-A, A5, has the encodings.
func decodeA32(code []byte, at int, ops []dataflow.Op) (dataflow.Inst, []dataflow.Op) {
	in := newInst(at, word, false, ops)
	if at+word > len(code) {
		in.Flow = dataflow.Bad
		return in.Inst, in.ops
	}
	w := binary.LittleEndian.Uint32(code[at:])
	cond := w >> 28
	if cond == never {
		in.unconditional(w)
		return in.Inst, in.ops
	}
	switch field(w, 25, 3) {
	case 0:
		in.dataOrExtra(w)
	case 1:
		in.dataImmediate(w)
	case 2:
		in.single(w, false, int32(field(w, 0, 12)))
	case 3:
		if bit(w, 4) {
			in.media(w)
		} else {
			in.single(w, true, 0)
		}
	case 4:
		if bit(w, 22) { // of user mode, or from an exception
			in.Flow = dataflow.Bad
			break
		}
		in.multiple(bit(w, 20), field(w, 16, 4), field(w, 0, 16), bit(w, 24), !bit(w, 23), bit(w, 21))
	case 5:
		flow := dataflow.Jump
		if bit(w, 24) {
			flow = dataflow.Call
		}
		in.branch(flow, signed(w, 24)*4)
	default:
		in.coprocessor(w)
	}
	if cond != always {
		in.conditional(cond)
	}
	return in.Inst, in.ops
}

func (in *inst) unconditional(w uint32) {
	switch {
	case w>>25 == 0x7d: // blx to Thumb code
		in.branch(dataflow.Call, signed(w, 24)*4+int32(field(w, 24, 1))*2)
	case w>>25 == 0x79: // Advanced SIMD, data
		in.simd(w)
	case w>>24 == 0xf4 && !bit(w, 20): // Advanced SIMD, elements
		in.elements(w)
	case w>>26 == 0x3d: // pld, barriers, clrex
	case w>>25 >= 0x7e:
		in.coprocessor(w)
	default:
		in.Flow = dataflow.Bad
	}
}

// Opcodes of data processing.
const (
	opAND = iota
	opEOR
	opSUB
	opRSB
	opADD
	opADC
	opSBC
	opRSC
	opTST
	opTEQ
	opCMP
	opCMN
	opORR
	opMOV
	opBIC
	opMVN
)

func (in *inst) dataOrExtra(w uint32) {
	op, sets := field(w, 21, 4), bit(w, 20)
	rn, rd, rm := field(w, 16, 4), field(w, 12, 4), field(w, 0, 4)
	switch {
	case w&0x0fffffd0 == 0x012fff10: // bx, blx
		if bit(w, 5) {
			in.Flow, in.By = dataflow.Call, dataflow.Reg(rm)
			return
		}
		in.branchTo(rm)
	case field(w, 4, 4) == 9:
		switch {
		case !bit(w, 24) && bit(w, 23): // long multiplies
			in.lose(rd)
			in.lose(rn)
		case !bit(w, 24):
			in.lose(rn)
		default: // swp, exclusive
			in.lose(rd)
			if w&0x01f00000 == 0x01b00000 { // ldrexd
				in.lose((rd + 1) & 15)
			}
		}
	case bit(w, 7) && bit(w, 4):
		in.extra(w)
	case op >= opTST && op <= opCMN && !sets: // miscellaneous
		switch {
		case field(w, 4, 4) == 7: // bkpt, hvc, smc
			in.Flow = dataflow.Stop
		case field(w, 4, 4) == 0 && bit(w, 21): // msr
		case bit(w, 7): // signed multiplies
			in.lose(rn)
			in.lose(rd & 7) // smlal: RdLo is none that a call preserves, or is one of these
			in.Kill |= dataflow.Reg(rd).Bit() &^ rpc.Bit()
		default: // mrs, clz, qadd
			in.lose(rd)
		}
	case bit(w, 4): // shifted by a register
		in.dataResult(op, rd)
	default:
		in.dataRegister(op, rd, rn, rm, field(w, 5, 7) == 0)
	}
}

// dataResult says that the result of an operation is lost.
func (in *inst) dataResult(op, rd uint32) {
	if op < opTST || op > opCMN {
		in.lose(rd)
	}
}

// dataRegister is data processing on registers; plain says that rm is not shifted.
func (in *inst) dataRegister(op, rd, rn, rm uint32, plain bool) {
	switch {
	case !plain:
		in.dataResult(op, rd)
	case op == opMOV:
		in.move(rd, rm)
	case op == opADD && rn == uint32(rpc), op == opADD && rm == uint32(rpc):
		in.lose(rd)
	case op == opADD:
		in.set(rd, rn, dataflow.Reg(rm), 0)
	case op == opSUB:
		in.minus(rd, rn, rm)
	case op == opCMP:
		in.compare(rn, rm)
	default:
		in.dataResult(op, rd)
	}
}

func (in *inst) dataImmediate(w uint32) {
	rn, rd := field(w, 16, 4), field(w, 12, 4)
	op, sets := field(w, 21, 4), bit(w, 20)
	imm := bits.RotateLeft32(w&0xff, -int(2*field(w, 8, 4)))
	switch {
	case op == opTST && !sets: // movw
		in.constant(rd, field(w, 16, 4)<<12|field(w, 0, 12))
	case op == opCMP && !sets: // movt
		in.do(dataflow.Op{Kind: dataflow.Insert, Dst: dataflow.Reg(rd), Src: dataflow.None, Base: dataflow.None, Index: dataflow.None, Width: 16, Shift: 16, Imm: int32(field(w, 16, 4)<<12 | field(w, 0, 12))})
	case op >= opTST && op <= opCMN && !sets: // msr, hints
		in.Nop = w&0x0fffff00 == 0x0320f000
	default:
		in.immediate(op, rd, rn, imm)
	}
}

// immediate is data processing on a register and a number.
func (in *inst) immediate(op, rd, rn, imm uint32) {
	switch op {
	case opADD:
		in.set(rd, rn, dataflow.None, int32(imm))
	case opSUB:
		in.set(rd, rn, dataflow.None, -int32(imm))
	case opMOV:
		in.constant(rd, imm)
	case opMVN:
		in.constant(rd, ^imm)
	case opBIC:
		in.round(rd, rn, ^imm)
	case opAND:
		in.round(rd, rn, imm)
	default:
		in.dataResult(op, rd)
	}
}

// single is ldr, str, ldrb, strb.
func (in *inst) single(w uint32, index bool, off int32) {
	if !bit(w, 23) {
		off = -off
	}
	t := transfer{load: bit(w, 20), regs: [2]uint32{field(w, 12, 4)}, n: 1, base: field(w, 16, 4), index: index, width: word}
	if bit(w, 22) {
		t.width = 1
	}
	if t.indexed(bit(w, 24), bit(w, 21), off); index && (!bit(w, 24) || bit(w, 21)) {
		t.writeback = 1 // by how much is not known
	}
	in.transfer(t)
}

// extra is ldrh, strh, ldrd, strd, ldrsb, ldrsh.
func (in *inst) extra(w uint32) {
	off := int32(field(w, 8, 4)<<4 | field(w, 0, 4))
	if !bit(w, 23) {
		off = -off
	}
	t := transfer{load: bit(w, 20), regs: [2]uint32{field(w, 12, 4), (field(w, 12, 4) + 1) & 15}, n: 1, base: field(w, 16, 4), index: !bit(w, 22), width: 2}
	if !t.load && field(w, 5, 2) >= 2 { // ldrd, strd
		t.load, t.n, t.width = field(w, 5, 2) == 2, 2, word
	}
	if t.indexed(bit(w, 24), bit(w, 21), off); t.index && (!bit(w, 24) || bit(w, 21)) {
		t.writeback = 1
	}
	in.transfer(t)
}

func (in *inst) media(w uint32) {
	switch {
	case w&0x0ff000f0 == 0x07f000f0: // udf
		in.Flow = dataflow.Stop
	case field(w, 23, 2) == 2: // multiplies
		in.lose(field(w, 16, 4))
		if field(w, 12, 4) != uint32(rpc) {
			in.lose(field(w, 12, 4))
		}
	case field(w, 20, 5) == 0x18: // usad8
		in.lose(field(w, 16, 4))
	default:
		in.lose(field(w, 12, 4))
	}
}
