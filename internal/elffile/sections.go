package elffile

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
)

var errSections = errors.New("section headers cannot be read")

// CheckSections checks the section headers and the sections' names, which debug/elf reads at once.
// Both must be there. They must not be compressed, for debug/elf expands compressed names without a
// bound. Names may share bytes as linkers let them, one with the end of another, but not without a
// bound.
func (h *Header) CheckSections(r io.ReaderAt, size int64) error {
	if h.ShOff == 0 {
		return nil
	}
	head := Begin(r, size)
	defer head.End()
	_, _, _, err := h.sectionTable(head, size)
	return err
}

// sectionTable reads the section headers, count of shentsize bytes each, and the sections' names;
// these are nil if there are none. It checks what debug/elf and CheckSections check.
func (h *Header) sectionTable(r *Headers, size int64) (table, text []byte, count int, err error) {
	headerSize := uint64(40)
	if h.Is64 {
		headerSize = 64
	}
	n, names := uint64(h.shnum), uint64(h.shstrndx)
	if uint64(h.shentsize) < headerSize || h.ShOff > uint64(size) {
		return nil, nil, 0, fmt.Errorf("%w: %d bytes each at offset %#x, in a file of %#x bytes", errSections, h.shentsize, h.ShOff, size)
	}
	if n == 0 { // too many for the file header
		first, err := r.Bytes(int64(h.ShOff), headerSize)
		if err != nil {
			return nil, nil, 0, fmt.Errorf("%w: %w", errSections, err)
		}
		s := h.header(first)
		if n = s.FileSize; h.shstrndx == int(elf.SHN_XINDEX) {
			if names = uint64(s.Link); names < uint64(elf.SHN_LORESERVE) {
				return nil, nil, 0, fmt.Errorf("%w: their names are in section %d of many", errSections, names)
			}
		}
		if s.Type != elf.SHT_NULL || n < uint64(elf.SHN_LORESERVE) {
			return nil, nil, 0, fmt.Errorf("%w: %d of them, by a section of type %#x", errSections, n, uint32(s.Type))
		}
	}
	if n > (uint64(size)-h.ShOff)/uint64(h.shentsize) {
		return nil, nil, 0, fmt.Errorf("%w: %d of %d bytes each at offset %#x, in a file of %#x bytes", errSections, n, h.shentsize, h.ShOff, size)
	}
	if names >= n { // debug/elf would panic
		return nil, nil, 0, fmt.Errorf("%w: their names are in section %d of %d", errSections, names, n)
	}
	if table, err = r.table(int64(h.ShOff), n*uint64(h.shentsize)); err != nil {
		return nil, nil, 0, fmt.Errorf("%w: %w", errSections, err)
	}
	if names == 0 {
		return table, nil, int(n), nil // debug/elf reads no names
	}
	s := h.header(table[names*uint64(h.shentsize):])
	if s.Type != elf.SHT_STRTAB || s.Flags&elf.SHF_COMPRESSED != 0 || s.Offset > uint64(size) || s.FileSize > uint64(size)-s.Offset {
		return nil, nil, 0, fmt.Errorf("%w: names of %#x bytes at offset %#x, type %#x, flags %#x", errSections, s.FileSize, s.Offset, uint32(s.Type), uint32(s.Flags))
	}
	if text, err = r.Bytes(int64(s.Offset), s.FileSize); err != nil {
		return nil, nil, 0, fmt.Errorf("%w: names: %w", errSections, err)
	}
	return table, text, int(n), h.checkNames(table, text, n)
}

// checkNames checks that what the names of n sections become has a bound.
func (h *Header) checkNames(table, text []byte, n uint64) error {
	const share = 8 // linkers' names come to some two times their table
	empty, left := uint64(0), share*len(text)+1<<16
	for i := range n {
		b := table[i*uint64(h.shentsize):]
		if elf.SectionType(h.Order.Uint32(b[4:])) == elf.SHT_NULL {
			empty++
		}
		if name := uint64(h.Order.Uint32(b)); name < uint64(len(text)) {
			left -= max(0, bytes.IndexByte(text[name:], 0))
		}
		if left < 0 || empty > n/2+1<<10 {
			return fmt.Errorf("%w: %d of them, %d are empty, with %#x bytes of names", errSections, n, empty, len(text))
		}
	}
	return nil
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

// Standard reads the headers of a file of size bytes as debug/elf has them. sections says that
// [Headers.Read] has found section headers. Standard checks them once more: the file may have
// changed meanwhile.
func Standard(r io.ReaderAt, size int64, sections bool) (*elf.File, error) {
	if sections {
		return New(r, size)
	}
	r = Solid(r)
	h, err := ReadHeader(r)
	if err != nil {
		return nil, err
	}
	return elf.NewFile(h.WithoutSections(h.WithoutMany(r)))
}
