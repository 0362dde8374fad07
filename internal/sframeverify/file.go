package sframeverify

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe/fromcfi"
	"github.com/sfwalk/sfwalk/format/sframe/object"
)

// File compares the SFrame sections of a file with its call frame information. The sections of a
// relocatable object are at the addresses of [object.Apart]. The error wraps [object.ErrNoSFrame],
// [fromcfi.ErrNoCFI] or [fromcfi.ErrMachine], or says what cannot be opened.
func File(im *elfimage.Image) (*Result, error) {
	f := im.ELF()
	var in Input
	var err error
	if in.CFI, err = fromcfi.Open(im); err != nil {
		return nil, err
	}
	layout := object.Apart(im)
	sections, err := object.Sections(im, layout)
	if err != nil {
		return nil, err
	}
	for _, s := range sections {
		if s.ABI != in.CFI.ABI {
			return nil, fmt.Errorf("section %s is for %v, the file for %v", s.Name, s.ABI, in.CFI.ABI)
		}
		in.SFrame = append(in.SFrame, s.Section)
	}
	in.Text = text(f, layout)
	in.Symbols, err = functions(im, layout)
	r := Compare(&in)
	if err != nil {
		r.Problems = append(r.Problems, err)
	}
	r.Relocatable = f.Type == elf.ET_REL
	for _, s := range in.SFrame {
		r.Sizes.SFrame += uint64(len(s.Data))
	}
	for _, s := range f.Sections {
		if s.Type == elf.SHT_NOBITS {
			continue
		}
		switch s.Name {
		case ".eh_frame":
			r.Sizes.EHFrame += s.Size
		case ".eh_frame_hdr":
			r.Sizes.EHFrameHdr += s.Size
		case ".debug_frame":
			r.Sizes.DebugFrame += s.Size
		}
	}
	return r, nil
}

// text returns the executable code by section or, in a file without section headers, by segment.
func text(f *elfimage.File, l object.Layout) []Span {
	var list []Span
	for i, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Flags&elf.SHF_ALLOC != 0 && l[i]+s.Size > l[i] {
			list = append(list, Span{Range{l[i], l[i] + s.Size}, s.Name})
		}
	}
	if len(f.Sections) == 0 {
		for _, p := range f.Programs {
			if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Vaddr+p.Filesz > p.Vaddr {
				list = append(list, Span{Range{p.Vaddr, p.Vaddr + p.Filesz}, ""})
			}
		}
	}
	slices.SortFunc(list, func(a, b Span) int { return cmp.Compare(a.Lo, b.Lo) })
	for i := 1; i < len(list); i++ {
		list[i].Lo = max(list[i].Lo, list[i-1].Hi)
		list[i].Hi = max(list[i].Hi, list[i].Lo)
	}
	return slices.DeleteFunc(list, func(r Span) bool { return r.Hi <= r.Lo })
}

// functions returns the functions of the symbol table, or else of the dynamic one, in ascending
// order and without duplicates.
func functions(im *elfimage.Image, l object.Layout) ([]Span, error) {
	f := im.ELF()
	for _, kind := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		for _, s := range f.Sections {
			if s.Type != kind || uint64(s.Link) >= uint64(len(f.Sections)) {
				continue
			}
			table, err := im.SectionData(s)
			if err != nil {
				return nil, err
			}
			names, err := im.SectionData(f.Sections[s.Link])
			if err != nil {
				return nil, err
			}
			if list := functionsOf(im, table, string(names), l); len(list) > 0 {
				return list, nil
			}
		}
	}
	return nil, nil
}

// functionsOf returns the functions of one table. Their names share the bytes of names: a small
// file can have thousands of symbols in one text of hundreds of kilobytes.
func functionsOf(im *elfimage.Image, table []byte, names string, l object.Layout) []Span {
	type symbol struct {
		Range
		name uint32
	}
	var symbols []symbol
	size := 24 // of Elf64_Sym
	if im.Class == elf.ELFCLASS32 {
		size = 16
	}
	for ; len(table) >= size; table = table[size:] {
		name, info, section := im.Order.Uint32(table), table[4], im.Order.Uint16(table[6:])
		var value, length uint64
		if im.Class == elf.ELFCLASS32 {
			info, section = table[12], im.Order.Uint16(table[14:])
			value, length = uint64(im.Order.Uint32(table[4:])), uint64(im.Order.Uint32(table[8:]))
		} else {
			value, length = im.Order.Uint64(table[8:]), im.Order.Uint64(table[16:])
		}
		if im.Type == elf.ET_REL && int(section) < len(l) {
			value += l[section]
		}
		t := elf.ST_TYPE(info)
		if (t == elf.STT_FUNC || t == elf.STT_GNU_IFUNC) && elf.SectionIndex(section) != elf.SHN_UNDEF && value+length > value {
			symbols = append(symbols, symbol{Range{value, value + length}, name})
		}
	}
	// Of several functions at one address the longest counts. If several have that length, the
	// first in the table counts.
	slices.SortStableFunc(symbols, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(b.Hi, a.Hi))
	})
	symbols = slices.CompactFunc(symbols, func(a, b symbol) bool { return a.Lo == b.Lo })
	list := make([]Span, len(symbols))
	order := make([]int, len(symbols))
	for i := range symbols {
		list[i].Range, order[i] = symbols[i].Range, i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(symbols[a].name, symbols[b].name) })
	end := 0 // of the last name, which the next one may be a part of
	for _, i := range order {
		from := int(symbols[i].name)
		if from >= len(names) {
			break
		}
		if from > end || end == 0 {
			n := strings.IndexByte(names[from:], 0)
			if n < 0 {
				break
			}
			end = from + n
		}
		list[i].Name = names[from:end]
	}
	return list
}
