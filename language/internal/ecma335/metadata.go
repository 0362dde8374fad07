package ecma335

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

const (
	signature   = 0x424a5342 // II.24.2.1
	mostStreams = 16
	mostRows    = 1 << 24 // a token has 24 bits for the row
	mostText    = 1 << 10 // bytes of a name
	mostBlob    = 1 << 24 // bytes
)

// The errors of [Open].
var (
	ErrNone = errors.New("there is no metadata")
	ErrBad  = errors.New("the metadata cannot be read")
)

var order = binary.LittleEndian

// Metadata is the metadata of an assembly, or of a portable PDB. It is safe for concurrent use if
// its reader is.
type Metadata struct {
	r                  io.ReaderAt
	text, blob, guid   stream
	wideText, wideBlob bool
	wideGUID           bool
	rows               [tables]uint32 // of this metadata
	others             [tables]uint32 // of the assembly's, for a PDB: they tell how wide indexes are
	at                 [tables]int64
	size               [tables]int64 // of a row
	columns            [tables][]span
	id                 [20]byte
}

// stream is a part of the metadata.
type stream struct{ at, size int64 }

// span is where a column is in a row.
type span struct{ at, size int64 }

// Open opens the metadata at an offset of r.
func Open(r io.ReaderAt, at int64) (*Metadata, error) {
	m := &Metadata{r: r}
	var root [16]byte
	if !m.read(at, root[:]) || order.Uint32(root[:]) != signature {
		return nil, ErrNone
	}
	version := int64(order.Uint32(root[12:]))
	if version > 256 {
		return nil, ErrBad
	}
	var n [4]byte
	p := at + 16 + version
	if !m.read(p, n[:]) {
		return nil, ErrBad
	}
	p += 4
	var main stream
	for range min(order.Uint16(n[2:]), mostStreams) {
		var b [8 + 32]byte
		k, _ := m.r.ReadAt(b[:], p)
		end := bytes.IndexByte(b[min(8, k):k], 0)
		if end < 0 {
			return nil, ErrBad
		}
		s := stream{at + int64(order.Uint32(b[:])), int64(order.Uint32(b[4:]))}
		switch string(b[8 : 8+end]) {
		case "#~", "#-":
			main = s
		case "#Strings":
			m.text = s
		case "#Blob":
			m.blob = s
		case "#GUID":
			m.guid = s
		case "#Pdb":
			m.readPDB(s)
		}
		p += 8 + int64(end+4)&^3
	}
	if main.size == 0 || !m.readTables(main) {
		return nil, ErrBad
	}
	return m, nil
}

// read fills p with the bytes at an offset. It reports whether it could.
func (m *Metadata) read(at int64, p []byte) bool {
	if at < 0 {
		return false
	}
	n, _ := m.r.ReadAt(p, at)
	return n == len(p)
}

// readPDB reads the stream that portable PDBs have: their ID, and how many rows the assembly's
// tables have.
func (m *Metadata) readPDB(s stream) {
	b := make([]byte, min(s.size, 32+4*tables))
	if !m.read(s.at, b) || len(b) < 32 {
		return
	}
	copy(m.id[:], b)
	there := order.Uint64(b[24:])
	for i, b := 0, b[32:]; i < tables && len(b) >= 4; i++ {
		if there>>i&1 != 0 {
			m.others[i] = order.Uint32(b)
			b = b[4:]
		}
	}
}

// ID returns the identifier of a portable PDB: a GUID and a stamp, as the assembly names them.
func (m *Metadata) ID() [20]byte { return m.id }

// Version returns the GUID that tells one build of an assembly from all others (its MVID); ok is
// false if it has none.
func (m *Metadata) Version() (id [16]byte, ok bool) {
	i := int64(m.cell(modules, 1, 2))
	ok = i > 0 && 16*i <= m.guid.size && m.read(m.guid.at+16*(i-1), id[:])
	return id, ok
}

