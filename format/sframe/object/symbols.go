package object

import (
	"debug/elf"
	"errors"
	"fmt"
)

// symbolSize is the size of Elf64_Sym, symbolSize32 the size of Elf32_Sym, the smaller one.
const (
	symbolSize   = 24
	symbolSize32 = 16
)

// symbols is a relocatable object's symbol table, laid out.
type symbols struct {
	f      *elf.File
	table  *elf.Section
	extend *elf.Section // SHT_SYMTAB_SHNDX: section indexes of more than 16 bits; nil if there is none
	layout Layout
}

// newSymbols returns the symbol table in section number link. The table is read symbol by symbol,
// since a file may have many tables that claim the same bytes.
func newSymbols(f *elf.File, link uint32, l Layout) (*symbols, error) {
	if uint64(link) >= uint64(len(f.Sections)) || f.Sections[link].Type != elf.SHT_SYMTAB {
		return nil, fmt.Errorf("its link %d is no symbol table", link)
	}
	s := &symbols{f: f, table: f.Sections[link], layout: l}
	for _, extend := range f.Sections {
		if extend.Type == elf.SHT_SYMTAB_SHNDX && extend.Link == link {
			s.extend = extend
		}
	}
	return s, nil
}

// addr returns the address of symbol i, 0 if the file does not define it. The value in the table
// counts from the symbol's section.
func (s *symbols) addr(i uint32) (uint64, error) {
	var b [symbolSize]byte
	size := symbolSize
	if s.f.Class == elf.ELFCLASS32 {
		size = symbolSize32
	}
	if err := element(s.table, i, b[:size]); err != nil {
		return 0, fmt.Errorf("symbol %d of %d: %w", i, s.table.Size/uint64(size), err)
	}
	section := uint32(s.f.ByteOrder.Uint16(b[6:]))
	value := s.f.ByteOrder.Uint64(b[8:])
	if size == symbolSize32 {
		section, value = uint32(s.f.ByteOrder.Uint16(b[14:])), uint64(s.f.ByteOrder.Uint32(b[4:]))
	}
	switch elf.SectionIndex(section) {
	case elf.SHN_UNDEF, elf.SHN_COMMON:
		return 0, nil
	case elf.SHN_ABS:
		return value, nil
	case elf.SHN_XINDEX:
		if s.extend == nil {
			return 0, fmt.Errorf("symbol %d: its section index is in an SHT_SYMTAB_SHNDX section, which is missing", i)
		}
		if err := element(s.extend, i, b[:4]); err != nil {
			return 0, fmt.Errorf("symbol %d: section %s: %w", i, s.extend.Name, err)
		}
		section = s.f.ByteOrder.Uint32(b[:])
	}
	if uint64(section) >= uint64(len(s.layout)) {
		return 0, fmt.Errorf("symbol %d: section index %d of %d", i, section, len(s.layout))
	}
	return s.layout[section] + value, nil
}

// element reads element i of a table whose elements have the size of p.
func element(table *elf.Section, i uint32, p []byte) error {
	if table.ReaderAt == nil {
		return errors.New("a compressed table")
	}
	_, err := table.ReadAt(p, int64(i)*int64(len(p)))
	return err
}
