package arm64

import "github.com/sfwalk/sfwalk/arch/dataflow"

// memory decodes loads and stores.
func (in *inst) memory(w uint32) {
	vector := w>>26&1 == 1
	load := w>>22&1 == 1
	base := xsp(rn(w))
	r := func(n uint32) dataflow.Reg {
		if vector {
			return v(n)
		}
		return x(n)
	}
	switch {
	case w&0xbe000000 == 0x0c000000: // ld1 to ld4, st1 to st4: up to four registers
		if load {
			for i := range uint32(4) {
				in.Kill |= v((rd(w) + i) & 31).Bit()
			}
		}
		switch n := structures(w); {
		case w>>23&1 == 0:
		case rm(w) == 31 && n > 0: // ld1 {v4.2d-v5.2d}, [sp], #32
			in.do(dataflow.Add(base, base, n))
		default:
			in.Kill |= base.Bit()
		}
	case w&0x3f000000 == 0x08000000: // exclusive, ordered, compare and swap
		if load {
			in.Kill = x(rd(w)).Bit()
		}
		if w>>21&1 == 1 || !load && w>>23&1 == 0 { // the status, or what was found
			in.Kill |= x(rm(w)).Bit()
		}
		if load && w>>21&1 == 1 { // pairs
			in.Kill |= x(w >> 10 & 31).Bit()
		}
	case w&0x3b000000 == 0x18000000: // literal
		switch {
		case w>>30 == 1 && !vector:
			in.do(dataflow.LoadWord(x(rd(w)), dataflow.PC, signed(w>>5, 19)*4))
		case w>>30 != 3 || vector: // no prfm
			in.Kill = r(rd(w)).Bit()
		}
	case w&0x3a000000 == 0x28000000: // pairs
		in.pair(w, vector, load, base, r)
	case w&0x3b000000 == 0x39000000: // offset of 12 bits
		t := single(w, vector)
		t.base, t.off = base, int32(w>>10&0xfff)*int32(t.bytes)
		in.transfer(t)
	case w&0x3b200000 == 0x38000000: // offset of 9 bits
		t := single(w, vector)
		t.base = base
		t.indexed(w>>10&3, signed(w>>12, 9))
		in.transfer(t)
	case w&0x3b200c00 == 0x38200800: // offset in a register: followed for a word's store alone
		t := single(w, vector)
		if w&0xffe0f000 == 0xf8206000 {
			t.base, t.index = base, x(rm(w))
		}
		in.transfer(t)
	case w&0x3b200c00 == 0x38200000: // atomic
		in.Kill = x(rd(w)).Bit()
	case w&0x3b200400 == 0x38200400: // ldraa, ldrab
		in.Kill = x(rd(w)).Bit()
		if w>>11&1 == 1 {
			in.Kill |= base.Bit()
		}
	case w&0xff200000 == 0xd9200000: // tags
		n := signed(w>>12, 9) * 16
		if w>>22&3 == 1 && w>>10&3 == 0 { // ldg
			in.Kill = x(rd(w)).Bit()
			return
		}
		switch w >> 10 & 3 {
		case 1, 3:
			in.do(dataflow.Add(base, base, n))
		}
	default:
		in.Kill = r(rd(w)).Bit()
	}
}

// structures returns how many bytes ld1 to ld4 and st1 to st4 move, of whole registers; 0 for other
// forms.
func structures(w uint32) int32 {
	size := int32(8) << (w >> 30 & 1)
	switch opcode := w >> 12 & 15; {
	case w>>24&1 == 1: // of one element
		return 0
	case opcode == 0, opcode == 2:
		return 4 * size
	case opcode == 4, opcode == 6:
		return 3 * size
	case opcode == 8, opcode == 10:
		return 2 * size
	case opcode == 7:
		return size
	}
	return 0
}

// A transfer is a load or store of one or two registers.
type transfer struct {
	store, prefetch bool
	regs            [2]dataflow.Reg // the second is None where there is one
	base, index     dataflow.Reg    // the base is None where the address is not followed
	off, writeback  int32           // writeback is added to base; before the access where pre is set
	pre             bool
	bytes           int32  // of each register in memory
	width           uint16 // the same, or less where the register gets something else
}

// single returns what a load or store of one register moves.
func single(w uint32, vector bool) transfer {
	opc, bytes := w>>22&3, int32(1)<<(w>>30)
	if vector && w>>23&1 == 1 {
		bytes = 16
	}
	t := transfer{
		store: opc == 0 || vector && opc == 2, prefetch: !vector && w>>30 == 3 && opc == 2,
		regs: [2]dataflow.Reg{x(rd(w)), dataflow.None}, base: dataflow.None, index: dataflow.None, bytes: bytes, width: uint16(bytes),
	}
	if vector {
		t.regs[0] = v(rd(w))
	} else if !t.store && opc != 1 {
		t.width = 4 // sign-extended: no saved register
	}
	return t
}

// indexed takes in a distance from the base, which some forms add to the base.
func (t *transfer) indexed(form uint32, n int32) {
	switch form {
	case 1:
		t.writeback = n
	case 3:
		t.writeback, t.pre = n, true
	default:
		t.off = n
	}
}

// pair decodes a load or store of two registers.
func (in *inst) pair(w uint32, vector, load bool, base dataflow.Reg, r func(uint32) dataflow.Reg) {
	scale := int32(4) << (w >> 31)
	width := scale
	if vector {
		scale = 4 << (w >> 30)
		width = scale
	} else if w>>30 == 1 && !load { // stgp
		scale, width = 16, 8
	}
	t := transfer{
		store: !load, regs: [2]dataflow.Reg{r(rd(w)), r(w >> 10 & 31)}, base: base, index: dataflow.None,
		bytes: width, width: uint16(width),
	}
	t.indexed(w>>23&3, signed(w>>15, 7)*scale)
	in.transfer(t)
}

func (in *inst) transfer(t transfer) {
	if t.prefetch {
		return
	}
	base := t.base
	if t.pre {
		in.do(dataflow.Add(base, base, t.writeback))
	}
	if !t.store && t.regs[0] == base && t.regs[1] != dataflow.None { // the base is lost before the second load
		in.do(dataflow.Move(dataflow.Temp, base))
		base = dataflow.Temp
	}
	for i, r := range t.regs {
		x := dataflow.Op{Kind: dataflow.Load, Dst: r, Src: dataflow.None, Base: base, Index: t.index, Width: t.width, Imm: t.off + int32(i)*t.bytes}
		if t.store {
			x.Kind, x.Dst, x.Src = dataflow.Store, dataflow.None, r
		}
		if r != dataflow.None || i == 0 {
			in.do(x)
		}
	}
	if t.writeback != 0 && !t.pre {
		in.do(dataflow.Add(t.base, t.base, t.writeback))
	}
}