// readTables finds out where the tables are, and how wide their columns.
func (m *Metadata) readTables(s stream) bool {
	var head [24]byte
	if !m.read(s.at, head[:]) {
		return false
	}
	heaps := head[6]
	m.wideText, m.wideGUID, m.wideBlob = heaps&1 != 0, heaps&2 != 0, heaps&4 != 0
	there := order.Uint64(head[8:])
	at := s.at + 24
	for i := range 64 {
		if there>>i&1 == 0 {
			continue
		}
		var n [4]byte
		if i >= tables || schema[i] == "" || !m.read(at, n[:]) || order.Uint32(n[:]) > mostRows {
			return false
		}
		m.rows[i] = order.Uint32(n[:])
		at += 4
	}
	if heaps&0x40 != 0 { // uncompressed metadata of old compilers has a word more
		at += 4
	}
	for i := range tables {
		m.at[i] = at
		p := int64(0)
		for _, c := range schema[i] {
			n := m.width(c)
			m.columns[i] = append(m.columns[i], span{p, n})
			p += n
		}
		m.size[i] = p
		at += p * int64(m.rows[i])
	}
	return true
}

// rowsOf returns how many rows a table has, of this metadata or of the assembly's.
func (m *Metadata) rowsOf(table int) uint32 { return max(m.rows[table], m.others[table]) }

// width returns how wide a column is, bytes.
func (m *Metadata) width(kind rune) int64 {
	wide := false
	switch kind {
	case '1', '2', '4':
		return int64(kind - '0')
	case 's':
		wide = m.wideText
	case 'b':
		wide = m.wideBlob
	case 'g':
		wide = m.wideGUID
	default:
		if c, ok := coded[kind]; ok {
			for _, t := range c.tables {
				wide = wide || t < tables && m.rowsOf(t)>>(16-c.bits) != 0
			}
		} else {
			wide = m.rowsOf(int(kind-firstTable))>>16 != 0
		}
	}
	if wide {
		return 4
	}
	return 2
}

// cell returns a cell of a table; 0 if there is none. Rows count from 1 on.
func (m *Metadata) cell(table int, row uint32, column int) uint32 {
	if row == 0 || row > m.rows[table] || column >= len(m.columns[table]) {
		return 0
	}
	c := m.columns[table][column]
	var b [4]byte
	if !m.read(m.at[table]+int64(row-1)*m.size[table]+c.at, b[:c.size]) {
		return 0
	}
	return order.Uint32(b[:])
}

// string returns the text at an offset of the heap of texts, of at most [mostText] bytes.
func (m *Metadata) string(at uint32) string {
	if at == 0 || int64(at) >= m.text.size {
		return ""
	}
	var text []byte
	var p [64]byte
	for from := m.text.at + int64(at); len(text) < mostText; from += int64(len(p)) {
		n, _ := m.r.ReadAt(p[:], from)
		if i := bytes.IndexByte(p[:n], 0); i >= 0 {
			return string(append(text, p[:i]...))
		}
		if text = append(text, p[:n]...); n < len(p) {
			break
		}
	}
	return ""
}

// blobAt returns a blob; nil if there is none.
func (m *Metadata) blobAt(at uint32) []byte {
	if at == 0 || int64(at) >= m.blob.size {
		return nil
	}
	var p [4]byte
	k, _ := m.r.ReadAt(p[:], m.blob.at+int64(at))
	n, used := number(p[:k])
	if used == 0 || n > mostBlob || int64(n) > m.blob.size-int64(at) {
		return nil
	}
	b := make([]byte, n)
	if !m.read(m.blob.at+int64(at)+int64(used), b) {
		return nil
	}
	return b
}

// number reads a compressed number (II.23.2); used is 0 if there is none.
func number(b []byte) (n uint32, used int) {
	switch {
	case len(b) >= 1 && b[0]&0x80 == 0:
		return uint32(b[0]), 1
	case len(b) >= 2 && b[0]&0xc0 == 0x80:
		return uint32(b[0]&0x3f)<<8 | uint32(b[1]), 2
	case len(b) >= 4 && b[0]&0xe0 == 0xc0:
		return uint32(b[0]&0x1f)<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3]), 4
	}
	return 0, 0
}

// signed reads a compressed number with a sign.
func signed(b []byte) (n int32, used int) {
	u, used := number(b)
	bits := [...]uint{0, 7, 14, 0, 29}[used]
	if used == 0 {
		return 0, 0
	}
	n = int32(u >> 1)
	if u&1 != 0 {
		n -= 1 << (bits - 1)
	}
	return n, used
}
