package erts

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// Releases from 29 on may export what native functions need alone. Their variables are found by
// what they hold. Each test is such that other memory does not pass it: pointers lead to structures
// that agree with it.

// ownFunction is a function that every run time system defines, and no other module: native
// functions call it.
const ownFunction = "enif_make_badarg"

var errHidden = errors.New("the run time system exports no variables, and they cannot be found by what they hold")

// releaseText is in every compiled run time system.
var releaseText = regexp.MustCompile(`\(Erlang/OTP (\d+)\)`)

// release returns the release of OTP that a text of the run time system tells, 0 if none does.
func (m *Machine) release() int {
	text, _, err := m.image.Section(".rodata")
	if err != nil {
		return 0
	}
	found := releaseText.FindSubmatch(text)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(found[1]))
	return n
}

// search finds the variables.
type search struct {
	*Machine
	r    Reader
	lo   uint64
	data []byte
}

// word returns the word at an offset of the variables, 0 if it is behind their end.
func (s *search) word(at uint64) uint64 {
	if at+8 > uint64(len(s.data)) {
		return 0
	}
	return s.Arch.Order.Uint64(s.data[at:])
}

// half is word for 32 bits.
func (s *search) half(at uint64) uint64 {
	if at+4 > uint64(len(s.data)) {
		return 0
	}
	return uint64(s.Arch.Order.Uint32(s.data[at:]))
}

// inModule reports whether an address is in the run time system itself.
func (s *search) inModule(addr uint64) bool {
	return addr >= s.Module.Lo() && addr < max(s.Module.Hi(), s.lo+uint64(len(s.data)))
}

// newSearch reads the variables.
func (m *Machine) newSearch(r Reader) (*search, error) {
	lo, hi := m.writable()
	return m.searchIn(r, lo, hi)
}

// searchIn reads the variables, which are at [lo, hi).
func (m *Machine) searchIn(r Reader, lo, hi uint64) (*search, error) {
	if hi <= lo || hi-lo > mostVariables {
		return nil, errHidden
	}
	s := &search{m, r, lo, make([]byte, hi-lo)}
	if !r.Bytes(lo, s.data) {
		return nil, r.Err()
	}
	return s, nil
}

// find notes a variable: the first address of which is is true.
func (s *search) find(name string, is func(at uint64) bool) bool {
	for at := uint64(0); at < uint64(len(s.data)); at += 8 {
		if is(at) && s.r.OK() {
			s.found[name] = s.lo + at
			return true
		}
		s.r.Err()
	}
	return false
}

// descriptor finds the list of code for debuggers. It tells how frames are laid out, and where
// processes end.
func (s *search) descriptor() bool {
	return s.find("__jit_debug_descriptor", func(at uint64) bool {
		const object, size, emulator = 16, 24, 0
		entry := s.word(at + 16)
		if s.half(at) != 1 || s.half(at+4) > 2 || entry == 0 || entry%8 != 0 {
			return false
		}
		for n := 0; entry != 0 && n < mostObjects && s.r.OK(); n++ {
			o, bytes := s.r.Pointer(entry+object), s.r.Pointer(entry+size)
			kind := s.r.Uint(o, 4)
			if bytes < 32 || kind > 1 {
				return false
			}
			if kind == emulator {
				s.FramePointers = s.r.Uint(o+8, 4) == 1
				s.NormalExit = s.r.Pointer(o + 16)
				return s.r.OK() && s.NormalExit != 0
			}
			entry = s.r.Pointer(entry)
		}
		return false
	})
}

// atoms finds the table of atoms.
func (s *search) atoms() bool {
	entries, segments := s.Of("index.entries"), s.Of("index.segments")
	return s.find("erts_atom_table", func(at uint64) bool {
		n, size, limit := s.half(at+entries), s.half(at+entries-8), s.half(at+entries-4)
		if table := s.word(at + segments); n < leastAtoms || n > size || size > limit || table == 0 || table%8 != 0 {
			return false
		}
		s.found["erts_atom_table"] = s.lo + at
		name, ok := s.Atom(s.r, atomTrue)
		none, ok2 := s.Atom(s.r, tagAtom)
		return ok && ok2 && name == "true" && none == "false"
	})
}

// leastAtoms is how many atoms every run time system makes at least.
const leastAtoms = 500

