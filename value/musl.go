package value

import "github.com/sfwalk/sfwalk/target"

// muslDebug is the pointer to musl's struct r_debug.
const muslDebug = "_dl_debug_addr"

// muslLibrary reports whether the process's C library is musl: no other has that pointer.
func (r *Reader) muslLibrary() bool {
	if !r.libc.looked {
		r.libc.looked = true
		r.libc.musl = len(r.Symbols.Named(r.Modules, nil, muslDebug)) > 0
	}
	return r.libc.musl
}

// muslStorage returns the address of a thread's storage for a module. musl numbers the modules that
// have such storage from 1, in the order of its list, and its threads have tables of addresses by
// these numbers: the address of a table is the second word of the thread's structure, at the thread
// pointer, or the last word, before it (src/internal/pthread_impl.h).
func (c *context) muslStorage(m *target.Module, tp uint64) (uint64, error) {
	blocks := map[uint64]bool{} // by the distance from the file's addresses
	for _, x := range c.r.Modules.All() {
		if im, bias, err := x.Image(); err == nil && threadBlock(im) != nil {
			blocks[bias] = true
		}
	}
	_, bias, err := m.Image()
	if err != nil {
		return 0, err
	}
	id, found := uint64(0), false
	err = c.eachLinked(muslDebug, func(_, load uint64) bool {
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
		return 0, noThreadLocal{m.Path + " is not in the dynamic linker's list"}
	}
	size := uint64(c.r.Arch.PtrSize)
	at := tp + size
	if c.r.Arch.ThreadBlock > 0 {
		at = tp - size
	}
	table, err := c.word(at)
	if err != nil {
		return 0, err
	}
	length, err := c.word(table)
	if err != nil {
		return 0, err
	}
	if id > length {
		return 0, notAllocated(m)
	}
	return c.word(table + id*size)
}
