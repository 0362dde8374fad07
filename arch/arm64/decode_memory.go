package arm64

// memory decodes loads and stores.
func (o *op) memory(w uint32) {
	vector := w>>26&1 == 1
	load := w>>22&1 == 1
	base := xsp(rn(w))
	r := func(n uint32) reg {
		if vector {
			return v(n)
		}
		return x(n)
	}
	switch {
	case w&0xbe000000 == 0x0c000000: // ld1 to ld4, st1 to st4: up to four registers
		if load {
			for i := range uint32(4) {
				o.kill |= bit(v((rd(w) + i) & 31))
			}
		}
		switch n := structures(w); {
		case w>>23&1 == 0:
		case rm(w) == 31 && n > 0: // ld1 {v4.2d-v5.2d}, [sp], #32
			o.lea(base, base, noReg, n)
		default:
			o.kill |= bit(base)
		}
	case w&0x3f000000 == 0x08000000: // exclusive, ordered, compare and swap
		if load {
			o.kill = bit(x(rd(w)))
		}
		if w>>21&1 == 1 || !load && w>>23&1 == 0 { // the status, or what was found
			o.kill |= bit(x(rm(w)))
		}
		if load && w>>21&1 == 1 { // pairs
			o.kill |= bit(x(w >> 10 & 31))
		}
	case w&0x3b000000 == 0x18000000: // literal
		if w>>30 != 3 || vector {
			o.kill = bit(r(rd(w)))
		}
	case w&0x3a000000 == 0x28000000: // pairs
		o.pair(w, vector, load, base, r)
	case w&0x3b000000 == 0x39000000: // offset of 12 bits
		width := o.access(w, vector)
		o.imm = int32(w>>10&0xfff) * int32(width)
		o.transfer(w, vector, base, r(rd(w)), width)
	case w&0x3b200000 == 0x38000000: // offset of 9 bits
		width := o.access(w, vector)
		n := signed(w>>12, 9)
		switch w >> 10 & 3 {
		case 1:
			o.writeback = n
		case 3:
			o.writeback, o.pre = n, true
		default:
			o.imm = n
		}
		o.transfer(w, vector, base, r(rd(w)), width)
	case w&0x3b200c00 == 0x38200800: // offset in a register: not followed
		o.transfer(w, vector, noReg, r(rd(w)), o.access(w, vector))
	case w&0x3b200c00 == 0x38200000: // atomic
		o.kill = bit(x(rd(w)))
	case w&0x3b200400 == 0x38200400: // ldraa, ldrab
		o.kill = bit(x(rd(w)))
		if w>>11&1 == 1 {
			o.kill |= bit(base)
		}
	case w&0xff200000 == 0xd9200000: // tags
		n := signed(w>>12, 9) * 16
		if w>>22&3 == 1 && w>>10&3 == 0 { // ldg
			o.kill = bit(x(rd(w)))
			return
		}
		switch w >> 10 & 3 {
		case 1, 3:
			o.lea(base, base, noReg, n)
		}
	default:
		o.kill = bit(r(rd(w)))
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

// access returns how many bytes a load or store of one register moves.
func (o *op) access(w uint32, vector bool) uint8 {
	if vector && w>>23&1 == 1 {
		return 16
	}
	return 1 << (w >> 30)
}

// transfer completes a load or store of one register. The address is followed
// unless base is noReg.
func (o *op) transfer(w uint32, vector bool, base, r reg, width uint8) {
	opc := w >> 22 & 3
	store := opc == 0 || vector && opc == 2
	if !vector && w>>30 == 3 && opc == 2 { // prfm
		o.writeback = 0
		return
	}
	o.base, o.width, o.dst = base, width, r
	if o.kind = opLoad; store {
		o.kind = opStore
	} else if !vector && opc != 1 {
		o.width = 4 // sign-extended: no saved register
	}
}

// pair decodes a load or store of two registers.
func (o *op) pair(w uint32, vector, load bool, base reg, r func(uint32) reg) {
	scale := int32(4) << (w >> 31)
	o.width = uint8(scale)
	if vector {
		scale = 4 << (w >> 30)
		o.width = uint8(scale)
	} else if w>>30 == 1 && !load { // stgp
		scale, o.width = 16, 8
	}
	n := signed(w>>15, 7) * scale
	switch w >> 23 & 3 {
	case 1:
		o.writeback = n
	case 3:
		o.writeback, o.pre = n, true
	default:
		o.imm = n
	}
	o.base, o.dst, o.dst2 = base, r(rd(w)), r(w>>10&31)
	if o.kind = opStore; load {
		o.kind = opLoad
	}
}
