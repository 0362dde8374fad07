package erts

import (
	"errors"
	"sort"
	"sync"
)

// Function is a function of a loaded module.
type Function struct {
	Info     uint64 // the address of what the run time system has before its code
	Code, Hi uint64 // its code: [Code, Hi)
	// Header is the address of the module's header, and Index the function's place in it.
	Header uint64
	Index  uint64
}

// span is the memory of a module's code.
type span struct{ lo, hi uint64 }

// codes are the modules, as they were read last.
type codes struct {
	mu    sync.Mutex
	index uint64
	table span // of the process, where they are
	list  []span
}

const (
	codeIndexes   = 3  // there are so many tables: one is in use
	rangesBytes   = 32 // a table's address, how many modules it has, for how many there is room, and where to begin
	rangeBytes    = 16 // of a module: where its code begins, and ends
	mostModules   = 1 << 17
	mostFunctions = 1 << 20
)

var errNoRanges = errors.New("its table of modules cannot be found")

// findRanges finds the tables of modules among the run time system's variables.
func (m *Machine) findRanges(r Reader) error {
	lo, hi := m.writable()
	return m.findRangesIn(r, lo, hi)
}

// findRangesIn finds them at [lo, hi).
func (m *Machine) findRangesIn(r Reader, lo, hi uint64) error {
	if hi <= lo || hi-lo > mostVariables {
		return errNoRanges
	}
	data := make([]byte, hi-lo)
	if !r.Bytes(lo, data) {
		return r.Err()
	}
	word := m.Arch.Order.Uint64
	for at := 0; at+codeIndexes*rangesBytes <= len(data); at += 8 {
		if active, ok := m.mayBeRanges(word, data[at:]); ok && m.areRanges(r, word(data[at+active*rangesBytes:]), word(data[at+active*rangesBytes+8:])) {
			m.ranges = lo + uint64(at)
			return nil
		}
	}
	r.Err()
	return errNoRanges
}

// mostVariables bounds the memory of the run time system's variables, bytes. It has 350 KB of them.
const mostVariables = 8 << 20

// mayBeRanges reports whether bytes may be the tables of modules, and which of them has most: each
// that was used has modules, and a place among them where to begin.
func (m *Machine) mayBeRanges(word func([]byte) uint64, b []byte) (most int, ok bool) {
	anew := 0
	for i := range codeIndexes {
		x := b[i*rangesBytes:]
		table, n, room, begin := word(x), word(x[8:]), word(x[16:]), word(x[24:])
		switch {
		case n > room || room > mostModules || table%8 != 0 || (table == 0) != (room == 0):
			return 0, false
		case begin != 0 && begin-table > room*rangeBytes:
			if anew++; anew > 1 {
				return 0, false
			}
		}
		if n > word(b[most*rangesBytes+8:]) {
			most = i
		}
	}
	return most, word(b[most*rangesBytes+8:]) > 0
}

// areRanges reports whether n modules are at an address: they are in order, and the first and the
// last one have functions.
func (m *Machine) areRanges(r Reader, table, n uint64) bool {
	list := m.readSpans(r, span{table, n})
	ok := len(list) > 0
	for i, s := range list {
		ok = ok && s.lo%8 == 0 && s.lo > 0 && s.lo <= s.hi && (i == 0 || list[i-1].hi <= s.lo)
	}
	ok = ok && m.hasFunctions(r, list[0]) && m.hasFunctions(r, list[len(list)-1])
	if !ok {
		r.Err()
	}
	return ok
}

// hasFunctions reports whether the first function of a module is a function.
func (m *Machine) hasFunctions(r Reader, s span) bool {
	n := r.Pointer(s.lo + m.Of("code.count"))
	if n == 0 || n > mostFunctions || s.hi-s.lo < m.Of("code.functions")+8*n {
		return false
	}
	info := r.Pointer(s.lo + m.Of("code.functions"))
	_, ok := m.Atom(r, r.Pointer(info+m.Of("function.module")))
	return ok && r.OK() && info > s.lo && info < s.hi
}

// readSpans reads a table of modules.
func (m *Machine) readSpans(r Reader, table span) (list []span) {
	var piece [64 * rangeBytes]byte
	for i := uint64(0); i < table.hi; i += 64 {
		b := piece[:rangeBytes*min(64, table.hi-i)]
		if !r.Bytes(table.lo+i*rangeBytes, b) {
			return nil
		}
		for ; len(b) > 0; b = b[rangeBytes:] {
			list = append(list, span{m.Arch.Order.Uint64(b), m.Arch.Order.Uint64(b[8:])})
		}
	}
	return list
}

// current returns the modules in order.
func (m *Machine) current(r Reader) []span {
	active := uint64(0)
	if at := m.Symbol("the_active_code_index"); at != 0 {
		active = r.Uint(at, 4)
	} else {
		for i := range uint64(codeIndexes) { // the ones that are not in use have not got new modules yet
			if r.Pointer(m.ranges+i*rangesBytes+8) > r.Pointer(m.ranges+active*rangesBytes+8) {
				active = i
			}
		}
	}
	if active >= codeIndexes {
		return nil
	}
	at := m.ranges + active*rangesBytes
	table := span{r.Pointer(at), r.Pointer(at + 8)} // its address, and the number of modules
	if !r.OK() || table.hi > mostModules {
		return nil
	}
	c := &m.modules
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index != active || c.table != table || c.list == nil {
		c.index, c.table, c.list = active, table, m.readSpans(r, table)
	}
	return c.list
}

// Code is the code of a run time system at one moment.
type Code struct {
	m    *Machine
	r    Reader
	list []span
}

// Code returns the code as a reader has it now.
func (m *Machine) Code(r Reader) *Code { return &Code{m, r, m.current(r)} }

// In reports whether an address is in the code of a module.
func (c *Code) In(pc uint64) bool {
	_, ok := c.find(pc)
	return ok
}

func (c *Code) find(pc uint64) (span, bool) {
	i := sort.Search(len(c.list), func(i int) bool { return c.list[i].hi > pc })
	if i == len(c.list) || c.list[i].lo > pc {
		return span{}, false
	}
	return c.list[i], true
}

// Function returns the function that has an address in its code, or in what the run time system has
// before it.
func (c *Code) Function(pc uint64) (f Function, ok bool) {
	s, ok := c.find(pc)
	if !ok {
		return f, false
	}
	n := c.r.Pointer(s.lo + c.m.Of("code.count"))
	if n == 0 || n > mostFunctions || n > (s.hi-s.lo)/8 {
		return f, false
	}
	first := s.lo + c.m.Of("code.functions")
	lo, hi := uint64(0), n
	for lo < hi {
		mid := lo + (hi-lo)/2
		if c.r.Pointer(first+8*mid) <= pc {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 || !c.r.OK() {
		return f, false
	}
	f = Function{Header: s.lo, Index: lo - 1, Info: c.r.Pointer(first + 8*(lo-1)), Hi: c.r.Pointer(first + 8*lo)}
	f.Code = f.Info + c.m.Of("function.bytes")
	return f, c.r.OK() && f.Info > s.lo && f.Info <= pc && pc < f.Hi && f.Hi <= s.hi
}
