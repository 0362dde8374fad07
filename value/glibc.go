package value

import (
	"fmt"

	"github.com/sfwalk/sfwalk/target"
)

// glibc describes itself to debuggers: for each member of a structure that libthread_db reads there
// is a constant _thread_db_STRUCT_MEMBER of three numbers, of 32 bits each: the member's size in
// bits, how many there are, and its offset in bytes (nptl_db/db_info.c). A thread's table (its DTV)
// has the address of its storage for each module, by the module's number.

// glibc is that description.
type glibc struct {
	r        *Reader
	fields   map[string]glibcField
	listed   bool
	pointers map[int]uint64 // the thread pointers, by thread ID; see listedPointer
}

type glibcField struct {
	known        bool
	size, offset uint64 // bytes
}

// glibc returns the C library's description of itself, nil if there is none.
func (r *Reader) glibc() *glibc {
	if !r.libc.read {
		r.libc.read = true
		if d := (&glibc{r: r, fields: map[string]glibcField{}}); d.knows("pthread_dtvp", "dtv_dtv", "dtv_t_pointer_val", "link_map_l_tls_modid") {
			r.libc.glibc = d
		}
	}
	return r.libc.glibc
}

// field returns what is said of a member, or of a size (sizeof_STRUCT, a single number).
func (d *glibc) field(name string) glibcField {
	f, read := d.fields[name]
	if read {
		return f
	}
	order := d.r.order()
	var b [12]byte
	for _, addr := range d.r.Symbols.Named(d.r.Modules, nil, "_thread_db_"+name) {
		if readMemory(d.r.Memory, addr, b[:]) == nil {
			f = glibcField{true, uint64(order.Uint32(b[:])) / 8, uint64(order.Uint32(b[8:]))}
		} else if readMemory(d.r.Memory, addr, b[:4]) != nil {
			continue
		}
		if len(name) > 7 && name[:7] == "sizeof_" {
			f = glibcField{true, uint64(order.Uint32(b[:])), 0}
		}
		break
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
		if list := d.r.Symbols.Named(d.r.Modules, nil, "_rtld_global"); len(list) > 0 {
			return list[0] + f.offset, true
		}
	}
	if list := d.r.Symbols.Named(d.r.Modules, nil, name); len(list) > 0 {
		return list[0], true
	}
	return 0, false
}

// glibcStorage returns the address of a thread's storage for a module by the thread's table.
func (c *context) glibcStorage(m *target.Module, tp uint64) (uint64, error) {
	d := c.r.glibc()
	lm, err := c.linkMap(m, "_r_debug")
	if err != nil {
		return 0, err
	}
	id, err := c.word(lm + d.offset("link_map_l_tls_modid"))
	if err != nil {
		return 0, err
	}
	if id == 0 || id > maxLinked<<4 {
		return 0, noThreadLocal{fmt.Sprintf("the dynamic linker has number %d for %s", id, m.Path)}
	}
	base, err := c.tableEntry(lm, id, tp)
	if err != nil || base != 0 {
		return base, err
	}
	// The thread has not asked for it yet. But storage that lies beside the thread pointer is
	// there.
	none := c.r.Arch.Wrap(^uint64(0))
	off, err := c.word(lm + d.offset("link_map_l_tls_offset"))
	if err != nil || !d.knows("link_map_l_tls_offset") || off == 0 || off >= none-1 {
		return 0, notAllocated(m)
	}
	if c.r.Arch.ThreadBlock > 0 {
		return tp + off, nil
	}
	return tp - off, nil
}

// tableEntry returns what a thread's table has for the module of a number, which lm describes; 0 if
// there is nothing.
func (c *context) tableEntry(lm, id, tp uint64) (base uint64, err error) {
	d := c.r.glibc()
	at := tp + d.offset("pthread_dtvp")
	if c.r.Arch.ThreadBlock > 0 { // the thread's structure lies before its pointer
		if !d.knows("sizeof_pthread") {
			return 0, noThreadLocal{"the C library does not tell the size of its threads' structures"}
		}
		at -= d.size("pthread")
	}
	table, err := c.word(at)
	if err != nil {
		return 0, err
	}
	entry := d.field("dtv_dtv").size
	if entry == 0 {
		return 0, noThreadLocal{"the C library tells no size for the entries of its threads' tables"}
	}
	if d.knows("dtv_t_counter") {
		length, err := c.word(table - entry + d.offset("dtv_t_counter")) // the entry before the first is the length
		if err != nil {
			return 0, err
		}
		if id > length {
			return 0, nil
		}
		has, err := c.word(table + d.offset("dtv_t_counter")) // and the first one is the state that the table has
		if err != nil {
			return 0, err
		}
		if now, ok := c.generation(lm, id); ok && now > has {
			return 0, nil // the entry may be of a module that was there before
		}
	}
	base, err = c.word(table + id*entry + d.offset("dtv_t_pointer_val"))
	if base&1 != 0 { // TLS_DTV_UNALLOCATED
		base = 0
	}
	return base, err
}

// generation returns when the dynamic linker gave the module that lm describes its number: the
// tables of threads that have not used it since are of an earlier generation.
func (c *context) generation(lm, id uint64) (now uint64, ok bool) {
	d := c.r.glibc()
	list, ok := d.variable("_dl_tls_dtv_slotinfo_list")
	if !ok || !d.knows("dtv_slotinfo_list_len", "dtv_slotinfo_list_next", "dtv_slotinfo_list_slotinfo", "sizeof_dtv_slotinfo", "dtv_slotinfo_gen", "dtv_slotinfo_map") {
		return 0, false
	}
	at, err := c.word(list)
	for range maxLinked {
		if err != nil || at == 0 {
			return 0, false
		}
		length, err := c.word(at + d.offset("dtv_slotinfo_list_len"))
		if err != nil {
			return 0, false
		}
		if id < length {
			slot := at + d.offset("dtv_slotinfo_list_slotinfo") + id*d.size("dtv_slotinfo")
			of, err := c.word(slot + d.offset("dtv_slotinfo_map"))
			if err != nil || of != lm {
				return 0, false
			}
			now, err = c.word(slot + d.offset("dtv_slotinfo_gen"))
			return now, err == nil
		}
		id -= length
		at, err = c.word(at + d.offset("dtv_slotinfo_list_next"))
		if err != nil {
			return 0, false
		}
	}
	return 0, false
}
