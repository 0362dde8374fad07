package python

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sfwalk/sfwalk/target"
)

// memory reads CPython's structures.
type memory struct {
	target.Memory
	order  binary.ByteOrder
	size   int // of a pointer, bytes
	layout *layout
	rooms  [roomsOfMemory][]byte // for what is read of one structure at a time
	single [8]byte               // for what is read by word
}

// What is read of a structure stays in a room of its kind, until the next one of that kind is read.
const (
	threadRoom = iota
	frameRoom
	codeRoom
	textRoom
	keysRoom
	variablesRoom
	roomsOfMemory
)

func (r *interpreter) memory(m target.Memory) *memory {
	return &memory{Memory: m, order: r.arch.Order, size: r.arch.PtrSize, layout: r.layout}
}

// record is the beginning of a structure.
type record struct {
	addr  uint64
	bytes []byte
	m     *memory
}

// record reads the first n bytes of a structure into a room.
func (m *memory) record(addr uint64, kind, n int) (record, error) { return m.rest(addr, kind, 0, n) }

// rest reads the first n bytes of a structure but the first ones, which change without a change of
// the structure.
func (m *memory) rest(addr uint64, kind, first, n int) (record, error) {
	if n > maxRecord {
		return record{}, fmt.Errorf("the structure at %#x is larger than %d bytes", addr, maxRecord)
	}
	if len(m.rooms[kind]) < n {
		m.rooms[kind] = make([]byte, n)
	}
	room := m.rooms[kind][:n]
	if addr == 0 || addr+uint64(len(room)) < addr {
		return record{}, fmt.Errorf("nothing can be at %#x", addr)
	}
	if got, err := m.ReadMemory(addr+uint64(first), room[first:]); got < n-first {
		return record{}, fmt.Errorf("memory at %#x: %w", addr, err)
	}
	return record{addr, room, m}, nil
}

// word returns a field that is a pointer or as long as one. The field is in what was read.
func (r *record) word(f field) uint64 { return r.m.get(r.bytes[r.m.layout.at[f]:]) }

// number returns a field of C's type int.
func (r *record) number(f field) int32 {
	return int32(r.m.order.Uint32(r.bytes[r.m.layout.at[f]:]))
}

func (m *memory) get(b []byte) uint64 {
	if m.size == 4 {
		return uint64(m.order.Uint32(b))
	}
	return m.order.Uint64(b)
}

// word reads a pointer.
func (m *memory) word(addr uint64) (uint64, error) {
	if addr == 0 || addr > ^uint64(0)-8 {
		return 0, fmt.Errorf("nothing can be at %#x", addr)
	}
	if n, err := m.ReadMemory(addr, m.single[:m.size]); n < m.size {
		return 0, fmt.Errorf("memory at %#x: %w", addr, err)
	}
	return m.get(m.single[:]), nil
}

// pointer reads a field of the structure at addr.
func (m *memory) pointer(addr uint64, f field) (uint64, error) {
	if addr == 0 {
		return 0, fmt.Errorf("%s of no structure", fieldNames[f])
	}
	v, err := m.word(addr + m.layout.at[f])
	if err != nil {
		return 0, fmt.Errorf("%s at %#x: %w", fieldNames[f], addr, err)
	}
	return v, nil
}

// isA reports whether an object's type is called name, as a type of Python's own is.
func (m *memory) isA(object uint64, name string) (typ uint64, is bool) {
	typ, err := m.pointer(object, objectType)
	if err != nil {
		return 0, false
	}
	return typ, m.called(typ, name)
}

// called reports whether a type is called name.
func (m *memory) called(typ uint64, name string) bool {
	at, err := m.pointer(typ, typeName)
	if err != nil {
		return false
	}
	var room [16]byte
	text := room[:min(len(name)+1, len(room))]
	n, _ := m.ReadMemory(at, text)
	return n == len(name)+1 && string(text[:n]) == name+"\x00"
}

// maxString bounds strings, characters: names and files are shorter.
const maxString = 4 << 10

// characters are where a string has its characters, and how.
type characters struct {
	at     uint64
	length uint64 // in characters
	size   int    // of a character, bytes: 1, 2 or 4
	ascii  bool
}

// characters reads the head of a string. It fails for an object that is no string.
func (m *memory) characters(object uint64) (c characters, err error) {
	l := m.layout
	head, err := m.record(object, textRoom, l.part(uint64(m.size), unicodeState, unicodeLength))
	if err != nil {
		return c, fmt.Errorf("a string: %w", err)
	}
	c.length = head.word(unicodeLength)
	kind, compact, ascii := m.stringKind(uint32(head.number(unicodeState)))
	if !compact && !l.has(unicodeBuffer) || (kind != 1 && kind != 2 && kind != 4) || (ascii && kind != 1) || c.length >= 1<<40 {
		return c, fmt.Errorf("there is no string at %#x", object)
	}
	c.size, c.ascii = kind, ascii
	c.at = object + l.at[unicodeCompactSize]
	switch {
	case !compact: // of a class that extends str
		if c.at, err = m.pointer(object, unicodeBuffer); err != nil {
			return c, err
		}
	case ascii:
		c.at = object + l.at[unicodeASCIISize]
	}
	return c, nil
}

// character returns one of the first characters of some, as they are in memory.
func (m *memory) character(c *characters, raw []byte) rune {
	switch c.size {
	case 1:
		return rune(raw[0])
	case 2:
		return rune(m.order.Uint16(raw))
	default:
		return rune(m.order.Uint32(raw))
	}
}

// text reads a string of at most most characters. What is longer is cut, and ends with an ellipsis.
// It fails for an object that is no string.
func (m *memory) text(object uint64, most int) (string, error) {
	of, err := m.characters(object)
	if err != nil {
		return "", err
	}
	n := int(min(of.length, uint64(most)))
	raw := make([]byte, n*of.size)
	if got, err := m.ReadMemory(of.at, raw); got < len(raw) {
		return "", fmt.Errorf("the string at %#x: %w", object, err)
	}
	var b strings.Builder
	for i := 0; i < len(raw); i += of.size {
		c := m.character(&of, raw[i:])
		switch {
		case of.ascii && c >= utf8.RuneSelf, c < 0 || c > utf8.MaxRune:
			return "", fmt.Errorf("there is no string at %#x", object)
		case c >= 0xdc80 && c <= 0xdcff: // a byte of a file's name that is not UTF-8 (PEP 383)
			b.WriteByte(byte(c))
		default:
			b.WriteRune(c)
		}
	}
	if of.length > uint64(most) {
		b.WriteString("…")
	}
	return b.String(), nil
}

// stringKind takes the bits of a string's state apart: the size of a character, bytes; whether the
// characters follow the object; whether all are ASCII. The bits of "interned" come first: two, or a
// byte in free-threaded builds from 3.14 on.
func (m *memory) stringKind(state uint32) (kind int, compact, ascii bool) {
	skip := 2
	if m.layout.freeThreaded && m.layout.minor >= 14 {
		skip = 8
	}
	if m.order.Uint16([]byte{0, 1}) == 1 { // big endian: the first bits are the upper ones
		state <<= skip
		return int(state >> 29), state>>28&1 != 0, state>>27&1 != 0
	}
	state >>= skip
	return int(state & 7), state>>3&1 != 0, state>>4&1 != 0
}
