package threadlocal

import (
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/target"
)

// glibc describes itself to debuggers: for each member of a structure that libthread_db reads there
// is a constant _thread_db_STRUCT_MEMBER of three numbers, of 32 bits each: the member's size in
// bits, how many there are, and its offset in bytes (nptl_db/db_info.c). A thread's table (its DTV)
// has the address of its storage for each module, by the module's number.

// glibc is that description.
type glibc struct {
	*Finder
	fields   map[string]glibcField
	listed   bool
	pointers map[int]uint64 // the thread pointers, by thread ID; see ListedPointer
}

type glibcField struct {
	known        bool
	size, offset uint64 // bytes
}

// field returns what is said of a member, or of a size (sizeof_STRUCT, a single number).
func (d *glibc) field(name string) glibcField {
	f, read := d.fields[name]
	if read {
		return f
	}
	order := d.arch.Order
	var b [12]byte
	if addr := d.symbol("_thread_db_" + name); addr != 0 {
		l := look{d.Finder, nil}
		switch size := strings.HasPrefix(name, "sizeof_"); {
		case size && l.bytes(addr, b[:4]) == nil:
			f = glibcField{true, uint64(order.Uint32(b[:])), 0}
		case !size && l.bytes(addr, b[:]) == nil:
			f = glibcField{true, uint64(order.Uint32(b[:])) / 8, uint64(order.Uint32(b[8:]))}
		}
	}
	d.fields[name] = f
	return f
}

func (d *glibc) knows(names ...string) bool {
	for _, name := range names {
		if !d.field(name).known {
			return false
		}
	}
	return true
}

func (d *glibc) offset(name string) uint64 { return d.field(name).offset }

func (d *glibc) size(structure string) uint64 { return d.field("sizeof_" + structure).size }

// variable returns the address of a variable of the dynamic linker: in its struct rtld_global, or,
// in static programs, by itself.
func (d *glibc) variable(name string) (addr uint64, ok bool) {
	if f := d.field("rtld_global_" + name); f.known {
		if at := d.symbol("_rtld_global"); at != 0 {
			return at + f.offset, true
		}
	}
	addr = d.symbol(name)
	return addr, addr != 0
}

// glibcStorage returns the address of a thread's storage for a module by the thread's table.
func (l look) glibcStorage(m *target.Module, tp uint64) (uint64, error) {
	d := l.glibc
	lm, err := l.linkMap(m, "_r_debug")
	if err != nil {
		return 0, err
	}
	id, err := l.word(lm + d.offset("link_map_l_tls_modid"))
	if err != nil {
		return 0, err
	}
	if id == 0 || id > maxLinked<<4 {
		return 0, Error{fmt.Sprintf("the dynamic linker has number %d for %s", id, m.Path)}
	}
	base, err := l.tableEntry(lm, id, tp)
	if err != nil || base != 0 {
		return base, err
	}
	// The thread has not asked for it yet. But storage that lies beside the thread pointer is
	// there.
	none := l.arch.Wrap(^uint64(0))
	off, err := l.word(lm + d.offset("link_map_l_tls_offset"))
	if err != nil || !d.knows("link_map_l_tls_offset") || off == 0 || off >= none-1 {
		return 0, notAllocated(m)
	}
	if l.arch.ThreadBlock > 0 {
		return tp + off, nil
	}
	return tp - off, nil
}

// tableEntry returns what a thread's table has for the module of a number, which lm describes; 0 if
// there is nothing.
func (l look) tableEntry(lm, id, tp uint64) (base uint64, err error) {
	d := l.glibc
	at := tp + d.offset("pthread_dtvp")
	if l.arch.ThreadBlock > 0 { // the thread's structure lies before its pointer
		if !d.knows("sizeof_pthread") {
			return 0, Error{"the C library does not tell the size of its threads' structures"}
		}
		at -= d.size("pthread")
	}
	table, err := l.word(at)
	if err != nil {
		return 0, err
	}
	entry := d.field("dtv_dtv").size
	if entry == 0 {
		return 0, Error{"the C library tells no size for the entries of its threads' tables"}
	}
	if d.knows("dtv_t_counter") {
		length, err := l.word(table - entry + d.offset("dtv_t_counter")) // the entry before the first is the length
		if err != nil {
			return 0, err
		}
		if id > length {
			return 0, nil
		}
		has, err := l.word(table + d.offset("dtv_t_counter")) // and the first one is the state that the table has
		if err != nil {
			return 0, err
		}
		if now, ok := l.generation(lm, id); ok && now > has {
			return 0, nil // the entry may be of a module that was there before
		}
	}
	base, err = l.word(table + id*entry + d.offset("dtv_t_pointer_val"))
	if base&1 != 0 { // TLS_DTV_UNALLOCATED
		base = 0
	}
	return base, err
}

// generation returns when the dynamic linker gave the module that lm describes its number: the
// tables of threads that have not used it since are of an earlier generation.
func (l look) generation(lm, id uint64) (now uint64, ok bool) {
	d := l.glibc
	list, ok := d.variable("_dl_tls_dtv_slotinfo_list")
	if !ok || !d.knows("dtv_slotinfo_list_len", "dtv_slotinfo_list_next", "dtv_slotinfo_list_slotinfo", "sizeof_dtv_slotinfo", "dtv_slotinfo_gen", "dtv_slotinfo_map") {
		return 0, false
	}
	at, err := l.word(list)
	for range maxLinked {
		if err != nil || at == 0 {
			return 0, false
		}
		length, err := l.word(at + d.offset("dtv_slotinfo_list_len"))
		if err != nil {
			return 0, false
		}
		if id < length {
			slot := at + d.offset("dtv_slotinfo_list_slotinfo") + id*d.size("dtv_slotinfo")
			of, err := l.word(slot + d.offset("dtv_slotinfo_map"))
			if err != nil || of != lm {
				return 0, false
			}
			now, err = l.word(slot + d.offset("dtv_slotinfo_gen"))
			return now, err == nil
		}
		id -= length
		at, err = l.word(at + d.offset("dtv_slotinfo_list_next"))
		if err != nil {
			return 0, false
		}
	}
	return 0, false
}
