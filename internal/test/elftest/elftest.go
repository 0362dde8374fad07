// Package elftest makes small ELF files from sections that tests give. Fuzz tests change the
// contents of sections with it: in a whole file most changes break the headers, and nothing else is
// read.
package elftest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"
)

// File describes an ELF file. Its zero value is a file of 64 bits, little endian.
type File struct {
	Class    elf.Class
	Order    binary.AppendByteOrder
	Machine  elf.Machine
	Type     elf.Type
	Entry    uint64
	Sections []Section // from index 1 on
	Bare     bool      // there are no section headers
}

// Section describes a section, and the segments that have the same bytes.
type Section struct {
	Name    string
	Type    elf.SectionType // the zero value is PROGBITS
	Flags   elf.SectionFlag // with SHF_ALLOC there is a segment that is loaded, as Flags say
	Segment elf.ProgType    // another segment of the same bytes; 0 for none
	Addr    uint64
	Data    []byte
	Size    uint64 // of a section without bytes in the file
	Link    uint32
	Info    uint32
	Align   uint64
	Entsize uint64
}

// Of reads a section of a file that a tool made; the zero value if there is none.
func Of(t testing.TB, f *elf.File, name string) Section {
	t.Helper()
	s := f.Section(name)
	if s == nil {
		return Section{}
	}
	out := Section{Name: name, Type: s.Type, Flags: s.Flags &^ elf.SHF_COMPRESSED, Addr: s.Addr, Size: s.Size, Link: s.Link, Info: s.Info, Align: s.Addralign, Entsize: s.Entsize}
	if s.Type != elf.SHT_NOBITS {
		data, err := s.Data()
		if err != nil {
			t.Fatalf("section %s: %v", name, err)
		}
		out.Data = data
	}
	return out
}

// Some makes a file of some sections of a file that a tool made; names that it does not have are
// left out.
func Some(t testing.TB, f *elf.File, names ...string) *File {
	t.Helper()
	out := &File{Class: f.Class, Order: binary.LittleEndian, Machine: f.Machine, Type: f.Type, Entry: f.Entry}
	if f.Data == elf.ELFDATA2MSB {
		out.Order = binary.BigEndian
	}
	index := make(map[string]uint32)
	for _, name := range names {
		s := Of(t, f, name)
		if s.Name == "" {
			continue
		}
		for _, p := range f.Progs {
			if p.Type != elf.PT_LOAD && p.Type != elf.PT_GNU_RELRO && p.Filesz > 0 && p.Vaddr == s.Addr && p.Filesz == s.Size {
				s.Segment = p.Type
			}
		}
		out.Sections = append(out.Sections, s)
		index[name] = uint32(len(out.Sections))
	}
	for i := range out.Sections {
		s := &out.Sections[i]
		if s.Link != 0 && s.Link < uint32(len(f.Sections)) {
			s.Link = index[f.Sections[s.Link].Name]
		}
		if s.Type == elf.SHT_REL || s.Type == elf.SHT_RELA {
			if s.Info != 0 && s.Info < uint32(len(f.Sections)) {
				s.Info = index[f.Sections[s.Info].Name]
			}
		}
	}
	return out
}

// Without takes away the bytes of sections in the file, as if only their addresses mattered.
func (f *File) Without(names ...string) *File {
	for i := range f.Sections {
		s := &f.Sections[i]
		if slices.Contains(names, s.Name) {
			s.Type, s.Size, s.Data = elf.SHT_NOBITS, uint64(len(s.Data)), nil
		}
	}
	return f
}

// segment is a program header to be written.
type segment struct {
	kind  elf.ProgType
	flags elf.ProgFlag
	of    *Section
	at    int // where its bytes are
}

