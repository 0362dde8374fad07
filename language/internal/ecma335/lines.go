package ecma335

import "strings"

const (
	hidden     = 0xfeefee // a line that stands for code of none
	mostPoints = 1 << 20
	mostParts  = 256 // of a document's name
)

// Line returns the source line of a place in the method of a row: il is an offset in its code. Only
// a portable PDB knows lines. line is 0 if the place has none.
func (m *Metadata) Line(row, il uint32) (file string, line int) {
	b := m.blobAt(m.cell(methodLines, row, 1))
	next := func() (n uint32) {
		n, used := number(b)
		b = b[used:]
		return n
	}
	delta := func() (n int32) {
		n, used := signed(b)
		b = b[used:]
		return n
	}
	document := m.cell(methodLines, row, 0)
	next() // the signature of local variables
	if document == 0 {
		document = next()
	}
	var offset uint32
	var at int32
	found, of := 0, document
	for i, first := 0, true; i < mostPoints && len(b) > 0; i++ {
		before := len(b)
		step := next()
		if i > 0 && step == 0 { // a record of another document
			document = next()
			continue
		}
		if offset += step; offset > il {
			break
		}
		lines := int32(next())
		var columns int32
		if lines == 0 {
			columns = int32(next())
		} else {
			columns = delta()
		}
		if lines == 0 && columns == 0 {
			continue // hidden
		}
		if first {
			at, first = int32(next()), false
			next() // the column
		} else {
			at += delta()
			delta() // the column
		}
		if len(b) == before {
			break
		}
		if at > 0 && at != hidden {
			found, of = int(at), document
		}
	}
	if found == 0 {
		return "", 0
	}
	return m.document(of), found
}

// Kickoff returns the method of which a method is the body, as the compiler has made it of an async
// method or an iterator; 0 if it is none.
func (m *Metadata) Kickoff(row uint32) uint32 {
	if i := m.search(stateMachines, 0, row); m.cell(stateMachines, i, 0) == row {
		return m.cell(stateMachines, i, 1)
	}
	return 0
}

// document returns the name of a document: its parts are in blobs of their own.
func (m *Metadata) document(row uint32) string {
	b := m.blobAt(m.cell(documents, row, 0))
	if len(b) == 0 {
		return ""
	}
	var separator string
	if b[0] != 0 {
		separator = string(rune(b[0]))
	}
	b = b[1:]
	var name strings.Builder
	for i := 0; len(b) > 0 && i < mostParts && name.Len() < mostText; i++ {
		n, used := number(b)
		if used == 0 {
			return ""
		}
		if b = b[used:]; i > 0 {
			name.WriteString(separator)
		}
		part := m.blobAt(n)
		name.Write(part[:min(len(part), mostText)])
	}
	return name.String()
}
