package verify

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/sframe/fromcfi"
	"github.com/sfwalk/sfwalk/sframe/object"
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
	in.Symbols = functions(f, layout)
	r := Compare(&in)
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
func text(f *elf.File, l object.Layout) []Span {
	var list []Span
	for i, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Flags&elf.SHF_ALLOC != 0 && l[i]+s.Size > l[i] {
			list = append(list, Span{Range{l[i], l[i] + s.Size}, s.Name})
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

// functions returns the functions of the symbol table, one for each address.
func functions(f *elf.File, l object.Layout) []Span {
	const ifunc elf.SymType = 10 // STT_GNU_IFUNC
	symbols, err := f.Symbols()
	if err != nil || len(symbols) == 0 {
		symbols, _ = f.DynamicSymbols() // none if that cannot be read either
	}
	var list []Span
	for _, s := range symbols {
		t := elf.ST_TYPE(s.Info)
		if f.Type == elf.ET_REL && int(s.Section) < len(l) {
			s.Value += l[s.Section]
		}
		if (t == elf.STT_FUNC || t == ifunc) && s.Section != elf.SHN_UNDEF && s.Value+s.Size > s.Value {
			list = append(list, Span{Range{s.Value, s.Value + s.Size}, s.Name})
		}
	}
	// Of several functions at one address the longest counts. Of those of one length the first in the
	// table counts.
	slices.SortStableFunc(list, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(b.Hi, a.Hi))
	})
	return slices.CompactFunc(list, func(a, b Span) bool { return a.Lo == b.Lo })
}
