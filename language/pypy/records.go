package pypy

import (
	"slices"

	"github.com/sfwalk/sfwalk/internal/pypy"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// record is one of PyPy's profiler.
type record struct{ at, value, kind uint64 }

// mostRecords bounds the records of one thread, and its frames.
const mostRecords = 1 << 17

// thread is what a thread's storage leads to.
type thread struct {
	context uint64   // the execution context
	records []record // the innermost first
}

// threadOf reads the storage of a thread, which is at addr; ok is false if it has no execution
// context: it runs no Python. The innermost record is the last variable there, for their names are
// sorted (vmprof_tl_stack). It is 0 if no function runs.
func (r *runtime) threadOf(m *structs.Reader, addr uint64) (t thread, ok bool) {
	for at := addr; at+word < addr+r.size && !ok; at += word {
		if t.context, ok = r.object(m, m.Pointer(at), executionContext); ok {
			t.records = records(m, m.Pointer(addr+r.size-word))
		}
		if !ok {
			m.Err() // it is no pointer
		}
	}
	return t, ok
}

// records reads records from the innermost one on.
func records(m *structs.Reader, at uint64) (list []record) {
	for at != 0 && m.OK() {
		if len(list) == mostRecords {
			m.Fail("there are more than 2^17 records of the profiler")
			break
		}
		list = append(list, record{at, m.Pointer(at + pypy.Value), m.Pointer(at + pypy.Kind)})
		at = m.Pointer(at + pypy.Next)
	}
	return list
}

// holds reports whether a frame holds the address of a record: the function that has made it keeps
// the address while it calls the interpreter.
func (m *reader) holds(s *language.Stack, level int, rec record) bool {
	f := s.Frames[level]
	for _, reg := range s.Arch.OtherCalleeSaved {
		if v := f.Register(reg); v.Known() && v.Bits == rec.at {
			return true
		}
	}
	if v := f.Register(s.Arch.FP); v.Known() && v.Bits == rec.at {
		return true
	}
	cfa, known := f.CFA()
	sp := f.Register(s.Arch.SP)
	if !known || !sp.Known() || cfa-sp.Bits > mostFrame || !m.spend(int(cfa-sp.Bits)/word) {
		return false
	}
	room := make([]byte, cfa-sp.Bits)
	n, _ := s.Memory.ReadMemory(sp.Bits, room)
	for i := 0; i+word <= n; i += word {
		if s.Arch.Order.Uint64(room[i:]) == rec.at {
			return true
		}
	}
	return false
}

// mostFrame bounds the size of one frame of C that is looked through, bytes.
const mostFrame = 64 << 10

// function returns where the function begins that makes records of the interpreter, by the
// outermost record that a frame holds; 0 if that is not known.
func (m *reader) function(s *language.Stack, list []record) uint64 {
	if start := m.execute.Load(); start != 0 {
		return start
	}
	for _, rec := range slices.Backward(list) {
		for level := len(s.Frames) - 1; level >= 0 && rec.kind == pypy.Code && m.spend(1); level-- {
			if m.isOwn(s.Frames[level]) && m.holds(s, level, rec) {
				start, _ := s.Frames[level].Function()
				m.execute.Store(start)
				return start
			}
		}
	}
	return 0
}

// levels returns the levels of records, the innermost first; -1 where that is not known. A record
// of compiled code is in its frame. While the compiler records what runs, and when compiled code is
// left, PyPy makes records of the interpreter, too, which have the level of the one further out.
func (m *reader) levels(s *language.Stack, list []record) []int {
	levels := make([]int, len(list))
	level, last := len(s.Frames)-1, -1
	start := m.function(s, list)
	for i := len(list) - 1; i >= 0; i-- {
		rec := &list[i]
		switch rec.kind {
		case pypy.Jitted:
			if at := m.levelOf(s, level, rec.at); at >= 0 {
				level, last = at-1, at
			}
		case pypy.Code:
			if at := m.call(s, level, start); at >= 0 && m.holds(s, at, *rec) {
				level, last = at-1, at
			}
		}
		levels[i] = last
	}
	return levels
}

// levelOf returns the level, from one inward on, of the frame on whose part of the stack an address
// is; -1 for none.
func (m *reader) levelOf(s *language.Stack, level int, addr uint64) int {
	for ; level >= 0 && m.spend(1); level-- {
		cfa, known := s.Frames[level].CFA()
		if sp := s.Frames[level].Register(s.Arch.SP); known && sp.Known() && addr >= sp.Bits && addr < cfa {
			return level
		}
	}
	return -1
}

// call returns the outermost level, from one inward on, of a frame of the function that begins at
// start; -1 for none.
func (m *reader) call(s *language.Stack, level int, start uint64) int {
	for ; level >= 0 && start != 0; level-- {
		if begin, ok := s.Frames[level].Function(); ok && begin == start && m.isOwn(s.Frames[level]) {
			return level
		}
	}
	return -1
}
