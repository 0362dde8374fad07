package ecma335

import "bytes"

// steppingInfo is the kind of what a portable PDB has of where an async method waits:
// 54FD2AC5-E925-401A-9C2A-F94F171072F8.
var steppingInfo = []byte{0xc5, 0x2a, 0xfd, 0x54, 0x25, 0xe9, 0x1a, 0x40, 0x9c, 0x2a, 0xf9, 0x4f, 0x17, 0x10, 0x72, 0xf8}

// Bounds of a method.
const (
	mostKinds = 256     // of custom debug information
	mostAwait = 1 << 12 // places where it waits
	mostCode  = 1 << 22 // bytes
	mostMoves = 1 << 10 // methods of the type
)

// FieldName returns the name of the field of a row.
func (m *Metadata) FieldName(row uint32) string { return m.string(m.cell(fields, row, 1)) }

// MethodOf returns the row of a type's method by its name; 0 if it has none.
func (m *Metadata) MethodOf(typ uint32, name string) uint32 {
	first, end := m.cell(typeDefs, typ, 5), m.rows[methods]+1
	if typ < m.rows[typeDefs] {
		end = m.cell(typeDefs, typ+1, 5)
	}
	for row := first; row != 0 && row < end && row < first+mostMoves; row++ {
		if m.string(m.cell(methods, row, 3)) == name {
			return row
		}
	}
	return 0
}

// RVA returns where the code of the method of a row is; 0 if it has none.
func (m *Metadata) RVA(row uint32) uint32 { return m.cell(methods, row, 0) }

// Yields returns the places in the code of a method at which it begins to wait, as a portable PDB
// has them of the method that the compiler has made of an async one.
func (m *Metadata) Yields(row uint32) (list []uint32) {
	const ofMethod = 0
	owner := row<<5 | ofMethod
	i := m.search(customDebug, 0, owner)
	for n := 0; n < mostKinds && m.cell(customDebug, i, 0) == owner; n++ {
		if kind := m.cell(customDebug, i, 1); kind != 0 && int64(kind) <= m.guid.size/16 {
			var id [16]byte
			if m.read(m.guid.at+16*int64(kind-1), id[:]) && bytes.Equal(id[:], steppingInfo) {
				return yields(m.blobAt(m.cell(customDebug, i, 2)))
			}
		}
		i++
	}
	return nil
}

// yields reads a record: the place of a handler, and where each wait begins and ends, the latter
// with its method.
func yields(b []byte) (list []uint32) {
	if len(b) < 4 {
		return nil
	}
	for b = b[4:]; len(b) > 8 && len(list) < mostAwait; {
		list = append(list, order.Uint32(b))
		_, used := number(b[8:])
		if used == 0 {
			break
		}
		b = b[8+used:]
	}
	return list
}

// Code returns the code of a method by its RVA; nil if it cannot be read.
func (a *Assembly) Code(rva uint32) []byte {
	const formats, tiny, fat = 3, 2, 3
	m := Metadata{r: a.r}
	at := a.offset(rva)
	var head [12]byte
	if rva == 0 || at < 0 || !m.read(at, head[:1]) {
		return nil
	}
	size, from := uint32(head[0]>>2), int64(1)
	switch head[0] & formats {
	case tiny:
	case fat:
		if !m.read(at, head[:]) {
			return nil
		}
		size, from = order.Uint32(head[4:]), int64(head[1]>>4)*4
	default:
		return nil
	}
	if size > mostCode {
		return nil
	}
	b := make([]byte, size)
	if !m.read(at+from, b) {
		return nil
	}
	return b
}

// StateBefore returns the number that code notes as the state of an async method just before an
// offset, at which it begins to wait: it pushes the number, stores it into a variable, and into a
// field.
func StateBefore(code []byte, offset uint32) (state int32, ok bool) {
	const nop, this, dup, store, short, long, zero, last = 0, 0x02, 0x25, 0x7d, 0x1f, 0x20, 0x16, 0x1e
	if uint64(offset) > uint64(len(code)) {
		return 0, false
	}
	b := code[:offset]
	at := func(back int) byte {
		if back > len(b) {
			return nop
		}
		return b[len(b)-back]
	}
	for len(b) > 0 && at(1) == nop { // a field's token does not end so
		b = b[:len(b)-1]
	}
	if at(5) != store {
		return 0, false
	}
	b = b[:len(b)-5]
	switch {
	case at(2) == dup && at(1) >= 0x0a && at(1) <= 0x0d: // stloc.0 to stloc.3
		b = b[:len(b)-2]
	case at(3) == dup && at(2) == 0x13: // stloc.s
		b = b[:len(b)-3]
	}
	switch {
	case at(6) == this && at(5) == long:
		return int32(order.Uint32(b[len(b)-4:])), true
	case at(3) == this && at(2) == short:
		return int32(int8(at(1))), true
	case at(2) == this && at(1) >= zero && at(1) <= last:
		return int32(at(1) - zero), true
	}
	return 0, false
}
