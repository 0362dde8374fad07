package v8

// Bounds of tables.
const (
	mostBytecode = 4 << 20 // bytes
	mostTable    = 1 << 20
)

// bytes reads an array of bytes, nil if it is none, or too long.
func (h *heap) bytes(array uint64, most int) []byte {
	if t, ok := h.typeOf(array); !ok || t != h.types.byteArray && t != h.types.trustedBytes {
		return nil
	}
	n := h.lengthOf(array)
	if n < 0 || n > most {
		return nil
	}
	return h.raw(array-1+h.array, n)
}

// raw reads n bytes, nil if they cannot be read.
func (h *heap) raw(at uint64, n int) []byte {
	if n < 0 || !h.spend(n) {
		return nil
	}
	p := make([]byte, n)
	if !h.Bytes(at, p) {
		return nil
	}
	return p
}

// positionAt returns the position in the source of a place in bytecode; -1 if that is not known. V8
// often makes the table of positions when somebody asks for a stack in the program.
func (h *heap) positionAt(bytecode uint64, offset int) int {
	if bytecode == 0 || offset < 0 {
		return -1
	}
	at := h.protected(bytecode, h.positions)
	table, ok := h.tables[at]
	if !ok {
		table = keep(h.tables, at, h.bytes(at, mostTable))
	}
	h.spend(len(table))
	return position(table, offset, h.positionForm)
}

// The forms of tables of positions.
const (
	positionSigned = iota // the sign of the first number says what kind of position it is
	positionMarked        // so does its lowest bit
	positionFlags         // it has no sign, but three such bits
)

// position returns the position in a table of the last entry up to an offset; -1 if there is none.
func position(table []byte, offset, form int) int {
	const mask = 1<<30 - 1
	if word, ok := sourceAt(table, offset, form); ok {
		return int(word>>1&mask) - 1
	}
	return -1
}

// sourceAt returns the last entry of a table up to an offset: a position, plus one, with a mark
// below it, and above it plus one the number of what is inlined there. Each entry has two numbers,
// the differences from the entry before, of an offset and of such a word.
func sourceAt(table []byte, offset, form int) (found uint64, ok bool) {
	const absolute = 4
	code, source := -1, uint64(0)
	for len(table) > 0 {
		var a int
		if form == positionFlags {
			a, table = unsigned(table)
			if a&absolute != 0 {
				source = 0
			}
			a >>= 3
		} else {
			var n uint64
			if n, table = zigzag(table); int32(n) < 0 {
				n = ^n
			}
			a = int(int32(n))
		}
		if form == positionMarked {
			a >>= 1
		}
		b, rest := zigzag(table)
		if code, source, table = code+a, source+b, rest; code > offset {
			break
		}
		found, ok = source, true
	}
	return found, ok
}

// zigzag reads a number with a sign, of 64 bits, whose bytes have seven bits each, the lowest
// first.
func zigzag(p []byte) (v uint64, rest []byte) {
	var u uint64
	for i := range p {
		if i > 9 {
			break
		}
		u |= uint64(p[i]&0x7f) << (7 * i)
		if p[i]&0x80 == 0 {
			return u>>1 ^ -(u & 1), p[i+1:]
		}
	}
	return 0, nil
}

// unsigned reads a number without a sign, in the same way.
func unsigned(p []byte) (v int, rest []byte) {
	var u uint32
	for i := range p {
		if i > 4 {
			break
		}
		u |= uint32(p[i]&0x7f) << (7 * i)
		if p[i]&0x80 == 0 {
			return int(u), p[i+1:]
		}
	}
	return 0, nil
}

// signed reads a number whose lowest bit is its sign.
func signed(p []byte) (v int, rest []byte) {
	u, rest := unsigned(p)
	if v = u >> 1; u&1 != 0 {
		v = -v
	}
	return v, rest
}

// baselineOffset returns the offset in the bytecode of a distance in code of the baseline compiler;
// -1 if it is none. The table has the size of the code before the first bytecode, and of each
// bytecode's.
func (r *release) baselineOffset(table, bytecode []byte, distance int) int {
	begin, end, at, next := -1, 0, -1, 0
	for len(table) > 0 {
		var n int
		n, table = unsigned(table)
		if end += n; distance <= end {
			return begin
		}
		begin, at = next, next
		size := r.bytecodeSize(bytecode, at)
		if size == 0 {
			return -1
		}
		next += size
	}
	return -1
}

// bytecodeSize returns the size of the bytecode at an offset, with its prefix; 0 if there is none.
func (r *release) bytecodeSize(bytecode []byte, at int) int {
	const wide, extraWide, debugWide, debugExtraWide = 0, 1, 2, 3
	if at >= len(bytecode) {
		return 0
	}
	prefix, scale := 0, 0
	switch bytecode[at] {
	case wide, debugWide:
		prefix, scale = 1, 1
	case extraWide, debugExtraWide:
		prefix, scale = 1, 2
	}
	count := len(r.bytecodeSizes) / 3
	if at += prefix; at >= len(bytecode) || int(bytecode[at]) >= count {
		return 0
	}
	return prefix + int(r.bytecodeSizes[scale*count+int(bytecode[at])])
}
