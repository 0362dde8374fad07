package elf

import (
	"bytes"
	"debug/elf"
	"io"
	"slices"

	"github.com/sfwalk/sfwalk/internal/elffile"
)

// MayHaveSymbol reports whether a symbol table may have a symbol called name: whether one of the
// table's strings ends with it. MayHaveSymbol takes a fraction of the time and memory of
// [Image.Lookup]. Use it for names that most files lack.
func (im *Image) MayHaveSymbol(name string) bool {
	want := append([]byte(name), 0)
	tables := false
	sections := im.ELF().Sections
	for _, t := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		i := slices.IndexFunc(sections, func(s *Section) bool { return s.Type == t })
		if i < 0 {
			continue
		}
		tables = true
		if link := uint64(sections[i].Link); link < uint64(len(sections)) && im.contains(sections[link], want) {
			return true
		}
	}
	if tables {
		return false
	}
	_, names, _ := im.dynamicSymbols()
	return bytes.Contains(names, want)
}

// contains reports whether a section may contain want. A compressed section always may.
func (im *Image) contains(s *Section, want []byte) bool {
	const block = 2 * elffile.HoleSize // or a hole would not be seen
	if s.Flags&elf.SHF_COMPRESSED != 0 {
		return true
	}
	if s.Type == elf.SHT_NOBITS || s.Offset > uint64(im.size) {
		return false
	}
	r := io.NewSectionReader(im.r, int64(s.Offset), int64(min(s.FileSize, uint64(im.size)-s.Offset)))
	buf := make([]byte, min(block, r.Size())+int64(len(want)))
	have := 0 // the end of the block before
	for {
		n, err := r.Read(buf[have:])
		have += n
		if bytes.Contains(buf[:have], want) {
			return true
		}
		if err != nil {
			return false
		}
		keep := min(have, len(want)-1)
		copy(buf, buf[have-keep:have])
		have = keep
	}
}