// table finds a table of processes or of ports.
func (s *search) table(name string, is func(elementSize uint64) bool) bool {
	return s.find(name, func(at uint64) bool {
		most, mask, tab := s.half(at+s.Of("table.most")), s.word(at+s.Of("table.index_mask")), s.word(at+s.Of("table.processes"))
		if most < 1024 || most > MostSlots || mask+1 < most || mask&(mask+1) != 0 || mask >= 2*MostSlots || tab == 0 || tab%8 != 0 {
			return false
		}
		count, size := s.half(at+s.Of("table.count")), s.word(at+s.Of("table.element_size"))
		if count > most || size > 1<<16 || !is(size) {
			return false
		}
		line, place := s.word(at+s.Of("table.line_mask")), s.word(at+s.Of("table.place_mask"))
		return (line|place)&^mask == 0 && s.inModule(s.word(at+s.Of("table.invalid"))) && s.r.Pointer(tab+8*(most-1)) != 1
	})
}

// MostSlots bounds the processes of a table, as the run time system does.
const MostSlots = 1 << 27

// schedulers finds the records of the schedulers of one kind.
func (s *search) schedulers(name string, is func(scheduler uint64) bool) bool {
	return s.find(name, func(at uint64) bool {
		first := s.word(at)
		return first != 0 && first%64 == 0 && !s.inModule(first) && is(first) && s.isThread(s.r.Pointer(first+s.Of("scheduler.tid")))
	})
}

// isThread reports whether an address is a thread's storage, in which the C library has the address
// itself.
func (s *search) isThread(tid uint64) bool {
	return tid != 0 && tid%16 == 0 && s.r.Pointer(tid+16) == tid
}

// Schedulers returns the records of all schedulers, by the addresses of their threads' storage.
func (m *Machine) Schedulers(r Reader) map[uint64]uint64 {
	list := map[uint64]uint64{}
	for _, kind := range [...]struct{ number, first, field string }{
		{"erts_no_schedulers", "erts_aligned_scheduler_data", "scheduler.number"},
		{"erts_no_dirty_cpu_schedulers", "erts_aligned_dirty_cpu_scheduler_data", "scheduler.dirty_number"},
		{"erts_no_dirty_io_schedulers", "erts_aligned_dirty_io_scheduler_data", "scheduler.dirty_number"},
	} {
		at, n := m.Symbol(kind.first), uint64(mostSchedulers)
		if at == 0 {
			continue
		}
		if number := m.Symbol(kind.number); number != 0 {
			n = min(n, r.Uint(number, 4))
		}
		first := r.Pointer(at)
		for i := range n {
			scheduler := first + i*m.Of("scheduler.bytes")
			tid := r.Pointer(scheduler + m.Of("scheduler.tid"))
			if !r.OK() || tid == 0 || r.Pointer(scheduler+m.Of(kind.field)) != i+1 {
				break
			}
			list[tid] = scheduler
		}
		r.Err()
	}
	return list
}

// mostSchedulers bounds the schedulers of each kind: there may be 1024.
const mostSchedulers = 1024

// hidden finds what a run time system does not export. The table of modules is found elsewhere.
func (m *Machine) hidden(r Reader) error {
	s, err := m.newSearch(r)
	if err != nil {
		return err
	}
	return s.all()
}

// all finds all variables but the table of modules.
func (s *search) all() error {
	processes := func(size uint64) bool { return size == s.Of("process.bytes") }
	if !s.atoms() {
		return fmt.Errorf("%w: no table of atoms", errHidden)
	}
	if !s.table("erts_proc", processes) {
		return fmt.Errorf("%w: no table of processes", errHidden)
	}
	s.table("erts_port", func(size uint64) bool { return !processes(size) && size > 0 })
	of := func(kind, number, dirty uint64) func(at uint64) bool {
		return func(at uint64) bool {
			return s.r.Uint(at+s.Of("scheduler.type"), 4) == kind && s.r.Pointer(at+s.Of("scheduler.number")) == number && s.r.Pointer(at+s.Of("scheduler.dirty_number")) == dirty
		}
	}
	for name, is := range map[string]func(at uint64) bool{
		"erts_aligned_scheduler_data":           of(s.Of("scheduler.normal"), 1, 0),
		"erts_aligned_dirty_cpu_scheduler_data": of(s.Of("scheduler.dirty_cpu"), 0, 1),
		"erts_aligned_dirty_io_scheduler_data":  of(s.Of("scheduler.dirty_io"), 0, 1),
	} {
		s.schedulers(name, is)
	}
	s.r.Err()
	return nil
}
