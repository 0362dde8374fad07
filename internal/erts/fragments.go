package erts

import (
	"sort"
	"strings"
	"sync"
)

// Fragment is code that compiled functions share, such as the loop of a scheduler.
type Fragment struct {
	Name   string // the run time system's: "process_main"
	Lo, Hi uint64
}

// fragments are all of them, as they were found.
type fragments struct {
	mu    sync.Mutex
	tries int
	list  []Fragment
}

// mostTries bounds how often they are read, if none are found: the process may have just begun.
const mostTries = 4

// Bounds of the list that the run time system has made for debuggers.
const (
	mostObjects   = 1 << 17
	mostFragments = 1 << 12
	mostNames     = 1 << 10 // bytes of a name
)

// Fragment returns the shared code that an address is in.
func (c *Code) Fragment(pc uint64) (f Fragment, ok bool) {
	s := &c.m.shared
	s.mu.Lock()
	if len(s.list) == 0 && s.tries < mostTries {
		s.tries++
		s.list = c.m.readFragments(c.r)
	}
	list := s.list
	s.mu.Unlock()
	i := sort.Search(len(list), func(i int) bool { return list[i].Hi > pc })
	if i == len(list) || list[i].Lo > pc {
		return f, false
	}
	return list[i], true
}

// Shared reports whether a return address is the beginning of shared code, and not in a function of
// Erlang, and how many words of the frame behind it are to be skipped.
func (c *Code) Shared(to uint64) (words uint64, ok bool) {
	if words, ok = c.m.traces[to]; ok {
		return words, true
	}
	if f, ok := c.Fragment(to); ok && f.Lo == to {
		return c.m.TraceWords(f.Name), true
	}
	return 0, false
}

// readFragments reads what the run time system has registered for debuggers, by GDB's interface for
// compilers at run time. An object has its kind, 1 for code, and from offset 8 on: the address of
// the code, the number of its parts, its size, and its name with a length of 16 bits, which a zero
// ends. Parts follow: where each begins and ends, how many lines it has, and its name. The modules
// are objects, too: they are not read.
func (m *Machine) readFragments(r Reader) (list []Fragment) {
	const (
		firstEntry        = 16 // in the descriptor
		object            = 16 // in an entry
		base, parts       = 8, 16
		nameLength, name  = 24, 26
		header, code, two = 32, 1, 2
	)
	r.Err() // of others
	defer r.Err()
	at := m.Symbol("__jit_debug_descriptor")
	if at == 0 {
		return nil
	}
	found := 0
	for entry, n := r.Pointer(at+firstEntry), 0; entry != 0 && n < mostObjects && found < two && r.OK(); n++ {
		o := r.Pointer(entry + object)
		entry = r.Pointer(entry)
		length := r.Uint(o+nameLength, 2)
		if r.Uint(o, 4) != code || length != uint64(len("global")+1) && length != uint64(len("erts_beamasm")+1) {
			continue
		}
		text := make([]byte, length-1)
		if r.Bytes(o+name, text) && (string(text) == "global" || string(text) == "erts_beamasm") {
			some := m.readParts(r, string(text)+":", r.Pointer(o+base), min(r.Uint(o+parts, 4), mostFragments), o+header+length)
			if len(some) > 0 { // there is a module called global, too
				found++
				list = append(list, some...)
			}
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Lo < list[j].Lo })
	return list
}

// readParts returns n parts of an object, which begin at an address, and whose code is at base.
// There are none if a part has lines: it is of a module's function.
func (m *Machine) readParts(r Reader, prefix string, base, n, at uint64) (list []Fragment) {
	const header, name = 16, 14
	for ; n > 0 && r.OK(); n-- {
		from, to, lines, length := r.Uint(at, 4), r.Uint(at+4, 4), r.Uint(at+8, 4), r.Uint(at+12, 2)
		if length == 0 || length > mostNames || lines != 0 || from > to {
			return nil
		}
		text := make([]byte, length-1)
		if length > 1 && !r.Bytes(at+name, text) {
			return nil
		}
		called := strings.TrimLeft(strings.TrimPrefix(string(text), prefix), ":")
		list = append(list, Fragment{strings.TrimSuffix(called, "/0"), base + from, base + to})
		at += header + length
	}
	return list
}