// Bytes returns the file: its header, the sections' bytes at multiples of 16, the program
// headers, the section headers.
func (f *File) Bytes() []byte {
	b := builder{order: f.Order, wide: f.Class != elf.ELFCLASS32}
	if b.order == nil {
		b.order = binary.LittleEndian
	}
	class, header, progSize, sectionSize := elf.ELFCLASS32, 52, 32, 40
	if b.wide {
		class, header, progSize, sectionSize = elf.ELFCLASS64, 64, 56, 64
	}
	size := header + 1<<10
	for i := range f.Sections {
		size += len(f.Sections[i].Data) + 256
	}
	b.data = make([]byte, header, size)

	names := []byte{0}
	var segments []segment
	at := make([]int, len(f.Sections))
	for i := range f.Sections {
		s := &f.Sections[i]
		b.pad(16)
		at[i] = len(b.data)
		b.data = append(b.data, s.Data...)
		if s.Flags&elf.SHF_ALLOC != 0 {
			flags := elf.PF_R
			if s.Flags&elf.SHF_WRITE != 0 {
				flags |= elf.PF_W
			}
			if s.Flags&elf.SHF_EXECINSTR != 0 {
				flags |= elf.PF_X
			}
			segments = append(segments, segment{elf.PT_LOAD, flags, s, at[i]})
		}
		if s.Segment != 0 {
			segments = append(segments, segment{s.Segment, elf.PF_R, s, at[i]})
		}
	}
	b.pad(16)
	progsAt := len(b.data)
	for _, p := range segments {
		b.program(p)
	}
	sectionsAt, count := 0, 0
	if !f.Bare {
		namesAt := len(b.data)
		for i := range f.Sections {
			names = append(append(names, f.Sections[i].Name...), 0)
		}
		names = append(names, ".shstrtab\x00"...)
		b.data = append(b.data, names...)
		b.pad(16)
		sectionsAt, count = len(b.data), len(f.Sections)+2
		b.data = append(b.data, make([]byte, sectionSize)...)
		name := 1
		for i := range f.Sections {
			b.section(&f.Sections[i], name, at[i])
			name += len(f.Sections[i].Name) + 1
		}
		b.section(&Section{Type: elf.SHT_STRTAB, Data: names}, name, namesAt)
	}

	head := builder{order: b.order, wide: b.wide, data: b.data[:0]}
	head.data = append(head.data, elf.ELFMAG...)
	endian := elf.ELFDATA2LSB
	if bytes.Equal(b.order.AppendUint16(nil, 1), []byte{0, 1}) {
		endian = elf.ELFDATA2MSB
	}
	head.data = append(head.data, byte(class), byte(endian), byte(elf.EV_CURRENT), 0, 0, 0, 0, 0, 0, 0, 0, 0)
	head.half(uint16(f.Type), uint16(f.Machine))
	head.word(uint32(elf.EV_CURRENT))
	head.addr(f.Entry, uint64(progsAt), uint64(sectionsAt))
	head.word(0)
	head.half(uint16(header), uint16(progSize), uint16(len(segments)), uint16(sectionSize), uint16(count), uint16(max(count-1, 0)))
	return b.data
}

type builder struct {
	order binary.AppendByteOrder
	wide  bool
	data  []byte
}

func (b *builder) pad(n int) {
	for len(b.data)%n != 0 {
		b.data = append(b.data, 0)
	}
}

func (b *builder) half(list ...uint16) {
	for _, v := range list {
		b.data = b.order.AppendUint16(b.data, v)
	}
}

func (b *builder) word(list ...uint32) {
	for _, v := range list {
		b.data = b.order.AppendUint32(b.data, v)
	}
}

// addr writes numbers that are as wide as an address.
func (b *builder) addr(list ...uint64) {
	for _, v := range list {
		if b.wide {
			b.data = b.order.AppendUint64(b.data, v)
		} else {
			b.word(uint32(v))
		}
	}
}

func (b *builder) program(p segment) {
	file := uint64(len(p.of.Data))
	b.word(uint32(p.kind))
	if b.wide {
		b.word(uint32(p.flags))
	}
	b.addr(uint64(p.at), p.of.Addr, p.of.Addr, file, max(file, p.of.Size))
	if !b.wide {
		b.word(uint32(p.flags))
	}
	b.addr(max(p.of.Align, 1))
}

func (b *builder) section(s *Section, name, at int) {
	kind := s.Type
	if kind == elf.SHT_NULL {
		kind = elf.SHT_PROGBITS
	}
	size := uint64(len(s.Data))
	if kind == elf.SHT_NOBITS {
		size = s.Size
	}
	b.word(uint32(name), uint32(kind))
	b.addr(uint64(s.Flags), s.Addr, uint64(at), size)
	b.word(s.Link, s.Info)
	b.addr(max(s.Align, 1), s.Entsize)
}
