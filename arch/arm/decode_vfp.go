package arm

import "github.com/sfwalk/sfwalk/arch/dataflow"

// coprocessor decodes what both instruction sets have in common: floating point, and what else is
// called a coprocessor. w is the A32 encoding; its condition does not matter here.
func (in *inst) coprocessor(w uint32) {
	vfp := field(w, 9, 3) == 5 // coprocessors 10 and 11
	switch {
	case field(w, 24, 4) == 15: // svc
		in.Kill |= r0.Bit()
	case field(w, 21, 7) == 0x62: // two registers: mcrr, mrrc, vmov
		switch {
		case bit(w, 20):
			in.lose(field(w, 12, 4))
			in.lose(field(w, 16, 4))
		case vfp:
			n := field(w, 0, 4)
			in.Kill |= doubles(field(w, 5, 1)<<4|n) | 3<<(uint32(s0)+min(30, n<<1|field(w, 5, 1)))
		}
	case field(w, 25, 3) == 6 && vfp:
		in.vfpTransfer(w)
	case field(w, 25, 3) == 6: // ldc, stc
		if bit(w, 21) {
			in.lose(field(w, 16, 4))
		}
	case field(w, 24, 4) == 14 && bit(w, 4): // one register: mcr, mrc, vmov, vmsr
		switch {
		case bit(w, 20) && field(w, 12, 4) != uint32(rpc):
			in.lose(field(w, 12, 4))
		case !bit(w, 20) && vfp:
			n := field(w, 16, 4)
			in.Kill |= doubles(field(w, 7, 1)<<4|n) | doubles(field(w, 7, 1)<<4|n+1) | (s0 + dataflow.Reg(n<<1|field(w, 7, 1))).Bit()
		}
	case field(w, 24, 4) == 14 && vfp: // arithmetic: the result is not always as wide as the operands
		d := field(w, 12, 4)
		if w&0x00bf0000 == 0x00b40000 || w&0x00bf0000 == 0x00b50000 { // vcmp
			return
		}
		in.Kill |= doubles(field(w, 22, 1)<<4|d) | (s0 + dataflow.Reg(d<<1|field(w, 22, 1))).Bit()
	}
}

// vfpTransfer is vldr, vstr, vldm, vstm, vpush, vpop and their forms with one word more (fldmx,
// fstmx).
func (in *inst) vfpTransfer(w uint32) {
	p, up, back, load := bit(w, 24), bit(w, 23), bit(w, 21), bit(w, 20)
	double := bit(w, 8)
	base, imm := field(w, 16, 4), int32(field(w, 0, 8))
	first, count := dataflow.Reg(field(w, 12, 4)<<1|field(w, 22, 1)), imm
	if double {
		first, count = dataflow.Reg(2*(field(w, 22, 1)<<4|field(w, 12, 4))), imm&^1
	}
	off := imm * word
	if p && !back { // vldr, vstr
		if count = 1; double {
			count = 2
		}
		if !up {
			off = -off
		}
		b, off := in.from(base, off)
		in.singles(load, b, off, first, count)
		return
	}
	if p == up || base == uint32(rpc) {
		in.Flow = dataflow.Bad
		return
	}
	b, move := dataflow.Reg(base), off
	if !up {
		move = -off
	}
	if !up { // vpush, and vldmdb
		in.do(dataflow.Add(b, b, move))
		in.singles(load, b, 0, first, count)
		return
	}
	in.singles(load, b, 0, first, count)
	if back {
		in.do(dataflow.Add(b, b, move))
	}
}

// singles loads or stores words from s[first] on. Those above s31 are not followed.
func (in *inst) singles(load bool, base dataflow.Reg, off int32, first dataflow.Reg, count int32) {
	for i := range count {
		if int32(first)+i >= 32 {
			return
		}
		r := s0 + first + dataflow.Reg(i)
		o := dataflow.Op{Kind: dataflow.Load, Dst: r, Src: dataflow.None, Base: base, Index: dataflow.None, Width: word, Imm: off + i*word}
		if !load {
			o.Kind, o.Dst, o.Src = dataflow.Store, dataflow.None, r
		}
		in.do(o)
	}
}

// simd is Advanced SIMD's data processing: the result is d[n] or a pair.
func (in *inst) simd(w uint32) {
	d := field(w, 22, 1)<<4 | field(w, 12, 4)
	in.Kill |= doubles(d) | doubles(d+1)
}

// elements is vld1 to vld4, vst1 to vst4, in the A32 encoding.
func (in *inst) elements(w uint32) {
	base, rm := field(w, 16, 4), field(w, 0, 4)
	first := field(w, 22, 1)<<4 | field(w, 12, 4)
	if bit(w, 21) { // load
		for i := range uint32(8) {
			in.Kill |= doubles(first + i)
		}
	}
	registers := map[uint32]int32{7: 1, 10: 2, 6: 3, 2: 4, 8: 2, 9: 2, 3: 4, 4: 3, 5: 3, 0: 4, 1: 4}[field(w, 8, 4)]
	switch {
	case rm == uint32(rpc):
	case rm == uint32(rsp) && !bit(w, 23) && registers > 0: // by as much as was moved
		in.do(dataflow.Add(dataflow.Reg(base), dataflow.Reg(base), 8*registers))
	default:
		in.lose(base)
	}
}
