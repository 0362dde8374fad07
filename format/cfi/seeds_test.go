package cfi_test

import (
	"encoding/binary"
	"strings"
	"testing"
)

// The seeds of the fuzz tests are small. Each reaches other code.

// encoded is a pointer in an encoding of .eh_frame (LSB Core, "DWARF Exception Header Encoding").
func encoded(enc byte, v uint64) []byte {
	switch enc & 7 {
	case 1:
		return binary.AppendUvarint(nil, v&0x3f|0x40)
	case 2:
		return u16(uint16(v))
	case 3:
		return u32(uint32(v))
	}
	return u64(v)
}

// sectionSeed returns an .eh_frame at 0x1000 with an FDE for each address in starts. Each FDE
// covers 0x100 bytes of code. offsets are where the FDEs are.
func sectionSeed(version int, letters string, enc byte, program []byte, starts ...uint64) (data []byte, offsets []uint64) {
	var augment []byte
	for _, letter := range letters {
		switch letter {
		case 'P':
			augment = append(append(augment, enc), encoded(enc, 0x5000)...)
		case 'L':
			augment = append(augment, 0x1b)
		case 'R':
			augment = append(augment, enc)
		}
	}
	if strings.HasPrefix(letters, "z") {
		augment = join(len(augment), augment)
	}
	data = block(u32(0), version, letters, 0, 1, 0x78, 16, augment, 0x0c, 7, 8, 0x90, 1)
	for _, start := range starts {
		offsets = append(offsets, uint64(len(data)))
		at := uint64(len(data)) + 8
		if enc&0x70 == 0x10 && enc&7 != 1 {
			start -= 0x1000 + at
		}
		fde := join(u32(uint32(at-4)), encoded(enc, start), encoded(enc&0xf, 0x100))
		if strings.HasPrefix(letters, "z") {
			if fde = append(fde, 0); strings.Contains(letters, "L") {
				fde = append(fde[:len(fde)-1], 4, 0, 0, 0, 0)
			}
		}
		data = append(data, block(fde, program)...)
	}
	return append(data, 0, 0, 0, 0), offsets
}

// headerSeed returns an .eh_frame_hdr at 0x800 for FDEs at the given offsets.
func headerSeed(pointer, enc byte, starts, offsets []uint64) []byte {
	b := join(1, int(pointer), 3, int(enc))
	if pointer != 0xff {
		b = append(b, encoded(pointer, 0x7fc)...)
	}
	b = append(b, u32(uint32(len(starts)))...)
	for i, start := range starts {
		for _, v := range []uint64{start, 0x1000 + offsets[i]} {
			switch enc & 0x70 {
			case 0x10:
				v -= 0x800 + uint64(len(b))
			case 0x20:
				v--
			case 0x30:
				v -= 0x800
			}
			b = append(b, encoded(enc, v)...)
		}
	}
	return b
}

