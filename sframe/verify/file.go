package verify

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sfwalk/sfwalk/sframe"
	"github.com/sfwalk/sfwalk/sframe/fromcfi"
)

// ErrNoSFrame: the file has no SFrame section.
var ErrNoSFrame = errors.New("no SFrame section")

const (
	shtGNUSFrame elf.SectionType = 0x6ffffff4
	ptGNUSFrame  elf.ProgType    = 0x6474e554
)

// File compares what a file says. The error wraps [ErrNoSFrame],
// [fromcfi.ErrNoCFI] or [fromcfi.ErrMachine], or says what cannot be opened.
func File(f *elf.File) (*Result, error) {
	var in Input
	var err error
	if in.CFI, err = fromcfi.Open(f); err != nil {
		return nil, err
	}
	if in.SFrame, err = sections(f); err != nil {
		return nil, err
	}
	for _, s := range in.SFrame {
		if s.ABI != in.CFI.ABI {
			return nil, fmt.Errorf("the SFrame section is for %v, the file for %v", s.ABI, in.CFI.ABI)
		}
	}
	in.Text = text(f)
	in.Symbols = functions(f)
	r := Compare(&in)
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

// sections opens the SFrame sections of a linked file: by name, since older
// linkers give them no type of their own, by type, or by segment.
func sections(f *elf.File) ([]*sframe.Section, error) {
	var list []*sframe.Section
	add := func(r io.Reader, addr uint64, where string) error {
		data, err := io.ReadAll(r)
		if err != nil {
			return fmt.Errorf("read %s: %w", where, err)
		}
		s, err := sframe.Open(data, addr)
		if err != nil {
			return fmt.Errorf("open %s: %w", where, err)
		}
		s.Data = s.Data[:size(s)]
		list = append(list, s)
		return nil
	}
	for _, s := range f.Sections {
		if (s.Name == ".sframe" || s.Type == shtGNUSFrame) && s.Type != elf.SHT_NOBITS {
			if err := add(s.Open(), s.Addr, "section "+s.Name); err != nil {
				return nil, err
			}
		}
	}
	if len(list) > 0 {
		return list, nil
	}
	for _, p := range f.Progs {
		if p.Type == ptGNUSFrame {
			if err := add(p.Open(), p.Vaddr, "segment PT_GNU_SFRAME"); err != nil {
				return nil, err
			}
			return list, nil
		}
	}
	return nil, ErrNoSFrame
}

// size returns the size of a section in bytes, without what follows its end.
func size(s *sframe.Section) uint64 {
	const header = 28
	return min(header+uint64(len(s.AuxHeader))+uint64(s.FREOff)+uint64(s.FRELen), uint64(len(s.Data)))
}

// text returns where the executable code is: by section or, in a file without
// section headers, by segment.
func text(f *elf.File) []Span {
	var list []Span
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Flags&elf.SHF_ALLOC != 0 && s.Addr+s.Size > s.Addr {
			list = append(list, Span{Range{s.Addr, s.Addr + s.Size}, s.Name})
		}
	}
	if len(f.Sections) == 0 {
		for _, p := range f.Progs {
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

// functions returns the functions of the symbol tables, one for an address.
func functions(f *elf.File) []Span {
	const ifunc elf.SymType = 10 // STT_GNU_IFUNC
	symbols, err := f.Symbols()
	if err != nil || len(symbols) == 0 {
		symbols, _ = f.DynamicSymbols() // none if that cannot be read either
	}
	var list []Span
	for _, s := range symbols {
		t := elf.ST_TYPE(s.Info)
		if (t == elf.STT_FUNC || t == ifunc) && s.Section != elf.SHN_UNDEF && s.Size > 0 && s.Value+s.Size > s.Value {
			list = append(list, Span{Range{s.Value, s.Value + s.Size}, s.Name})
		}
	}
	// Of names for one address the longest function's counts, then the first in
	// the table.
	slices.SortStableFunc(list, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(b.Hi, a.Hi))
	})
	return slices.CompactFunc(list, func(a, b Span) bool { return a.Lo == b.Lo })
}
