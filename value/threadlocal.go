package value

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/sfwalk/sfwalk/internal/threadlocal"
)

// threadLocal returns the address of a thread's variable at an offset in the thread-local storage
// of the module that the frame runs in (DW_OP_form_tls_address).
func (c *context) threadLocal(offset uint64) (uint64, error) {
	m := c.r.Modules.Find(c.frame.AddressInBlock)
	if m == nil {
		return 0, threadlocal.Error{Why: "no file has the frame's code"}
	}
	im, _, err := m.Image()
	if err != nil {
		return 0, err
	}
	if block := threadlocal.Block(im); block != nil && offset >= block.Memsz {
		// GCC's split DWARF has the link-time address instead.
		if offset -= block.Vaddr; offset >= block.Memsz {
			return 0, threadlocal.Error{Why: fmt.Sprintf("%s has no variable at this offset", filepath.Base(m.Path))}
		}
	}
	tp, err := c.threadPointer()
	if err != nil {
		return 0, err
	}
	base, err := c.r.threadStorage().Storage(c.mem, m, tp)
	if memory, ok := errors.AsType[threadlocal.MemoryError](err); ok {
		err = &MemoryError{memory.Addr}
	}
	if err != nil {
		return 0, err
	}
	return c.r.Arch.Wrap(base + offset), nil
}

// threadStorage returns what finds the storage of threads.
func (r *Reader) threadStorage() *threadlocal.Finder {
	if r.storage == nil {
		r.storage = threadlocal.New(r.Arch, r.Memory, r.Modules)
	}
	return r.storage
}

// threadPointer returns the address that a thread's storage is found by. No function changes it.
func (c *context) threadPointer() (tp uint64, err error) {
	f := c.frame.Physical
	if f == nil {
		return 0, errNoThreadPointer
	}
	for next := f; next != nil && next.Level >= 0; next = next.Next() { // frame 0 has all registers
		f = next
	}
	if tp, ok := threadlocal.Pointer(c.r.Arch, f); ok {
		return tp, nil
	}
	if tp, ok := c.r.threadStorage().ListedPointer(f.Stack().Thread); ok {
		return tp, nil
	}
	return 0, errNoThreadPointer
}

var errNoThreadPointer = threadlocal.Error{Why: "the thread pointer is not known"}
