package perl

import (
	"strings"

	"github.com/sfwalk/sfwalk/language/internal/structs"
)

const absent = structs.Absent

// unknown is what Perl calls a sub that has no name any more.
const unknown = "(unknown)"

// subName returns the name of a sub, as caller has it.
func (r *runtime) subName(m reader, cv uint64) string {
	any := m.Pointer(cv + m.SVAny)
	flags := m.Uint(any+m.CVFlags, 4)
	name := m.Pointer(any + m.CVName)
	if m.Err() != nil || name == 0 {
		return unknown
	}
	stash := uint64(0)
	if flags&m.CVNamed != 0 {
		if flags&m.CVLexical != 0 {
			return r.orUnknown(m, r.hek(m, name))
		}
		stash = m.Pointer(any + m.CVStash)
	} else {
		gv := name
		if m.Uint(gv+m.SVFlags, 4)&(m.SVPok|m.SVGP) == m.SVGP {
			if egv := m.Pointer(m.Pointer(gv+m.SVU) + m.GPEGV); egv != 0 {
				gv = egv
			}
		}
		body := m.Pointer(gv + m.SVAny)
		stash, name = m.Pointer(body+m.GVStash), m.Pointer(body+m.GVName)
	}
	within := r.stashName(m, stash)
	return r.orUnknown(m, within+"::"+r.hek(m, name))
}

func (r *runtime) orUnknown(m reader, name string) string {
	if m.Err() != nil {
		return unknown
	}
	return name
}

// stashName returns the name of a package; of a freed one nothing is known.
func (r *runtime) stashName(m reader, hv uint64) string {
	const nameless = "__ANON__"
	if hv == 0 {
		return nameless
	}
	flags := m.Uint(hv+m.SVFlags, 4)
	if flags&m.SVTypeMask != m.SVTypeHV || flags&m.HVHasAux == 0 {
		return nameless
	}
	body := m.Pointer(hv + m.SVAny)
	aux := body + m.HVAux
	if m.HVAux == absent {
		aux = m.Pointer(hv+m.SVU) + 8*(m.Pointer(body+m.HVMax)+1)
	}
	name := m.Pointer(aux + m.AuxName)
	if m.Int(aux+m.AuxNames, 4) != 0 {
		name = m.Pointer(name) // the first of several
	}
	if name == 0 {
		return nameless
	}
	return r.hek(m, name)
}

// hek returns a text of a hash's key.
func (r *runtime) hek(m reader, at uint64) string {
	n := m.Int(at+m.HEKLength, 4)
	if n < 0 {
		m.Fail("the key at %#x has %d bytes", at, n)
		return ""
	}
	return m.Text(at+m.HEKKey, uint64(n))
}

// text returns the text of a scalar that has one; else "".
func (r *runtime) text(m reader, sv uint64) string {
	if m.Uint(sv+m.SVFlags, 4)&m.SVPok == 0 {
		return ""
	}
	n := m.Pointer(m.Pointer(sv+m.SVAny) + m.PVLength)
	text := m.Text(m.Pointer(sv+m.SVU), n)
	if m.Err() != nil {
		return ""
	}
	return text
}

// where returns the file and the line of a position. It looks at ops, of which left may be
// looked at.
func (r *runtime) where(m reader, p position, left *int) (in place) {
	if p.cop == 0 {
		return place{}
	}
	cop := r.closest(m, p, left)
	if m.CopFile != absent {
		if at := m.Pointer(cop + m.CopFile); at != 0 {
			in.file = m.CString(at)
		}
	} else if gv := m.Pointer(cop + m.CopFileGV); gv != 0 {
		in.file = strings.TrimPrefix(r.hek(m, m.Pointer(m.Pointer(gv+m.SVAny)+m.GVName)), "_<")
	}
	line := m.Uint(cop+m.CopLine, 4)
	if m.Err() != nil {
		return place{}
	}
	if line != noLine {
		in.line = int(line)
	}
	return in
}

// noLine is what a statement has for a line before it is known.
const noLine = 1<<32 - 1

// closest returns the statement that is nearest to a position: Perl leaves out the notes of some
// statements when it optimises, and what is left in their places still has the line. So caller and
// die have the line of a condition of elsif.
func (r *runtime) closest(m reader, p position, left *int) (cop uint64) {
	before := *left
	*left = min(before, mostSearched)
	searched := *left
	at, found := r.search(m, p, p.cop, r.sibling(m, p.cop), left, 0)
	*left = before - (searched - max(*left, 0))
	if m.Err() != nil || !found || at == 0 {
		return p.cop
	}
	return at
}

// mostSearched bounds the ops of one search, and deepest how they are nested.
const (
	mostSearched = 1 << 12
	deepest      = 100
)

// search looks for a position in the tree of an op. cop is the last statement before it.
func (r *runtime) search(m reader, p position, cop, op uint64, left *int, depth int) (at uint64, found bool) {
	if *left--; *left < 0 || depth > deepest {
		return 0, true
	}
	if op == 0 || p.op == 0 {
		return cop, true
	}
	if !p.next && op == p.op || p.next && m.Pointer(op+m.OpNext) == p.op && r.opType(m, op) != m.OpScope {
		return cop, true
	}
	if m.Uint(op+m.OpFlags, 1)&m.OpKids == 0 || !m.OK() {
		return 0, !m.OK()
	}
	for kid := m.Pointer(op + m.OpFirst); kid != 0 && m.OK(); kid = r.sibling(m, kid) {
		if r.opType(m, kid) == m.OpNull && m.Pointer(kid+m.OpTarget) == m.OpNextState {
			cop = kid
		}
		if at, found := r.search(m, p, cop, kid, left, depth+1); found {
			return at, true
		}
	}
	return 0, !m.OK()
}

func (r *runtime) opType(m reader, op uint64) uint64 { return m.Uint(op+m.OpType, 2) & m.OpTypeBits }

// sibling returns the op behind an op, 0 for none.
func (r *runtime) sibling(m reader, op uint64) uint64 {
	if m.OpMoreBits != absent && m.Uint(op+m.OpMore, 2)&m.OpMoreBits == 0 {
		return 0
	}
	return m.Pointer(op + m.OpSibling)
}
