package arm

import "github.com/sfwalk/sfwalk/arch/dataflow"

// decodeThumb implements dataflow.Machine.Decode for Thumb code. The Arm Architecture Reference
// Manual for ARMv7-A, A6, has the encodings. The instructions of an IT block are one with the
// block's first: any of them may be executed or not.
func decodeThumb(code []byte, at int, ops []dataflow.Op) (dataflow.Inst, []dataflow.Op) {
	if at+2 > len(code) {
		in := newInst(at, 2, true, ops)
		in.Flow = dataflow.Bad
		return in.Inst, in.ops
	}
	h := half(code, at)
	if h>>8 == 0xbf && h&15 != 0 {
		return decodeBlock(code, at, h, ops)
	}
	in := oneThumb(code, at, ops)
	return in.Inst, in.ops
}

// decodeBlock decodes an IT block.
func decodeBlock(code []byte, at int, it uint32, ops []dataflow.Op) (dataflow.Inst, []dataflow.Op) {
	block := newInst(at, 2, true, ops)
	n := 4
	for mask := it & 15; mask&1 == 0; mask >>= 1 {
		n--
	}
	for range n {
		next := at + int(block.Len)
		if next+2 > len(code) || block.Flow != dataflow.Next {
			break
		}
		in := oneThumb(code, next, block.ops)
		if in.Flow == dataflow.Bad {
			break
		}
		in.conditional(always)
		block.ops, block.Kill, block.Len = in.ops, block.Kill|in.Kill, block.Len+in.Len
		block.Flow, block.Target, block.By, block.Return = in.Flow, in.Target, in.By, in.Return
	}
	return block.Inst, block.ops
}

// oneThumb decodes one instruction.
func oneThumb(code []byte, at int, ops []dataflow.Op) inst {
	in := newInst(at, 2, true, ops)
	h := half(code, at)
	if h>>11 < 0x1d {
		in.narrow(h)
		return in
	}
	in.Len = 4
	if at+4 > len(code) {
		in.Flow = dataflow.Bad
		return in
	}
	in.wide(h<<16 | half(code, at+2))
	return in
}

// narrow decodes an instruction of 16 bits.
func (in *inst) narrow(h uint32) {
	low := func(n int) uint32 { return field(h, n, 3) }
	move := func(load bool, rt, rn uint32, off int32, width uint16) {
		in.transfer(transfer{load: load, regs: [2]uint32{rt}, n: 1, base: rn, off: off, width: width})
	}
	switch h >> 12 {
	case 0, 1:
		switch field(h, 9, 5) {
		case 0, 1, 2, 3: // lsl
			if field(h, 6, 5) == 0 {
				in.move(low(0), low(3))
			} else {
				in.lose(low(0))
			}
		case 12:
			in.set(low(0), low(3), dataflow.Reg(low(6)), 0)
		case 13:
			in.minus(low(0), low(3), low(6))
		case 14:
			in.set(low(0), low(3), dataflow.None, int32(low(6)))
		case 15:
			in.set(low(0), low(3), dataflow.None, -int32(low(6)))
		default:
			in.lose(low(0))
		}
	case 2, 3:
		switch r, imm := low(8), h&0xff; field(h, 11, 2) {
		case 0:
			in.constant(r, imm)
		case 2:
			in.set(r, r, dataflow.None, int32(imm))
		case 3:
			in.set(r, r, dataflow.None, -int32(imm))
		}
	case 4:
		in.fourth(h)
	case 5:
		op := field(h, 9, 3)
		in.transfer(transfer{load: op >= 3, regs: [2]uint32{low(0)}, n: 1, base: low(3), index: true, width: [8]uint16{4, 2, 1, 0, 4, 2, 1, 0}[op]})
	case 6:
		move(bit(h, 11), low(0), low(3), int32(field(h, 6, 5))*4, word)
	case 7:
		move(bit(h, 11), low(0), low(3), int32(field(h, 6, 5)), 1)
	case 8:
		move(bit(h, 11), low(0), low(3), int32(field(h, 6, 5))*2, 2)
	case 9:
		move(bit(h, 11), low(8), uint32(rsp), int32(h&0xff)*4, word)
	case 10:
		base := uint32(rpc)
		if bit(h, 11) {
			base = uint32(rsp)
		}
		in.set(low(8), base, dataflow.None, int32(h&0xff)*4)
	case 11:
		in.miscellaneous(h)
	case 12:
		mask, base := h&0xff, low(8)
		in.multiple(bit(h, 11), base, mask, false, false, !bit(h, 11) || mask&(1<<base) == 0)
	case 13:
		switch cond := field(h, 8, 4); cond {
		case 14: // udf
			in.Flow = dataflow.Stop
		case 15: // svc
			in.Kill = r0.Bit()
		default:
			in.branch(dataflow.Jump, signed(h, 8)*2)
			in.conditional(cond)
		}
	case 14:
		in.branch(dataflow.Jump, signed(h, 11)*2)
	}
}

// fourth decodes what begins with 0100: data processing, high registers, literals.
func (in *inst) fourth(h uint32) {
	rd, rm := field(h, 7, 1)<<3|field(h, 0, 3), field(h, 3, 4)
	switch {
	case bit(h, 11): // ldr, literal
		in.transfer(transfer{load: true, regs: [2]uint32{field(h, 8, 3)}, n: 1, base: uint32(rpc), off: int32(h&0xff) * 4, width: word})
	case !bit(h, 10):
		switch op := field(h, 6, 4); op {
		case 10:
			in.compare(field(h, 0, 3), field(h, 3, 3))
		case 8, 11:
		default:
			in.lose(field(h, 0, 3))
		}
	default:
		switch field(h, 8, 2) {
		case 0:
			if rd == uint32(rpc) || rm == uint32(rpc) {
				in.lose(rd)
			} else {
				in.set(rd, rd, dataflow.Reg(rm), 0)
			}
		case 1:
			in.compare(rd, rm)
		case 2:
			in.move(rd, rm)
		case 3:
			if bit(h, 7) {
				in.Flow, in.By = dataflow.Call, dataflow.Reg(rm)
			} else {
				in.branchTo(rm)
			}
		}
	}
}

// miscellaneous decodes what begins with 1011.
func (in *inst) miscellaneous(h uint32) {
	switch {
	case h>>8 == 0xb0:
		n := int32(h&0x7f) * 4
		if bit(h, 7) {
			n = -n
		}
		in.set(uint32(rsp), uint32(rsp), dataflow.None, n)
	case h&0xf500 == 0xb100: // cbz, cbnz
		in.branch(dataflow.Branch, int32(field(h, 9, 1)<<6|field(h, 3, 5)<<1))
	case h>>9 == 0x5a: // push
		in.multiple(false, uint32(rsp), h&0xff|field(h, 8, 1)<<14, true, true, true)
	case h>>9 == 0x5e: // pop
		in.multiple(true, uint32(rsp), h&0xff|field(h, 8, 1)<<15, false, false, true)
	case h>>8 == 0xb2, h>>8 == 0xba: // extend, reverse
		in.lose(field(h, 0, 3))
	case h>>8 == 0xbe: // bkpt
		in.Flow = dataflow.Stop
	case h>>8 == 0xbf: // hints
		in.Nop = true
	case h>>8 == 0xb6: // setend, cps
	default:
		in.Flow = dataflow.Bad
	}
}
