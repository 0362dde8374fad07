package elffile

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
)

var errSections = errors.New("section headers cannot be read")

// CheckSections checks the section headers and the sections' names, which debug/elf reads at once. Both
// must be there. They must not be compressed, for debug/elf expands compressed names without a bound.
// Names may share bytes as linkers let them, one with the end of another, but not without a bound.
func (h *Header) CheckSections(r io.ReaderAt, size int64) error {
	if h.ShOff == 0 {
		return nil
	}
	headerSize := uint64(40)
	if h.Is64 {
		headerSize = 64
	}
	count, names := uint64(h.shnum), uint64(h.shstrndx)
	if uint64(h.shentsize) < headerSize || h.ShOff > uint64(size) {
		return fmt.Errorf("%w: %d bytes each at offset %#x, in a file of %#x bytes", errSections, h.shentsize, h.ShOff, size)
	}
	if first, err := ReadPart(r, int64(h.ShOff), headerSize); err != nil {
		return fmt.Errorf("%w: %w", errSections, err)
	} else if s := h.section(first); count == 0 || h.shstrndx == int(elf.SHN_XINDEX) { // too many for the file header
		if count == 0 {
			count = s.size
		}
		if h.shstrndx == int(elf.SHN_XINDEX) {
			names = uint64(s.link)
		}
	}
	if count > (uint64(size)-h.ShOff)/uint64(h.shentsize) {
		return fmt.Errorf("%w: %d of %d bytes each at offset %#x, in a file of %#x bytes", errSections, count, h.shentsize, h.ShOff, size)
	}
	table, err := ReadPart(r, int64(h.ShOff), count*uint64(h.shentsize))
	if err != nil {
		return fmt.Errorf("%w: %w", errSections, err)
	}
	at := func(i uint64) section { return h.section(table[i*uint64(h.shentsize):]) }
	if names == 0 {
		return nil // debug/elf reads no names
	}
	if names >= count { // debug/elf would panic
		return fmt.Errorf("%w: their names are in section %d of %d", errSections, names, count)
	}
	n := at(names)
	if n.flags&uint64(elf.SHF_COMPRESSED) != 0 || n.offset > uint64(size) || n.size > uint64(size)-n.offset {
		return fmt.Errorf("%w: names of %#x bytes at offset %#x, flags %#x", errSections, n.size, n.offset, n.flags)
	}
	text, err := ReadPart(r, int64(n.offset), n.size)
	if err != nil {
		return fmt.Errorf("%w: names: %w", errSections, err)
	}
	const share = 8 // linkers' names come to some two times their table
	empty, left := uint64(0), share*len(text)+1<<16
	for i := range count {
		s := at(i)
		if s.kind == uint32(elf.SHT_NULL) {
			empty++
		}
		if uint64(s.name) < uint64(len(text)) {
			left -= max(0, bytes.IndexByte(text[s.name:], 0))
		}
		if left < 0 || empty > count/2+1<<10 {
			return fmt.Errorf("%w: %d of them, %d are empty, with %#x bytes of names", errSections, count, empty, len(text))
		}
	}
	return nil
}

// section is a part of a section header.
type section struct {
	name, kind, link    uint32
	flags, offset, size uint64
}

func (h *Header) section(b []byte) section {
	o := h.Order
	if h.Is64 {
		return section{o.Uint32(b), o.Uint32(b[4:]), o.Uint32(b[40:]), o.Uint64(b[8:]), o.Uint64(b[24:]), o.Uint64(b[32:])}
	}
	return section{o.Uint32(b), o.Uint32(b[4:]), o.Uint32(b[24:]), uint64(o.Uint32(b[8:])), uint64(o.Uint32(b[16:])), uint64(o.Uint32(b[20:]))}
}

// New is [elf.NewFile] for a file of size bytes that is not trusted. It reads through [Solid].
func New(r io.ReaderAt, size int64) (*elf.File, error) {
	r = Solid(io.NewSectionReader(r, 0, size))
	h, err := ReadHeader(r)
	switch {
	case err == nil:
		if err := h.CheckSections(r, size); err != nil {
			return nil, err
		}
	case size < int64(len(elf.ELFMAG)): // debug/elf says no more than EOF
		return nil, ErrNotELF
	}
	return elf.NewFile(h.WithoutMany(r))
}
