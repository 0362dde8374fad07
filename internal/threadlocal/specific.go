package threadlocal

import "github.com/sfwalk/sfwalk/target"

// Specific returns what the thread with the thread pointer tp has for a key of pthread_key_create,
// 0 if it has nothing, as pthread_getspecific does. mem is the memory of the thread's moment. Of
// glibc alone it is known where that is. The error is an [Error] or a [MemoryError].
func (f *Finder) Specific(mem target.Memory, tp uint64, key uint32) (value uint64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.library()
	l, d := look{f, mem}, f.glibc
	const first, second, entry, data = "pthread_specific", "pthread_key_data_level2_data", "sizeof_pthread_key_data", "pthread_key_data_data"
	if d == nil || !d.knows(first, second, data) {
		return 0, Error{"the C library does not tell where threads have the values of their keys"}
	}
	// Each thread has a table of tables, each of which has an entry for each of some keys: a
	// number, and the value.
	words := uint64(f.arch.PtrSize)
	size := 2 * words
	if d.knows(entry) {
		size = d.field(entry).size
	}
	const keys = 32 // of a table: PTHREAD_KEY_2NDLEVEL_SIZE
	at := tp + d.offset(first)
	if f.arch.ThreadBlock > 0 { // the thread's structure lies before its pointer
		if !d.knows("sizeof_pthread") {
			return 0, Error{"the C library does not tell the size of its threads' structures"}
		}
		at -= d.size("pthread")
	}
	table, err := l.word(at + uint64(key)/keys*words)
	if err != nil || table == 0 {
		return 0, err
	}
	return l.word(table + d.offset(second) + uint64(key)%keys*size + d.offset(data))
}
