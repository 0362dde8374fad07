package erts

// The tags of terms.
const (
	tagMask  = 3
	tagBoxed = 2

	headerMask = 0x3f

	immediateMask = 0xf
	tagPid        = 0x3
	tagPort       = 0x7
	tagSmall      = 0xf

	atomMask  = 0x3f
	tagAtom   = 0x0b
	atomShift = 6
)

// atomTrue is the atom that every run time system makes as its second one.
const atomTrue = 1<<atomShift | tagAtom

// IsAtom reports whether a term is an atom.
func IsAtom(term uint64) bool { return term&atomMask == tagAtom }

// mostAtom bounds the names of atoms: 255 characters, bytes.
const mostAtom = 4 * 255

// Atom returns the name of an atom. ok is false if the term is none, or cannot be read.
func (m *Machine) Atom(r Reader, term uint64) (name string, ok bool) {
	if !IsAtom(term) {
		return "", false
	}
	i, page := term>>atomShift, m.Of("index.page")
	table := m.Symbol("erts_atom_table")
	if i >= r.Uint(table+m.Of("index.entries"), 4) {
		return "", false
	}
	segment := r.Pointer(r.Pointer(table+m.Of("index.segments")) + i/page*8)
	at := r.Pointer(segment + i%page*8)
	if !r.OK() || r.Uint(at+m.Of("atom.index"), 4) != i {
		return "", false
	}
	n := r.Uint(at+m.Of("atom.length"), 2)
	if n > mostAtom {
		return "", false
	}
	var text uint64
	if m.Has("atom.name") {
		text = r.Pointer(at + m.Of("atom.name"))
	} else {
		text = m.binary(r, r.Pointer(at+m.Of("atom.binary")), n)
	}
	b := make([]byte, n)
	if n > 0 && !r.Bytes(text, b) || !r.OK() {
		return "", false
	}
	return string(b), true
}

// binary returns where the bytes of a binary are: on the heap behind its header and its size in
// bits, or where a part of a larger one says.
func (m *Machine) binary(r Reader, term, bytes uint64) uint64 {
	if term&tagMask != tagBoxed {
		return 0
	}
	at := term &^ 7
	switch r.Pointer(at) & headerMask {
	case m.Of("term.heap_bits"):
		if r.Pointer(at+8) == 8*bytes {
			return at + 16
		}
	case m.Of("term.sub_bits"):
		base, start := r.Pointer(at+m.Of("bits.base")), r.Pointer(at+m.Of("bits.start"))
		return base&^3 + start/8
	}
	return 0
}

// IsPid reports whether a term is a process of this node.
func IsPid(term uint64) bool { return term&immediateMask == tagPid }

// IsPort reports whether a term is a port of this node.
func IsPort(term uint64) bool { return term&immediateMask == tagPort }

// Numbers makes the numbers by which Erlang writes processes and ports.
type Numbers struct {
	low                   bool // the identifier has the number in its lower half
	index, line, place    uint64
	lineShift, placeShift uint64
}

// Numbers returns how the numbers of a table's elements are made: "erts_proc" or "erts_port".
func (m *Machine) Numbers(r Reader, table string) Numbers {
	at := m.Symbol(table)
	if m.Of("id.bits") == 28 {
		return Numbers{low: true}
	}
	if at == 0 {
		return Numbers{}
	}
	return Numbers{
		index: r.Pointer(at + m.Of("table.index_mask")), line: r.Pointer(at + m.Of("table.line_mask")), place: r.Pointer(at + m.Of("table.place_mask")),
		lineShift: r.Uint(at+m.Of("table.line_shift"), 4), placeShift: r.Uint(at+m.Of("table.place_shift"), 4),
	}
}

// Known reports whether the table was found.
func (n Numbers) Known() bool { return n.low || n.index != 0 }

// Of returns the numbers of a process or a port of this node: <0.number.serial>. Identifiers are
// made so that neighbours in a table are not in one line of the processor's cache.
func (n Numbers) Of(id uint64) (number, serial uint64) {
	const tagBits, numberBits = 4, 28
	data := id >> tagBits
	if n.low {
		return data & (1<<numberBits - 1), 0
	}
	data = data&^n.index | data>>n.lineShift&n.line | data&n.place<<n.placeShift
	return data & (1<<numberBits - 1), data >> numberBits
}
