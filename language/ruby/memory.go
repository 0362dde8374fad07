package ruby

import (
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/target"
)

// memory reads Ruby's objects.
type memory struct {
	*structs.Reader
	*layout
	r  *runtime
	vm uint64 // the virtual machine; 0 if it is not known

	steps, texts int               // what is left of them
	paths        map[uint64]string // by class: what it is called; see classPath
	codes        map[uint64]code   // by instruction sequence
	names        map[uint64]string // by ID
}

func (r *runtime) memory(m target.Memory) *memory {
	return &memory{
		Reader: structs.New(r.arch, m, &r.pages), layout: r.layout, r: r, steps: mostSteps, texts: mostTexts,
		paths: map[uint64]string{}, codes: map[uint64]code{}, names: map[uint64]string{},
	}
}

// mostSteps bounds the steps of one look that lead from one structure to another, beside the ones
// from each control frame to the next, and mostTexts its texts, bytes: a process may lead round in
// circles.
const (
	mostSteps = 1 << 20
	mostTexts = 16 << 20
)

// mostNested bounds how deep blocks lie in each other.
const mostNested = 1 << 8

// step reports whether another step may be taken.
func (m *memory) step() bool {
	if m.steps--; m.steps < 0 {
		m.Fail("too many structures lead to each other")
	}
	return m.OK()
}

// quietly calls do, whose failures are no failures of m's.
func (m *memory) quietly(do func()) {
	before := m.Err()
	do()
	if m.Err(); before != nil {
		m.Fail("%w", before)
	}
}

// Flags of all objects: their type is in the lowest bits.
const typeMask = 0x1f

// isObject reports whether a value is an object in memory: not nil, a number, a symbol of the
// table.
func isObject(v uint64) bool { return v > 0xff && v&7 == 0 }

// is returns the flags of an object, if it has a type.
func (m *memory) is(v, kind uint64) (flags uint64, ok bool) {
	if !isObject(v) {
		return 0, false
	}
	flags = m.Pointer(v)
	return flags, flags&typeMask == kind
}

// isInternal reports whether a value is one of the virtual machine's own objects, of a kind.
func (m *memory) isInternal(v, kind uint64) bool {
	const internal = 0x1a // T_IMEMO
	flags, ok := m.is(v, internal)
	return ok && flags>>m.imemoShift&m.imemoMask == kind
}

// text returns the contents of a string, or its first [structs.MostText] bytes.
func (m *memory) text(v uint64) (text string, ok bool) {
	flags, ok := m.is(v, m.typeString)
	if !ok {
		return "", false
	}
	at, n := v+m.stringEmbedded, uint64(0)
	switch {
	case flags&m.stringNotEmbedded != 0:
		at, n = m.Pointer(v+m.stringPointer), m.Pointer(v+m.stringLength)
	case m.stringEmbeddedMask != absent:
		n = flags & m.stringEmbeddedMask >> m.stringEmbeddedShift
	default:
		n = m.Pointer(v + m.stringLength)
	}
	if n == 0 {
		return "", m.OK()
	}
	text = m.Text(at, n)
	if m.texts -= len(text); m.texts < 0 {
		m.Fail("there are more than %d bytes of names", mostTexts)
	}
	return text, m.OK()
}

// array returns where the elements of an array are, and how many there are.
func (m *memory) array(v uint64) (at, n uint64, ok bool) {
	flags, ok := m.is(v, m.typeArray)
	if !ok {
		return 0, 0, false
	}
	if flags&m.arrayEmbeddedFlag != 0 {
		return v + m.arrayEmbedded, flags & m.arrayEmbeddedMask >> m.arrayEmbeddedShift, true
	}
	return m.Pointer(v + m.arrayPointer), m.Pointer(v + m.arrayLength), m.OK()
}

// element returns an element of an array, 0 if it has none there.
func (m *memory) element(v, i uint64) uint64 {
	at, n, ok := m.array(v)
	if !ok || i >= n || at == 0 {
		return 0
	}
	return m.Pointer(at + 8*i)
}
