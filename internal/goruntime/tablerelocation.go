package goruntime

import (
	"debug/elf"
	"iter"
)

// relocation says that the dynamic linker writes the load bias plus addend to where.
type relocation struct{ where, addend uint64 }

// relocations yields the relative relocations of a file that have an addend of their own
// (DT_RELA): what they are for has no value in the file. In memory they are done.
func (f *finder) relocations() iter.Seq[relocation] {
	if !f.read {
		f.read = true
		if f.im.Type == elf.ET_DYN && f.im.File() != nil {
			f.relocs = f.readRelocations()
		}
	}
	return func(yield func(relocation) bool) {
		order := f.im.Order
		if f.im.Class == elf.ELFCLASS32 {
			for p := f.relocs; len(p) >= 12; p = p[12:] {
				if order.Uint32(p[4:])>>8 == 0 && !yield(relocation{uint64(order.Uint32(p)), uint64(order.Uint32(p[8:]))}) {
					return
				}
			}
			return
		}
		for p := f.relocs; len(p) >= 24; p = p[24:] {
			if order.Uint64(p[8:])>>32 == 0 && !yield(relocation{order.Uint64(p), order.Uint64(p[16:])}) {
				return
			}
		}
	}
}

// readRelocations reads the table that PT_DYNAMIC points to.
func (f *finder) readRelocations() []byte {
	dyn, _, err := f.im.Segment(elf.PT_DYNAMIC)
	if err != nil {
		return nil
	}
	order := f.im.Order
	var at, size uint64
	take := func(tag elf.DynTag, v uint64) {
		switch tag {
		case elf.DT_RELA:
			at = v
		case elf.DT_RELASZ:
			size = v
		}
	}
	if f.im.Class == elf.ELFCLASS32 {
		for ; len(dyn) >= 8; dyn = dyn[8:] {
			take(elf.DynTag(order.Uint32(dyn)), uint64(order.Uint32(dyn[4:])))
		}
	} else {
		for ; len(dyn) >= 16; dyn = dyn[16:] {
			take(elf.DynTag(order.Uint64(dyn)), order.Uint64(dyn[8:]))
		}
	}
	return f.im.Loaded(at, size)
}

// relocatedTo yields where the dynamic linker writes the address that addr has at run time.
func (f *finder) relocatedTo(addr uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for r := range f.relocations() {
			if r.addend == addr && !yield(r.where) {
				return
			}
		}
	}
}

// relocate does relocations in data, the file's bytes from addr on, as if its load bias were 0.
func (f *finder) relocate(data []byte, addr uint64) {
	size := uint64(8)
	if f.im.Class == elf.ELFCLASS32 {
		size = 4
	}
	for r := range f.relocations() {
		at := r.where - addr
		if r.where < addr || at > uint64(len(data)) || uint64(len(data))-at < size {
			continue
		}
		if size == 4 {
			f.im.Order.PutUint32(data[at:], uint32(r.addend))
		} else {
			f.im.Order.PutUint64(data[at:], r.addend)
		}
	}
}
