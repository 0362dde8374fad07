package ruby

import (
	"debug/elf"
	"sync/atomic"
)

// The table of symbols is an array of arrays, in which each symbol has two elements: its text, and
// the symbol (symbol.c).
const (
	symbolsInArray = 512
	wordsOfSymbol  = 2
)

// idText returns the text of an ID: a method's name. It is "" if it is not known.
func (m *memory) idText(id uint64) string {
	if text, known := m.names[id]; known {
		return text
	}
	text := ""
	if table := m.r.symbolTable(m); table != 0 {
		number := id
		if id > m.idLastOperator {
			number = id >> m.idShift
		}
		text, _ = m.text(m.symbol(table, number))
	}
	m.names[id] = text
	return text
}

// symbol returns the string of the symbol of a number, 0 if there is none.
func (m *memory) symbol(table, number uint64) uint64 {
	if last := m.Uint(table+m.symbolsLast, 4); number == 0 || number > last {
		return 0
	}
	list := m.element(m.Pointer(table+m.symbolsIDs), number/symbolsInArray)
	return m.element(list, number%symbolsInArray*wordsOfSymbol)
}

// symbolTable returns the address of the table of symbols, 0 if it was not found. Its own symbol is
// not exported by later releases: then the module's variables are looked through.
func (r *runtime) symbolTable(m *memory) uint64 {
	return r.find(m, &r.symbols, m.isSymbolTable)
}

// find returns the address of a variable of the module's, by its symbol, which known has, or as the
// first one that is it; 0 if none is.
func (r *runtime) find(m *memory, known *atomic.Pointer[uint64], is func(at uint64) bool) (found uint64) {
	if at := known.Load(); at != nil {
		return *at
	}
	r.eachVariable(func(at uint64) bool {
		m.quietly(func() {
			if is(at) {
				found = at
			}
		})
		return found == 0
	})
	known.Store(&found)
	return found
}

// mostVariables bounds the variables of a module that are looked through, bytes.
const mostVariables = 4 << 20

// eachVariable calls do with the address of each word of the module's variables, until it returns
// false.
func (r *runtime) eachVariable(do func(at uint64) bool) {
	left := uint64(mostVariables)
	for _, p := range r.image.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_W == 0 {
			continue
		}
		for off := -p.Vaddr & 7; off+8 <= p.Memsz && left > 0; off, left = off+8, left-8 {
			if !do(p.Vaddr + off + r.bias) {
				return
			}
		}
	}
}

// isSymbolTable reports whether the table of symbols is at an address: its numbers fit its arrays,
// and the names of the first symbols that are no operators are texts. What is in the module itself
// is looked at first: each read elsewhere is a system call.
func (m *memory) isSymbolTable(at uint64) bool {
	const most = 1 << 28 // symbols; the number has four bytes, and zeros behind it
	last, ids := m.Pointer(at+m.symbolsLast), m.Pointer(at+m.symbolsIDs)
	if last <= m.idLastOperator || last > most || !isObject(ids) {
		return false
	}
	list, n, ok := m.array(ids)
	if !ok || list == 0 || n <= last/symbolsInArray {
		return false
	}
	const some = 8
	for number := m.idLastOperator + 1; number <= m.idLastOperator+some; number++ {
		if text, ok := m.text(m.symbol(at, number)); !ok || text == "" || !m.OK() {
			return false
		}
	}
	return true
}
