package value

import (
	"debug/elf"
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/target"
)

// threadLocal returns the address of a thread's variable at an offset in the thread-local storage of the module that the frame
// runs in (DW_OP_form_tls_address).
func (c *context) threadLocal(offset uint64) (uint64, error) {
	m := c.r.Modules.Find(c.frame.AddressInBlock)
	if m == nil {
		return 0, errNoThreadLocal
	}
	im, _, err := m.Image()
	if err != nil {
		return 0, err
	}
	if block := threadBlock(im); block != nil && offset >= block.Memsz {
		// GCC's split DWARF has the link-time address instead.
		if offset -= block.Vaddr; offset >= block.Memsz {
			return 0, errNoThreadLocal
		}
	}
	tp, err := c.threadPointer()
	if err != nil {
		return 0, err
	}
	if base, err := c.tableEntry(m, tp); err == nil {
		return c.r.Arch.Wrap(base + offset), nil
	}
	base, err := c.ownBlock(im, tp)
	if err != nil {
		return 0, err
	}
	return c.r.Arch.Wrap(base + offset), nil
}

var errNoThreadLocal = errors.New("the address of thread-local storage is not known")

// threadPointer returns the address that a thread's storage is found by. No function changes it.
func (c *context) threadPointer() (tp uint64, err error) {
	regs := c.r.Arch.ThreadPointer
	if len(regs) == 0 {
		return 0, errNoThreadLocal
	}
	f := c.frame.Physical
	for next := f; next != nil && next.Level >= 0; next = next.Next() { // frame 0 has all registers
		f = next
	}
	for _, r := range regs {
		v := f.Register(r)
		if !v.Known() {
			return 0, errNoThreadLocal
		}
		tp = tp<<32 | v.Bits // of several registers, each has 32 bits
	}
	return tp, nil
}

// ownBlock returns the thread's storage for the program itself, which the ABI puts
// before the thread pointer (variant II of ELF's handling of thread-local storage).
func (c *context) ownBlock(im *elfimage.Image, tp uint64) (uint64, error) {
	program := im.ELF().Type == elf.ET_EXEC
	for i := range im.Progs {
		program = program || im.Progs[i].Type == elf.PT_INTERP
	}
	block := threadBlock(im)
	if !program || block == nil {
		return 0, errNoThreadLocal
	}
	align := max(block.Align, 1)
	if align&(align-1) != 0 || block.Memsz > maxObject {
		return 0, errNoThreadLocal
	}
	size := block.Memsz + (-block.Memsz-block.Vaddr)&(align-1)
	return tp - (size+align-1)&^(align-1), nil
}

// threadBlock returns the segment that a thread's storage for an image is made of; nil if there is none.
func threadBlock(im *elfimage.Image) *elf.ProgHeader {
	for i := range im.Progs {
		if im.Progs[i].Type == elf.PT_TLS {
			return &im.Progs[i]
		}
	}
	return nil
}

// tableEntry returns the thread's storage for a module by the C library's table of the thread (its DTV). The C library tells
// debuggers where its structures have what (libthread_db's _thread_db_ symbols).
func (c *context) tableEntry(m *target.Module, tp uint64) (uint64, error) {
	d := c.r.threadTables()
	if d == nil {
		return 0, errNoThreadLocal
	}
	word := func(addr uint64) (uint64, error) {
		b := make([]byte, c.r.Arch.PtrSize)
		if err := readMemory(c.mem, addr, b); err != nil {
			if err = readMemory(c.r.Memory, addr, b); err != nil {
				return 0, err
			}
		}
		return number(b, c.r.order() == bigEndian), nil
	}
	lm, err := c.r.linkMap(m, word)
	if err != nil {
		return 0, err
	}
	id, err := word(lm + d.moduleID)
	if err != nil || id == 0 || id > 1<<20 {
		return 0, errNoThreadLocal
	}
	table, err := word(tp + d.table)
	if err != nil {
		return 0, err
	}
	base, err := word(table + id*d.entrySize + d.entryValue)
	if err != nil {
		return 0, err
	}
	none := c.r.Arch.Wrap(^uint64(0))
	if base != none && base != 0 {
		return base, nil
	}
	// The thread has not asked for it yet; but storage that lies beside the thread pointer is there.
	off, err := word(lm + d.offset)
	if err != nil || off == 0 || off >= none-1 {
		return 0, errNoThreadLocal
	}
	return tp - off, nil
}

// threadTables say where the C library's structures have what, in bytes.
type threadTables struct {
	table                 uint64 // of the address of the thread's table, from the thread pointer
	entrySize, entryValue uint64
	moduleID, offset      uint64 // in a struct link_map
}

// threadTables reads the C library's description of itself; nil if there is none.
func (r *Reader) threadTables() *threadTables {
	if r.tables.read {
		return r.tables.known
	}
	r.tables.read = true
	field := func(name string) (bits, offset uint64, ok bool) {
		list := r.Symbols.Named(r.Modules, nil, "_thread_db_"+name)
		if len(list) == 0 {
			return 0, 0, false
		}
		b := make([]byte, 12)
		if readMemory(r.Memory, list[0], b) != nil {
			return 0, 0, false
		}
		order := r.order()
		return uint64(order.Uint32(b)), uint64(order.Uint32(b[8:])), true
	}
	var t threadTables
	var bits uint64
	var ok [5]bool
	_, t.table, ok[0] = field("pthread_dtvp")
	bits, _, ok[1] = field("dtv_dtv")
	_, t.entryValue, ok[2] = field("dtv_t_pointer_val")
	_, t.moduleID, ok[3] = field("link_map_l_tls_modid")
	_, t.offset, ok[4] = field("link_map_l_tls_offset")
	t.entrySize = bits / 8
	if ok == [5]bool{true, true, true, true, true} && t.entrySize >= uint64(r.Arch.PtrSize) {
		r.tables.known = &t
	}
	return r.tables.known
}

// maxLinked bounds the modules in the dynamic linker's list.
const maxLinked = 1 << 12

// linkMap returns the address of the dynamic linker's description of a module (struct link_map of <link.h>).
func (r *Reader) linkMap(m *target.Module, word func(uint64) (uint64, error)) (uint64, error) {
	_, bias, err := m.Image()
	if err != nil {
		return 0, err
	}
	list := r.Symbols.Named(r.Modules, nil, "_r_debug")
	if len(list) == 0 {
		return 0, errNoThreadLocal
	}
	size := uint64(r.Arch.PtrSize)
	at, err := word(list[0] + size)
	for range maxLinked {
		if err != nil || at == 0 {
			break
		}
		load, err := word(at)
		if err != nil {
			return 0, err
		}
		if load == bias {
			return at, nil
		}
		at, err = word(at + 3*size)
		if err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("%s: not in the dynamic linker's list", m.Path)
}
