package waits

import (
	"strings"

	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
	"github.com/sfwalk/sfwalk/value/printers"
)

// Bounds of the search for a lock from the variables of frames: pointers behind each other, and
// values of all frames together.
const (
	mostSteps  = 3
	mostValues = 400
)

// reached returns the path by which a variable of the thread's inner frames leads to a lock that no
// symbol has: "q->lock", "this->pool->mutex"; "" if none does. Read as an expression in its frame,
// the path is the lock, or the library's object that has it.
func (m *memberNames) reached(th target.Thread, lock uint64) string {
	if m.options.Variables == nil || lock == 0 {
		return ""
	}
	if path, ok := m.known[lock]; ok {
		return path
	}
	m.open()
	path := m.reach(th, lock)
	m.known[lock] = path
	return path
}

// open makes the reader of variables.
func (m *memberNames) open() {
	if m.reader == nil {
		m.symbols = m.options.Variables()
		m.reader, m.known = value.NewReader(m.of, m.symbols, printers.All()), map[uint64]string{}
	}
}

func (m *memberNames) reach(th target.Thread, lock uint64) string {
	stack := m.options.Stack(th)
	if stack == nil {
		return ""
	}
	view, memory := logical.New(m.of, m.symbols), target.MemoryOf(m.of, th)
	stack.Limit = innerFrames
	var room []logical.Frame
	left := mostValues
	for f, err := range stack.AllOnce() {
		if err != nil {
			break
		}
		room = view.Append(room[:0], 0, f)
		for i := range room {
			in, err := m.reader.Frame(&room[i], memory)
			if err != nil || !in.Known || plumbing(room[i].Function) {
				continue
			}
			s := search{in: &in, lock: lock, left: &left, seen: map[uint64]bool{}}
			if path := s.from(); path != "" {
				return symbol.Truncate(path)
			}
		}
	}
	return ""
}

// plumbing reports whether a function is a library's on the way to the system call: its variables
// lead to the lock by names that only the library knows.
func plumbing(function string) bool {
	for _, prefix := range []string{"std::", "__", "_", "pthread_", "futex", "lll_", "core::", "parking_lot", "lock_api::", "<std::"} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}

// ofProgram returns a path up to the object of a library that has the lock: "this->ready" for
// "this->ready._M_cond.__data". Names that begin so are the libraries' own.
func ofProgram(path string) string {
	if i := strings.Index(path, "._"); i >= 0 {
		return path[:i]
	}
	if i := strings.Index(path, "->_"); i >= 0 {
		return ""
	}
	return path
}

// search looks for a lock from the variables of one frame, the nearest values first.
type search struct {
	in   *value.Frame
	lock uint64
	left *int
	seen map[uint64]bool // addresses to which pointers lead
	next []step
}

// step is a value that may lead to the lock, with the path to it.
type step struct {
	of    value.Value
	path  string
	steps int
}

func (s *search) from() string {
	for _, list := range [][]value.Variable{s.in.Arguments, s.in.Locals} {
		for i := range list {
			if v := &list[i]; v.Name != "" && !v.Constant {
				s.next = append(s.next, step{v.Value(), v.Name, 0})
			}
		}
	}
	for len(s.next) > 0 && *s.left > 0 {
		x := s.next[0]
		s.next = s.next[1:]
		if path := s.look(&x); path != "" {
			return path
		}
	}
	return ""
}

// look returns the path to the lock if x has it, or points to what has it; else it notes what x
// leads to.
func (s *search) look(x *step) string {
	if x.of.Err() != nil || x.of.Type == nil {
		return ""
	}
	t := x.of.Type.Strip()
	switch t.Kind {
	case value.Pointer, value.Reference:
		*s.left--
		p, err := x.of.Uint()
		elem := t.Elem()
		if err != nil || p == 0 || elem == nil || elem.Strip().Kind != value.Struct || x.steps == mostSteps || s.seen[p] {
			return ""
		}
		s.seen[p] = true
		between := "->"
		if t.Kind == value.Reference {
			between = "."
		}
		return s.object(x.of.DerefAs(elem), x.path, between, x.steps+1)
	case value.Struct:
		return s.object(x.of, x.path, ".", x.steps)
	}
	return ""
}

// object is look for an object with members. between stands between the path and a member's name.
func (s *search) object(of value.Value, path, between string, steps int) string {
	if *s.left--; *s.left <= 0 || of.Place != value.InMemory || of.Err() != nil {
		return ""
	}
	t := of.Type.Strip()
	if size := sizeOf(t); s.lock >= of.Addr && s.lock-of.Addr < size {
		member, ok := memberAt(t, s.lock-of.Addr)
		if !ok {
			return ""
		}
		if strings.HasPrefix(member, "[") {
			return ""
		}
		path += between + strings.TrimPrefix(member, ".")
		if v, err := s.in.Evaluate(path); err != nil || v.Place != value.InMemory || v.Addr != s.lock {
			return ""
		}
		return ofProgram(path)
	}
	fields := t.Fields()
	for i := range fields {
		f := &fields[i]
		if f.Static || f.Virtual || f.Bits != 0 || f.Name == "" && !f.Base || f.Type == nil || len(s.next) > mostValues {
			continue
		}
		switch f.Type.Strip().Kind {
		case value.Pointer, value.Reference, value.Struct:
			inner, dot := path+between+f.Name, between
			if f.Base {
				inner = path
			} else {
				dot = "."
			}
			v := of.Field(f)
			if f.Base {
				if found := s.object(v, inner, dot, steps); found != "" {
					return found
				}
				continue
			}
			s.next = append(s.next, step{v, inner, steps})
		}
	}
	return ""
}