func addSections(f *testing.F) {
	add := func(data, header []byte, pc uint64, debug, short bool) {
		f.Add(data, header, uint64(0x1000), uint64(0x800), pc, debug, false, short)
	}
	for _, enc := range []byte{0x00, 0x01, 0x02, 0x03, 0x04, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x07, 0x1b, 0x1c, 0x23, 0x33, 0x43, 0x50, 0x53, 0x63, 0x9b, 0xff} {
		data, _ := sectionSeed(1, "zPLR", enc, nil, 0x2000)
		add(data, nil, 0x2000, false, enc == 0)
	}
	for _, letters := range []string{"", "zRS", "zRB", "zRG", "R", "P", "RL", "Rz", "zRX", "zXR", "zXSB", "X", "eh"} {
		data, _ := sectionSeed(3, letters, 0x1b, join(0x41, 0x2d, 0x42, 0x0a, 0x43, 0x0b), 0x2000)
		add(data, nil, 0x2001, false, false)
	}
	starts := []uint64{0x2000, 0x2100, 0x2300}
	for _, enc := range []byte{0x3b, 0x1b, 0x03, 0x23, 0x04, 0x0a, 0x01, 0x43, 0xff} {
		data, offsets := sectionSeed(1, "zR", 0x1b, join(0x41, 0x0e, 16), starts...)
		add(data, headerSeed(0x1b, enc, starts, offsets), 0x2180, false, false)
		add(data, headerSeed(0xff, enc, starts, offsets), 0x2280, false, enc == 0x03) // between two
		offsets[1]++
		add(data, headerSeed(0x03, enc, starts, offsets), 0x2180, false, false) // it lies
	}
	data, offsets := sectionSeed(1, "zR", 0x1b, nil, 0x2300, 0x2000, 0x2100)
	add(data, headerSeed(0x1b, 0x3b, []uint64{0x2300, 0x2000, 0x2100}, offsets), 0x2180, false, false)
	add(data, nil, 0x2180, false, false)
	for version := 0; version < 6; version++ {
		data, _ := sectionSeed(version, "", 0, nil, 0x2000)
		add(data, nil, 0x2000, false, false)
		add(block(u32(0xffffffff), version, 0, 1, 0x78, 16, 0x0c, 7, 8), nil, 0x2000, true, false)
	}
	wide := join(u64(0xffffffffffffffff), 4, 0, 8, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1)
	wide = join(u32(0xffffffff), u64(uint64(len(wide))), wide)
	fde := join(u64(0), u64(0x2000), u64(0x100))
	add(join(wide, u32(0xffffffff), u64(uint64(len(fde))), fde), nil, 0x2000, true, false) // 64-bit DWARF
	add(join(u32(0xffffffff), u64(1<<40)), nil, 0x2000, true, false)
	add(handMade(join(0x0c, 7, 8, 0x90, 1), nil)[:40], nil, 0x1000, true, false)
	add(make([]byte, 40), nil, 0x1000, true, false)
}

func addPrograms(f *testing.F) {
	call := join(0x0c, 7, 8, 0x90, 1)
	for _, op := range []int{0x01, 0x05, 0x0c, 0x0d, 0x0e, 0x12, 0x13, 0x14, 0x1c, 0x1d, 0x2d, 0x2f, 0x3f, 0x80, 0x90, 0xc0, 0xd0} {
		f.Add(call, join(0x41, op, 3, 2, 1, 0x42, 0x0a, op, 0x41, 0x0b), op&1 == 0)
		f.Add(call, join(op), false) // its operands are missing
		f.Add([]byte(nil), join(op, 16, 1), false)
	}
	for _, x := range [][]byte{{0x77, 8, 0x06}, {0x76, 0x70, 0x06}, {0x92, 7, 16}, {0x77, 0, 0x23, 8}, {0x50}, {0x9c}, {0x77, 0x80, 1, 0x06, 0x23, 8}, {0x03}} {
		for _, op := range []int{0x0f, 0x10, 0x16} { // DW_CFA_def_cfa_expression, expression, val_expression
			p := join(op)
			if op != 0x0f {
				p = append(p, 6)
			}
			f.Add(call, join(0x41, p, len(x), x), false)
		}
	}
	f.Add(call, join(0x0b), false)                          // nothing was remembered
	f.Add(call, append(make([]byte, 50), 0x0a, 0x0b), true) // DW_CFA_nop
	many := call
	for range 80 { // states
		many = append(many, 0x0a)
	}
	f.Add(call, many, false)
	many = nil
	for r := range 60 { // registers that are saved
		many = append(many, 0x05, byte(r), byte(r))
	}
	f.Add(call, many, false)
}

func addExpressions(f *testing.F) {
	for op := range 0x9e {
		f.Add(join(0x08, 9, 0x32, 0x33, op, 1, 0, 0, 0, 0, 0, 0, 0), uint64(0x7000), op&1 == 0)
		if op > 0x16 && op < 0x30 {
			f.Add(join(op), uint64(0), false)             // with nothing on the stack
			f.Add(join(0x31, 0x30, op), uint64(0), false) // with 0 on the right
			f.Add(join(0x09, 0xf0, 0x33, op), uint64(0), true)
		}
	}
	f.Add(join(0x31, 0x2f, u16(0xfffc)), uint64(0), false) // for ever
	f.Add(join(0x30, 0x28, u16(0x7fff)), uint64(0), false)
	for _, x := range [][]byte{{0x90, 7}, {0x91, 8}, {0x92, 7, 8}, {0x92, 99, 8}, {0x94, 0}, {0x94, 9}, {0xe0}, {0xff, 1}} {
		f.Add(join(0x31, x), uint64(0x7000), false)
	}
}
