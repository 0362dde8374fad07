package jit

import (
	"debug/elf"
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
)

// relocatable is a relocatable file whose section headers have run-time addresses. The code and
// data are relocated where they lie in the process, but not in the file itself.
type relocatable struct {
	data []byte
	arch *arch.Arch
	*layout
	left int // how many relocations may still be applied, for overlapping tables would cost too much
}

// relocate changes all addresses in a relocatable file to their run-time values: the addresses of
// symbols, which are relative to their sections, and the addresses that relocations apply to. near
// is an address from which the code can be reached.
func relocate(data []byte, a *arch.Arch, near uint64) {
	f := &relocatable{data, a, layoutOf(a), len(data) / (2 * a.PtrSize)}
	for i := uint64(0); f.section(i) != nil; i++ {
		s := f.section(i)
		// A table that was not placed may get any address, for what it holds is relative to it.
		if s.flags()&(elf.SHF_ALLOC|elf.SHF_EXECINSTR) == elf.SHF_ALLOC && s.addr() == 0 {
			s.setAddr(near)
		}
	}
	for i := uint64(0); f.section(i) != nil; i++ {
		if s := f.section(i); s.typ() == elf.SHT_SYMTAB {
			f.symbols(f.contents(s))
			break // there is one
		}
	}
	for i := uint64(0); f.section(i) != nil; i++ {
		if s := f.section(i); s.typ() == elf.SHT_RELA || s.typ() == elf.SHT_REL {
			f.apply(s)
		}
	}
}

// section returns the section header with index i, nil if there is none.
func (f *relocatable) section(i uint64) *section {
	o := f.arch.Order
	off, n, size := f.arch.Word(f.data[f.shoff:]), uint64(o.Uint16(f.data[f.phentsize+6:])), uint64(len(f.data))
	if i >= n || off == 0 || off > size || (i+1)*f.shdr > size-off || uint64(o.Uint16(f.data[f.phentsize+4:])) != f.shdr {
		return nil
	}
	return &section{f.data[off+i*f.shdr:][:f.shdr], f.arch}
}

// contents returns a section's bytes, nil if the file has none for it.
func (f *relocatable) contents(s *section) []byte {
	size := uint64(len(f.data))
	if s.typ() == elf.SHT_NOBITS || s.off() > size || s.size() > size-s.off() {
		return nil
	}
	return f.data[s.off():][:s.size()]
}

// symbols adds to each symbol's value the address of its section.
func (f *relocatable) symbols(table []byte) {
	o := f.arch.Order
	for ; uint64(len(table)) >= f.symbol; table = table[f.symbol:] {
		index := o.Uint16(table[f.shndx:])
		if index == uint16(elf.SHN_UNDEF) || index >= uint16(elf.SHN_LORESERVE) {
			continue
		}
		if s := f.section(uint64(index)); s != nil {
			value := table[f.value:]
			f.arch.PutWord(value, f.arch.Word(value)+s.addr())
		}
	}
}

// apply applies the relocations for a section. It skips relocations for code, which lies elsewhere.
func (f *relocatable) apply(rela *section) {
	to, symtab := f.section(rela.info()), f.section(rela.link())
	if to == nil || symtab == nil || symtab.typ() != elf.SHT_SYMTAB || to.flags()&(elf.SHF_EXECINSTR|elf.SHF_COMPRESSED) != 0 {
		return
	}
	if t := to.typ(); t == elf.SHT_SYMTAB || t == elf.SHT_RELA || t == elf.SHT_REL {
		return
	}
	o := f.arch.Order
	symbols, data := f.contents(symtab), f.contents(to)
	fromSection := to.flags()&elf.SHF_ALLOC != 0 && countsFromSection(data, o)
	list := &elfimage.Image{Class: f.arch.Class(), Order: o}
	for entry := range list.Relocations(f.contents(rela), rela.typ() == elf.SHT_RELA) {
		if f.left == 0 {
			break
		}
		f.left--
		off := entry.Addr
		r, known := elfimage.RelocationOf(f.arch.Machine, entry.Type)
		at := uint64(entry.Symbol) * f.symbol
		if !known || at+f.symbol > uint64(len(symbols)) || off > uint64(len(data)) || r.Size > uint64(len(data))-off {
			continue
		}
		addend := entry.Addend
		if entry.InPlace && r.Size == 8 {
			addend = o.Uint64(data[off:])
		} else if entry.InPlace {
			addend = uint64(o.Uint32(data[off:]))
		}
		value := f.arch.Word(symbols[at+f.value:]) + addend
		if r.PCRel {
			value -= to.addr()
			if !fromSection {
				value -= off
			}
		}
		if r.Size == 8 {
			o.PutUint64(data[off:], value)
		} else {
			o.PutUint32(data[off:], uint32(value))
		}
	}
}

// countsFromSection reports whether a section is SFrame whose start addresses count from the
// section's beginning: V1, and V2 without SFRAME_F_FDE_FUNC_START_PCREL. Assemblers write
// relocations that count from the field all the same, and linkers correct that.
func countsFromSection(data []byte, o binary.ByteOrder) bool {
	const magic, v1, v2, pcrel = 0xdee2, 1, 2, 4
	if len(data) < 4 || o.Uint16(data) != magic {
		return false
	}
	return data[2] == v1 || data[2] == v2 && data[3]&pcrel == 0
}
