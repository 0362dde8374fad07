package jitdump

import "encoding/binary"

// The numbers of DWARF 4 that are written.
const (
	tagCompileUnit = 0x11
	atStmtList     = 0x10
	atLowPC        = 0x11
	atHighPC       = 0x12
	formAddr       = 0x01
	formData8      = 0x07
	formSecOffset  = 0x17

	lnsCopy        = 1
	lnsAdvanceLine = 3
	lnsSetFile     = 4
	lneEndSequence = 1
	lneSetAddress  = 2
)

// debug adds the lines. Those in a file "" are none. Nothing is known of the function's arguments,
// so there is no entry of it: the symbol table has its name.
func (w *writer) debug(c *Code, lines []Line) {
	abbrev := []byte{
		1, tagCompileUnit, 0, atStmtList, formSecOffset, atLowPC, formAddr, atHighPC, formData8, 0, 0,
		0,
	}
	w.section(".debug_abbrev", 1, 0, 0, abbrev)
	size := byte(4)
	if w.wide() {
		size = 8
	}
	info := append(w.u32(w.u16(nil, 4), 0), size)
	info = w.u32(append(info, 1), 0)
	info = w.u64(w.word(info, c.Lo), c.Hi-c.Lo)
	w.section(".debug_info", 1, 0, 0, append(w.u32(nil, uint32(len(info))), info...))

	files, numbers := []byte{}, map[string]uint64{}
	program := []byte{}
	number, line := uint64(1), 1
	for _, l := range lines {
		if l.File == "" || l.Line < 0 || l.Addr < c.Lo || l.Addr >= c.Hi {
			continue
		}
		n, ok := numbers[l.File]
		if !ok {
			n = uint64(len(numbers) + 1)
			numbers[l.File] = n
			files = append(cstring(files, l.File), 0, 0, 0)
		}
		program = w.word(append(program, 0, 1+size, lneSetAddress), l.Addr)
		if n != number {
			program = binary.AppendUvarint(append(program, lnsSetFile), n)
			number = n
		}
		if l.Line != line {
			program = appendSigned(append(program, lnsAdvanceLine), int64(l.Line-line))
			line = l.Line
		}
		program = append(program, lnsCopy)
	}
	if len(program) > 0 {
		program = w.word(append(program, 0, 1+size, lneSetAddress), c.Hi)
		program = append(program, 0, 1, lneEndSequence)
	}
	// The sizes of instructions, the first and the range of the special opcodes, and how many
	// arguments the others have.
	header := []byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}
	header = append(append(append(header, 0), files...), 0) // no folders
	unit := w.u32(w.u16(nil, 4), uint32(len(header)))
	unit = append(append(unit, header...), program...)
	w.section(".debug_line", 1, 0, 0, append(w.u32(nil, uint32(len(unit))), unit...))
}

// appendSigned appends a number as SLEB128.
func appendSigned(b []byte, v int64) []byte {
	for {
		low := byte(v) & 0x7f
		v >>= 7
		if v == 0 && low&0x40 == 0 || v == -1 && low&0x40 != 0 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}
