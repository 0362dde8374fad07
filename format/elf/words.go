package elf

import (
	"debug/elf"
	"iter"
)

// WordSize returns the size of a word of the file's class, in bytes: an address has that size.
func (im *Image) WordSize() uint64 {
	if im.Class == elf.ELFCLASS32 {
		return 4
	}
	return 8
}

// Word returns the word that p, of at least [Image.WordSize] bytes, begins with.
func (im *Image) Word(p []byte) uint64 {
	if im.Class == elf.ELFCLASS32 {
		return uint64(im.Order.Uint32(p))
	}
	return im.Order.Uint64(p)
}

// Dynamic yields the entries of a dynamic section with the contents data, in order.
func (im *Image) Dynamic(data []byte) iter.Seq2[elf.DynTag, uint64] {
	return func(yield func(elf.DynTag, uint64) bool) {
		for size := im.WordSize(); uint64(len(data)) >= 2*size; data = data[2*size:] {
			if !yield(elf.DynTag(im.Word(data)), im.Word(data[size:])) {
				return
			}
		}
	}
}

// IsProgram reports whether the file is a program, and no library. Of programs that can lie
// anywhere, linkers say so since binutils 2.26.
func (im *Image) IsProgram() bool {
	if im.Type == elf.ET_EXEC {
		return true
	}
	dynamic, _, err := im.Segment(elf.PT_DYNAMIC)
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

// DynamicRelocation is an entry of a table of relocations that the dynamic linker makes.
type DynamicRelocation struct {
	Addr   uint64 // link-time address of the word
	Symbol uint32 // index in the dynamic symbol table; 0 for none
	Type   uint32
	Addend uint64
	// InPlace says that the table has no addends (SHT_REL): the addend is the word itself.
	InPlace bool
}

// RelocationSize returns the size of an entry of a table of relocations, bytes. addends says that
// entries have addends (SHT_RELA).
func (im *Image) RelocationSize(addends bool) uint64 {
	if addends {
		return 3 * im.WordSize()
	}
	return 2 * im.WordSize()
}

// Relocations yields the entries of a table of relocations with the contents data, in order.
func (im *Image) Relocations(data []byte, addends bool) iter.Seq[DynamicRelocation] {
	return func(yield func(DynamicRelocation) bool) {
		word := im.WordSize()
		for size := im.RelocationSize(addends); uint64(len(data)) >= size; data = data[size:] {
			info := im.Word(data[word:])
			r := DynamicRelocation{Addr: im.Word(data), Symbol: uint32(info >> 32), Type: uint32(info), InPlace: !addends}
			if word == 4 {
				r.Symbol, r.Type = uint32(info>>8), uint32(info&0xff)
			}
			if addends {
				r.Addend = im.Word(data[2*word:])
			}
			if !yield(r) {
				return
			}
		}
	}
}
