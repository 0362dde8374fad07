package threadlocal

import "github.com/sfwalk/sfwalk/target"

// muslDebug is the pointer to musl's struct r_debug. No other C library has it.
const muslDebug = "_dl_debug_addr"

// muslStorage returns the address of a thread's storage for a module. musl numbers the modules that
// have such storage from 1, in the order of its list, and its threads have tables of addresses by
// these numbers: the address of a table is the second word of the thread's structure, at the thread
// pointer, or the last word, before it (src/internal/pthread_impl.h).
func (l look) muslStorage(m *target.Module, tp uint64) (uint64, error) {
	blocks := map[uint64]bool{} // by the distance from the file's addresses
	for _, x := range l.modules.All() {
		if im, bias, err := x.PeekImage(); err == nil && Block(im) != nil {
			blocks[bias] = true
		}
	}
	_, bias, err := m.PeekImage()
	if err != nil {
		return 0, err
	}
	id, found := uint64(0), false
	err = l.eachLinked(muslDebug, func(_, load uint64) bool {
		if blocks[load] {
			id++
		}
		found = load == bias
		return !found
	})
	if err != nil {
		return 0, err
	}
	if !found || id == 0 {
		return 0, Error{m.Path + " is not in the dynamic linker's list"}
	}
	size := uint64(l.arch.PtrSize)
	at := tp + size
	if l.arch.ThreadBlock > 0 {
		at = tp - size
	}
	table, err := l.word(at)
	if err != nil {
		return 0, err
	}
	length, err := l.word(table)
	if err != nil {
		return 0, err
	}
	if id > length {
		return 0, notAllocated(m)
	}
	return l.word(table + id*size)
}
