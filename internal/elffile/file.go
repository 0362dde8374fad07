package elffile

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"sync"
)

// File has the headers of an ELF file, as debug/elf has them.
type File struct {
	elf.FileHeader
	Sections []*Section
	Programs []elf.ProgHeader
}

// Section is a section of a file. Size is how many bytes it has when they are unpacked
// (SHF_COMPRESSED).
type Section struct{ elf.SectionHeader }

// Section returns the first section with a name, nil if there is none.
func (f *File) Section(name string) *Section {
	for _, s := range f.Sections {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Headers reads the headers of a file of size bytes. The front of a file, and what lies before and
// in its table of sections, are read by one call each: that is mostly all. End gives back the
// memory.
type Headers struct {
	r    io.ReaderAt
	size int64
	*room
}

// room is memory for reading headers, which files share one after the other.
type room struct {
	front, tail       [4096]byte
	frontLen, tailLen int
	tailAt            int64 // offset of tail in the file
}

var rooms = sync.Pool{New: func() any { return new(room) }}

// Begin begins to read the headers of a file of size bytes.
func Begin(r io.ReaderAt, size int64) *Headers {
	h := &Headers{r, size, rooms.Get().(*room)}
	h.frontLen, _ = r.ReadAt(h.front[:min(int64(len(h.front)), size)], 0)
	h.tailLen = 0
	return h
}

// End gives back the memory of [Headers.Bytes].
func (h *Headers) End() {
	rooms.Put(h.room)
	h.room = nil
}

// Bytes returns n bytes at an offset. They are valid until End is called.
func (h *Headers) Bytes(off int64, n uint64) ([]byte, error) {
	if off >= 0 && n <= uint64(h.frontLen) && off <= int64(h.frontLen)-int64(n) {
		return h.front[off : off+int64(n)], nil
	}
	if at := off - h.tailAt; at >= 0 && n <= uint64(h.tailLen) && at <= int64(h.tailLen)-int64(n) {
		return h.tail[at : at+int64(n)], nil
	}
	return ReadPart(h.r, off, n)
}

// table is Bytes for the table of sections. The names lie before it in files of most linkers.
func (h *Headers) table(off int64, n uint64) ([]byte, error) {
	if n < uint64(len(h.tail)) {
		from := max(off-int64(uint64(len(h.tail))-n), 0)
		h.tailAt = from
		h.tailLen, _ = h.r.ReadAt(h.tail[:off+int64(n)-from], from)
	}
	return h.Bytes(off, n)
}

// ReadAt implements [io.ReaderAt].
func (h *Headers) ReadAt(p []byte, off int64) (int, error) {
	if off >= 0 && off+int64(len(p)) <= int64(h.frontLen) {
		return copy(p, h.front[off:]), nil
	}
	return h.r.ReadAt(p, off)
}

// Read reads the headers. If section headers are missing or broken, the file has no sections, and
// broken says why.
func (h *Headers) Read() (f *File, broken, err error) {
	eh, err := ReadHeader(h)
	if err != nil {
		return nil, nil, err
	}
	f = &File{}
	if err = eh.ident(&f.FileHeader, h.front[:h.frontLen]); err != nil {
		return nil, nil, err
	}
	if f.Programs, err = eh.Programs(h); err != nil {
		return nil, nil, err
	}
	if eh.ShOff > 0 {
		f.Sections, broken = eh.sections(h)
	}
	return f, broken, nil
}

// ident fills in the file header from its bytes.
func (h *Header) ident(f *elf.FileHeader, b []byte) error {
	size := 52
	if h.Is64 {
		size = 64
	}
	if len(b) < size {
		return fmt.Errorf("%d bytes of the file header: %w", len(b), io.ErrUnexpectedEOF)
	}
	f.Class, f.Data, f.Version = elf.Class(b[elf.EI_CLASS]), elf.Data(b[elf.EI_DATA]), elf.Version(b[elf.EI_VERSION])
	f.OSABI, f.ABIVersion, f.ByteOrder = elf.OSABI(b[elf.EI_OSABI]), b[elf.EI_ABIVERSION], h.Order
	f.Type, f.Machine = elf.Type(h.Order.Uint16(b[16:])), elf.Machine(h.Order.Uint16(b[18:]))
	if f.Entry = uint64(h.Order.Uint32(b[24:])); h.Is64 {
		f.Entry = h.Order.Uint64(b[24:])
	}
	switch version := elf.Version(h.Order.Uint32(b[20:])); {
	case f.Class != elf.ELFCLASS32 && f.Class != elf.ELFCLASS64:
		return fmt.Errorf("unknown class %d", f.Class)
	case f.Data != elf.ELFDATA2LSB && f.Data != elf.ELFDATA2MSB:
		return fmt.Errorf("unknown byte order %d", f.Data)
	case f.Version != elf.EV_CURRENT || version != f.Version:
		return fmt.Errorf("unknown versions %d and %d", f.Version, version)
	}
	return nil
}

// sections reads the section headers and names.
func (h *Header) sections(head *Headers) ([]*Section, error) {
	table, text, count, err := h.sectionTable(head, head.size)
	if err != nil {
		return nil, err
	}
	all, list := make([]Section, count), make([]*Section, count)
	names := string(text)
	for i := range all {
		b := table[i*h.shentsize:]
		s := &all[i]
		s.SectionHeader = h.header(b)
		list[i] = s
		if int64(s.Offset) < 0 || int64(s.FileSize) < 0 {
			return nil, fmt.Errorf("%w: section %d: %#x bytes at offset %#x", errSections, i, s.FileSize, s.Offset)
		}
		if s.Flags&elf.SHF_COMPRESSED != 0 {
			if err := h.unpacked(head, s); err != nil {
				return nil, fmt.Errorf("%w: section %d: %w", errSections, i, err)
			}
		}
		if text == nil {
			continue
		}
		name := h.Order.Uint32(b)
		length := -1
		if uint64(name) < uint64(len(text)) {
			length = bytes.IndexByte(text[name:], 0)
		}
		if length < 0 {
			return nil, fmt.Errorf("%w: section %d: its name is at %#x, of %#x bytes", errSections, i, name, len(text))
		}
		s.Name = names[name : int(name)+length]
	}
	return list, nil
}

// header returns a section header without the name.
func (h *Header) header(b []byte) (s elf.SectionHeader) {
	o := h.Order
	s.Type = elf.SectionType(o.Uint32(b[4:]))
	if h.Is64 {
		s.Flags, s.Addr, s.Offset, s.FileSize = elf.SectionFlag(o.Uint64(b[8:])), o.Uint64(b[16:]), o.Uint64(b[24:]), o.Uint64(b[32:])
		s.Link, s.Info, s.Addralign, s.Entsize = o.Uint32(b[40:]), o.Uint32(b[44:]), o.Uint64(b[48:]), o.Uint64(b[56:])
	} else {
		word := func(at int) uint64 { return uint64(o.Uint32(b[at:])) }
		s.Flags, s.Addr, s.Offset, s.FileSize = elf.SectionFlag(word(8)), word(12), word(16), word(20)
		s.Link, s.Info, s.Addralign, s.Entsize = o.Uint32(b[24:]), o.Uint32(b[28:]), word(32), word(36)
	}
	s.Size = s.FileSize
	return s
}

// unpacked reads the header of a compressed section (Elf32_Chdr, Elf64_Chdr).
func (h *Header) unpacked(head *Headers, s *Section) error {
	size := uint64(12)
	if h.Is64 {
		size = 24
	}
	if s.FileSize < size {
		return fmt.Errorf("%#x compressed bytes", s.FileSize)
	}
	b, err := head.Bytes(int64(s.Offset), size)
	if err != nil {
		return err
	}
	if h.Is64 {
		s.Size, s.Addralign = h.Order.Uint64(b[8:]), h.Order.Uint64(b[16:])
	} else {
		s.Size, s.Addralign = uint64(h.Order.Uint32(b[4:])), uint64(h.Order.Uint32(b[8:]))
	}
	return nil
}
