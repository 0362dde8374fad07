package r

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// reader reads R's objects of one moment.
type reader struct {
	*structs.Reader
	nilValue, inBytecode uint64 // objects
	files                map[uint64]string
	bytes, objects       int // of names, and how many objects, may still be read
}

func (r *runtime) reader(m *structs.Reader) *reader {
	return &reader{Reader: m, nilValue: m.Pointer(r.nilValue), inBytecode: m.Pointer(r.inBytecode), files: map[uint64]string{}, bytes: mostBytes, objects: mostObjects}
}

// context is a call that has not returned, or a mark of R's own.
type context struct {
	at, flags uint64
	name      string // of the function that was called; "" for a mark
	file      string // from which it was called; "" if that is not kept
	line      int
}

// Bounds of what is read of one thread.
const (
	mostContexts = 1 << 17
	mostBytes    = 16 << 20 // of names
	mostObjects  = 1 << 23
)

// contexts returns the contexts of R, the innermost first. The last one is R's own, of its prompt.
func (r *runtime) contexts(m *reader) (list []context, err error) {
	at, mark := m.Pointer(r.context), uint64(0) // a list that goes round comes back to a mark
	var addresses []uint64
	for at != 0 && m.OK() {
		if n := len(addresses); n == mostContexts {
			m.Fail("there are too many contexts")
		} else if n&(n-1) == 0 {
			mark = at
		} else if at == mark {
			m.Fail("the list of contexts goes round at %#x", at)
		}
		addresses = append(addresses, at)
		at = m.Pointer(at + contextNext)
	}
	if err := m.Err(); err != nil {
		return nil, err
	}
	l, err := r.layoutOf(m, addresses)
	if err != nil || l == nil {
		return nil, err
	}
	for _, at := range addresses {
		c := context{at: at, flags: m.Uint(at+contextFlags, 4)}
		if call := m.Pointer(at + contextCall); c.flags&(functions|builtins) != 0 && m.is(call, typeCall) {
			c.name = m.nameOf(m.Pointer(call + listCar))
			srcref := m.Pointer(at + l.srcref)
			if srcref == m.inBytecode {
				srcref = m.inCode(at, l)
			}
			c.file, c.line = m.place(srcref)
		}
		if err := m.Err(); err != nil {
			return list, fmt.Errorf("the context at %#x: %w", at, err)
		}
		list = append(list, c)
	}
	return list, nil
}

// layoutOf returns the layout of the contexts: the one that all of them have. It is nil if there
// are no contexts, as before R has begun.
func (r *runtime) layoutOf(m *reader, contexts []uint64) (*layout, error) {
	if l := r.layout.Load(); l != nil || len(contexts) == 0 {
		return l, nil
	}
	for i := range layouts {
		l := &layouts[i]
		fits, some := true, false // a context may have no srcref, but not each
		for _, at := range contexts[max(0, len(contexts)-mostProbes):] {
			fits = fits && m.isList(m.Pointer(at+l.handlers)) && m.isList(m.Pointer(at+l.restarts)) && m.isSrcref(m.Pointer(at+l.srcref))
			some = some || m.Pointer(at+l.srcref) != 0
		}
		if m.Err() == nil && fits && some {
			r.layout.Store(l)
			return l, nil
		}
	}
	return nil, errors.New("the layout of its contexts is not known")
}

// mostProbes bounds the contexts that tell the layout.
const mostProbes = 100

// is reports whether an object has a type, and its contents within it.
func (m *reader) is(object uint64, kind uint64) bool {
	if object == 0 {
		return false
	}
	if m.objects--; m.objects < 0 {
		m.Fail("there are too many objects")
		return false
	}
	info := m.Uint(object+objectInfo, 4)
	return m.OK() && info&typeMask == kind && info&alternative == 0
}

func (m *reader) isList(object uint64) bool { return object == m.nilValue || m.is(object, typeList) }

func (m *reader) isSrcref(object uint64) bool {
	return object == 0 || object == m.nilValue || object == m.inBytecode || m.is(object, typeInts) && m.Uint(object+vectorLength, 8) >= 4
}

// chars returns the text of a CHARSXP.
func (m *reader) chars(object uint64) string {
	if !m.is(object, typeChars) {
		return ""
	}
	n := m.Uint(object+vectorLength, 8)
	if m.bytes -= int(min(n, structs.MostText)); m.bytes < 0 {
		return ""
	}
	return m.Text(object+vectorData, n)
}

// symbol returns the name of a symbol; ok is false if the object is none.
func (m *reader) symbol(object uint64) (name string, ok bool) {
	if !m.is(object, typeSymbol) {
		return "", false
	}
	return m.chars(m.Pointer(object + symbolName)), true
}
