package value

import (
	"debug/elf"
	"fmt"
	"path/filepath"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// noThreadLocal says why a thread's variable has no address. The text begins as GDB's does.
type noThreadLocal struct{ why string }

func (e noThreadLocal) Error() string { return "Cannot find thread-local storage: " + e.why }

// threadLocal returns the address of a thread's variable at an offset in the thread-local storage
// of the module that the frame runs in (DW_OP_form_tls_address).
func (c *context) threadLocal(offset uint64) (uint64, error) {
	m := c.r.Modules.Find(c.frame.AddressInBlock)
	if m == nil {
		return 0, noThreadLocal{"no file has the frame's code"}
	}
	im, _, err := m.Image()
	if err != nil {
		return 0, err
	}
	if block := threadBlock(im); block != nil && offset >= block.Memsz {
		// GCC's split DWARF has the link-time address instead.
		if offset -= block.Vaddr; offset >= block.Memsz {
			return 0, noThreadLocal{fmt.Sprintf("%s has no variable at this offset", filepath.Base(m.Path))}
		}
	}
	tp, err := c.threadPointer()
	if err != nil {
		return 0, err
	}
	base, err := c.moduleStorage(m, im, tp)
	if err != nil {
		return 0, err
	}
	return c.r.Arch.Wrap(base + offset), nil
}

// moduleStorage returns the address of a thread's storage for a module, if tp is the thread's
// pointer.
func (c *context) moduleStorage(m *target.Module, im *elfimage.Image, tp uint64) (uint64, error) {
	err := error(noThreadLocal{"the C library does not tell where the storage of libraries is"})
	var base uint64
	switch {
	case c.r.glibc() != nil:
		base, err = c.glibcStorage(m, tp)
	case c.r.muslLibrary():
		base, err = c.muslStorage(m, tp)
	}
	if block := threadBlock(im); err != nil && block != nil && isProgram(im) {
		return c.programStorage(block, tp)
	}
	return base, err
}

// isProgram reports whether an image is a program rather than a library. Of programs that can lie
// anywhere, linkers say so since binutils 2.26.
func isProgram(im *elfimage.Image) bool {
	if im.Type == elf.ET_EXEC {
		return true
	}
	dynamic, _, err := im.SectionType(elf.SHT_DYNAMIC)
	if err != nil {
		return false
	}
	for tag, v := range im.Dynamic(dynamic) {
		if tag == elf.DT_FLAGS_1 {
			return elf.DynFlag1(v)&elf.DF_1_PIE != 0
		}
	}
	return false
}

// programStorage returns a thread's storage for the program, which is made of block, as the ABI has
// it whatever the C library. It ends at the thread pointer (variant II of ELF's handling of
// thread-local storage), or follows the C library's own words there (variant I).
func (c *context) programStorage(block *elf.ProgHeader, tp uint64) (uint64, error) {
	align := max(block.Align, 1)
	if align&(align-1) != 0 || block.Memsz > maxObject {
		return 0, noThreadLocal{fmt.Sprintf("the program's has %d bytes, aligned to %d", block.Memsz, block.Align)}
	}
	if own := c.r.Arch.ThreadBlock; own > 0 {
		return tp + own + (block.Vaddr-own)&(align-1), nil
	}
	return tp - block.Memsz - (-block.Memsz-block.Vaddr)&(align-1), nil
}

// threadBlock returns the segment that a thread's storage for an image is made of; nil if there is
// none.
func threadBlock(im *elfimage.Image) *elf.ProgHeader {
	for i := range im.Progs {
		if im.Progs[i].Type == elf.PT_TLS {
			return &im.Progs[i]
		}
	}
	return nil
}

// word reads a word of the C library's data.
func (c *context) word(addr uint64) (uint64, error) {
	b := make([]byte, c.r.Arch.PtrSize)
	addr = c.r.Arch.Wrap(addr)
	if err := readMemory(c.mem, addr, b); err != nil {
		if err = readMemory(c.r.Memory, addr, b); err != nil {
			return 0, err
		}
	}
	return number(b, c.r.order() == bigEndian), nil
}

// notAllocated says that a thread has no storage for a module.
func notAllocated(m *target.Module) error {
	return noThreadLocal{fmt.Sprintf("the thread has not used the storage of %s yet", filepath.Base(m.Path))}
}
