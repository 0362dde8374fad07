package python

// Code objects tell which of their instructions belongs to which line. The tables have three
// formats: co_lnotab up to 3.9 (Objects/lnotab_notes.txt), co_linetable of 3.10 (PEP 626), and the
// location table from 3.11 on (Objects/locations.md, InternalDocs/code_objects.md).

// lineOf returns the line of the instruction at offset, bytes from the first one, or 0 if it has
// none or the table is broken. next returns the table's bytes.
func lineOf(minor int, next func() (byte, bool), first int, offset int64) int {
	var line int
	var ok bool
	switch {
	case offset < 0:
		return max(first, 0) // it has not begun
	case minor >= 11:
		line, ok = location(next, first, offset)
	case minor == 10:
		line, ok = lineTable(next, first, offset)
	default:
		line, ok = lnotab(next, first, offset), true
	}
	if !ok || line < 1 || line > 1<<30 {
		return 0
	}
	return line
}

// lnotab reads co_lnotab: pairs of unsigned and signed bytes, by which addresses and lines grow.
func lnotab(next func() (byte, bool), line int, offset int64) int {
	var at int64
	for {
		a, ok1 := next()
		l, ok2 := next()
		if !ok1 || !ok2 {
			return line
		}
		if at += int64(a); at > offset {
			return line
		}
		line += int(int8(l))
	}
}

// lineTable reads co_linetable of 3.10: pairs of how many bytes an entry covers, and by how much
// its line differs; -128 says that it has none.
func lineTable(next func() (byte, bool), line int, offset int64) (int, bool) {
	var at int64
	for {
		n, ok1 := next()
		l, ok2 := next()
		if !ok1 || !ok2 {
			return 0, false
		}
		none := int8(l) == -128
		if !none {
			line += int(int8(l))
		}
		if at += int64(n); at > offset {
			return line, !none
		}
	}
}

// location reads the location table.
func location(next func() (byte, bool), line int, offset int64) (int, bool) {
	var at int64
	for {
		head, ok := next()
		if !ok || head&0x80 == 0 {
			return 0, false
		}
		code, units := head>>3&15, int64(head&7)+1
		none := false
		skip := 0
		switch {
		case code == 15:
			none = true
		case code >= 13:
			delta, ok := signedVarint(next)
			if !ok {
				return 0, false
			}
			line += delta
			if code == 14 {
				for range 3 { // the last line, both columns
					if _, ok := varint(next); !ok {
						return 0, false
					}
				}
			}
		case code >= 10:
			line += int(code) - 10
			skip = 2
		default:
			skip = 1
		}
		for range skip {
			if _, ok := next(); !ok {
				return 0, false
			}
		}
		if at += units * 2; at > offset {
			return line, !none
		}
	}
}

// varint reads groups of six bits, the lowest first. Bit 6 says that there are more.
func varint(next func() (byte, bool)) (v uint32, ok bool) {
	for shift := 0; shift < 32; shift += 6 {
		b, ok := next()
		if !ok {
			return 0, false
		}
		v |= uint32(b&63) << shift
		if b&64 == 0 {
			return v, true
		}
	}
	return 0, false
}

func signedVarint(next func() (byte, bool)) (v int, ok bool) {
	u, ok := varint(next)
	v = int(u >> 1)
	if u&1 != 0 {
		v = -v
	}
	return v, ok
}

// stream returns a function that returns the bytes of an object of Python's type bytes.
func (m *memory) stream(object uint64) func() (byte, bool) {
	length, err := m.pointer(object, bytesLength)
	if err != nil || length > maxTable {
		length = 0
	}
	at := object + m.layout.at[bytesData]
	var room [512]byte
	var have []byte
	return func() (byte, bool) {
		if len(have) == 0 {
			n, _ := m.ReadMemory(at, room[:min(length, uint64(len(room)))])
			if n == 0 {
				return 0, false
			}
			have, at, length = room[:n], at+uint64(n), length-uint64(n)
		}
		b := have[0]
		have = have[1:]
		return b, true
	}
}

// maxTable bounds tables of lines, bytes.
const maxTable = 16 << 20
