package jit

import (
	"debug/elf"

	"github.com/sfwalk/sfwalk/arch"
)

// layout is where fields of ELF's structures are, and how large these are, bytes.
type layout struct {
	ehdr, phdr, shdr, symbol uint64
	phoff, shoff             uint64 // e_phoff, e_shoff
	phentsize                uint64 // e_phentsize, before e_phnum, e_shentsize and e_shnum
	// In a program header.
	flags, offset, vaddr, filesz, memsz uint64
	shndx, value                        uint64 // in a symbol
}

func layoutOf(a *arch.Arch) *layout {
	if a.Class() == elf.ELFCLASS32 {
		return &layout32
	}
	return &layout64
}

var (
	layout32 = layout{
		ehdr: 52, phdr: 32, shdr: 40, symbol: 16, phoff: 28, shoff: 32, phentsize: 42,
		flags: 24, offset: 4, vaddr: 8, filesz: 16, memsz: 20, shndx: 14, value: 4,
	}
	layout64 = layout{
		ehdr: 64, phdr: 56, shdr: 64, symbol: 24, phoff: 32, shoff: 40, phentsize: 54,
		flags: 4, offset: 8, vaddr: 16, filesz: 32, memsz: 40, shndx: 6, value: 8,
	}
)

// section is a section header.
type section struct {
	b    []byte
	arch *arch.Arch
}

func (s *section) word(i int) uint64 { return s.arch.Word(s.b[8+i*s.arch.PtrSize:]) }

func (s *section) typ() elf.SectionType   { return elf.SectionType(s.arch.Order.Uint32(s.b[4:])) }
func (s *section) flags() elf.SectionFlag { return elf.SectionFlag(s.word(0)) }
func (s *section) addr() uint64           { return s.word(1) }
func (s *section) off() uint64            { return s.word(2) }
func (s *section) size() uint64           { return s.word(3) }
func (s *section) link() uint64           { return uint64(s.arch.Order.Uint32(s.b[8+4*s.arch.PtrSize:])) }
func (s *section) info() uint64           { return uint64(s.arch.Order.Uint32(s.b[12+4*s.arch.PtrSize:])) }

func (s *section) setAddr(addr uint64) { s.arch.PutWord(s.b[8+s.arch.PtrSize:], addr) }
