package v8

// Parts of a ScopeInfo's flags.
const (
	scopeKind        = 0xf
	scopeSaved       = 1 << 10
	scopeVariable    = 3 << 12 // the function has a name
	scopeInferred    = 1 << 14
	mostInlinedNames = 75 // of variables; the names of more are in a table
	mostContext      = 1 << 16
)

// scope is what a ScopeInfo tells of a function.
type scope struct {
	name, inferred string
	start, end     int // its position in the source, in characters; -1 if that is not known
}

// scopeOf reads a ScopeInfo of a function.
func (h *heap) scopeOf(v uint64) scope {
	s := scope{start: -1, end: -1}
	if !h.is(v, h.types.scopeInfo) {
		return s
	}
	positionFirst := h.scopeFirst == 5
	flags := uint32(smallOf(h.field(v, h.word)))
	if positionFirst { // they are no small integer there
		flags = uint32(h.Uint(v-1+h.word, 4))
	}
	at := func(i int) uint64 { return h.field(v, h.word*uint64(1+i)) }
	locals := smallOf(at(2))
	if locals < 0 || locals > mostContext {
		h.Fail("a function has %d variables", locals)
		return s
	}
	i := int(h.scopeFirst)
	if positionFirst {
		s.start, s.end = smallOf(at(3)), smallOf(at(4))
		if flags&scopeKind == h.moduleScope { // its count of variables stands before their names
			i++
		}
	}
	if locals < mostInlinedNames {
		i += locals
	} else {
		i++
	}
	i += locals
	if flags&scopeSaved != 0 {
		i++
	}
	if flags&scopeVariable != 0 {
		if name := at(i); isPointer(name) {
			s.name = h.text(name)
		}
		i += 2
	}
	if flags&scopeInferred != 0 {
		if name := at(i); h.isString(name) {
			s.inferred = h.text(name)
		}
		i++
	}
	if !positionFirst {
		s.start, s.end = smallOf(at(i)), smallOf(at(i+1))
	}
	return s
}
