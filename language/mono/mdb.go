package mono

import (
	"encoding/binary"
	"sort"
)

// A file of lines that Mono's own compiler writes beside an assembly (MDB): a header, then tables
// of source files and of methods, each a list of rows of 32-bit numbers, and a program of lines
// for each method, which resembles DWARF's.
const (
	mdbMagic   = 0x45e82623fd7fa614
	mdbRelease = 50
	mdbVersion = 16 // where the header has the assembly's version
	mdbHead    = 32 // where it has the numbers
	mdbLeast   = mdbHead + 4*20
	mostMDB    = 64 << 20

	sourceRow = 8  // bytes: a number, where the name is
	methodRow = 12 // the token, data, where the lines are

	lineCopy       = 1
	lineAdvance    = 2 // in the code
	lineAdvanceRow = 3
	lineFile       = 4
	lineConst      = 8
	lineEnd        = 1 // behind a zero and a length
	lineHidden     = 0xfeefee
)

// mdb is such a file.
type mdb struct{ b []byte }

// openMDB opens a file that is of the assembly that has the version; else it returns nil.
func openMDB(b []byte, version [16]byte) *mdb {
	if len(b) < mdbLeast || order.Uint64(b) != mdbMagic || order.Uint32(b[8:]) != mdbRelease || [16]byte(b[mdbVersion:]) != version {
		return nil
	}
	return &mdb{b}
}

// head returns a number of the header.
func (m *mdb) head(i int) uint32 { return order.Uint32(m.b[mdbHead+4*i:]) }

// number returns a number of 32 bits; 0 if there is none.
func (m *mdb) number(at uint64) uint32 {
	if at+4 > uint64(len(m.b)) {
		return 0
	}
	return order.Uint32(m.b[at:])
}

// Line returns the source line of a place in the code of a method; line is 0 if it has none.
func (m *mdb) Line(token, il uint32) (file string, line int) {
	count, table := int(min(m.head(9), uint32(len(m.b)/methodRow))), uint64(m.head(10))
	row := func(i int) uint64 { return table + methodRow*uint64(i) }
	i := sort.Search(count, func(i int) bool { return m.number(row(i)) >= token })
	program := uint64(m.number(row(i) + 8))
	if i == count || m.number(row(i)) != token || program == 0 || program >= uint64(len(m.b)) {
		return "", 0
	}
	source, line := m.run(m.b[program:], il)
	if line == 0 || source == 0 {
		return "", 0
	}
	return m.source(source), line
}

// run runs a program of lines until it is behind a place in the code. It returns the number of the
// source file, and the line; 0 for none.
func (m *mdb) run(b []byte, il uint32) (source uint64, line int) {
	base, width, first := int64(int32(m.head(16))), uint64(m.head(17)), uint64(byte(m.head(18)))
	if width == 0 {
		return 0, 0
	}
	var at uint64
	row, file := int64(1), uint64(1)
	next := func() uint64 {
		n, used := binary.Uvarint(b)
		b = b[max(used, 0):]
		if used <= 0 {
			b = nil
		}
		return n
	}
	for len(b) > 0 {
		op := uint64(b[0])
		b = b[1:]
		switch {
		case op == 0:
			if len(b) < 2 || b[1] == lineEnd {
				return source, line
			}
			b = b[min(1+int(b[0]), len(b)):]
			continue
		case op >= first:
			at += (op - first) / width
			row += base + int64((op-first)%width)
		case op == lineAdvance:
			at += next()
			continue
		case op == lineAdvanceRow:
			row += int64(int32(next())) // a negative one has no sign bit of its own
			continue
		case op == lineFile:
			file = next()
			continue
		case op == lineConst:
			at += (255 - first) / width
			continue
		case op != lineCopy:
			return 0, 0
		}
		if at > uint64(il) {
			return source, line
		}
		if source = file; row != lineHidden && row > 0 && row <= 1<<31-1 {
			line = int(row)
		}
	}
	return 0, 0 // it has no end
}

// source returns the name of a source file; "" if there is none.
func (m *mdb) source(i uint64) string {
	if i > uint64(m.head(6)) {
		return ""
	}
	at := uint64(m.number(uint64(m.head(7)) + sourceRow*(i-1) + 4))
	if at >= uint64(len(m.b)) {
		return ""
	}
	n, used := binary.Uvarint(m.b[at:])
	if at += uint64(max(used, 0)); used <= 0 || n > mostName || at+n > uint64(len(m.b)) {
		return ""
	}
	return string(m.b[at : at+n])
}
