package target

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrNotELF says that a file is of another format, or empty. Programs map such files, too:
// fonts, archives, a virtual machine's code. They have no symbols and no tables, and nothing is
// wrong with that.
var ErrNotELF = errors.New("not an ELF file")

// elfHeader is what debug/elf does not keep of the file header.
type elfHeader struct {
	order binary.ByteOrder
	is64  bool
	entry uint64
	phoff uint64
	phnum int

	shoff     uint64
	shentsize int
	shstrndx  int
}

func readELFHeader(r io.ReaderAt) (h elfHeader, err error) {
	var b [64]byte
	n, err := r.ReadAt(b[:], 0)
	switch read := string(b[:n]); {
	case n >= 4 && read[:4] != elf.ELFMAG:
		return h, fmt.Errorf("read ELF header: magic number is % x, not % x: %w", b[:4], elf.ELFMAG, ErrNotELF)
	case n < 4 && err == io.EOF:
		return h, fmt.Errorf("read ELF header: %d bytes of it: %w", n, ErrNotELF)
	case n < 52:
		return h, fmt.Errorf("read ELF header: %d bytes of it: %w", n, err)
	}
	h.is64 = elf.Class(b[elf.EI_CLASS]) == elf.ELFCLASS64
	h.order = binary.LittleEndian
	if elf.Data(b[elf.EI_DATA]) == elf.ELFDATA2MSB {
		h.order = binary.BigEndian
	}
	if h.is64 {
		h.entry, h.phoff, h.phnum = h.order.Uint64(b[24:]), h.order.Uint64(b[32:]), int(h.order.Uint16(b[56:]))
		h.shoff, h.shentsize, h.shstrndx = h.order.Uint64(b[40:]), int(h.order.Uint16(b[58:])), int(h.order.Uint16(b[62:]))
	} else {
		h.entry, h.phoff, h.phnum = uint64(h.order.Uint32(b[24:])), uint64(h.order.Uint32(b[28:])), int(h.order.Uint16(b[44:]))
		h.shoff, h.shentsize, h.shstrndx = uint64(h.order.Uint32(b[32:])), int(h.order.Uint16(b[46:])), int(h.order.Uint16(b[50:]))
	}
	return h, nil
}

// plainNames reports whether the sections' names are stored as they are, as
// every linker does. debug/elf reads them at once and would expand compressed
// ones without a bound.
func (h *elfHeader) plainNames(r io.ReaderAt) bool {
	at, size := int64(8), 4 // sh_flags
	if h.is64 {
		size = 8
	}
	index := h.shstrndx
	if index == int(elf.SHN_XINDEX) { // section 0 says which
		link := int64(24)
		if h.is64 {
			link = 40
		}
		var b [4]byte
		if _, err := r.ReadAt(b[:], int64(h.shoff)+link); err != nil {
			return false
		}
		index = int(h.order.Uint32(b[:]) & 0x7fff_ffff)
	}
	var b [8]byte
	if _, err := r.ReadAt(b[:size], int64(h.shoff)+int64(index)*int64(h.shentsize)+at); err != nil {
		return false
	}
	flags := uint64(h.order.Uint32(b[:]))
	if h.is64 {
		flags = h.order.Uint64(b[:])
	}
	return elf.SectionFlag(flags)&elf.SHF_COMPRESSED == 0
}

// withoutSections shows an ELF file as if it had no section headers.
type withoutSections struct {
	io.ReaderAt
	h elfHeader
}

func (w *withoutSections) ReadAt(p []byte, off int64) (int, error) {
	n, err := w.ReaderAt.ReadAt(p, off)
	// e_shoff, and e_shnum with e_shstrndx.
	fields := [][2]int64{{32, 36}, {48, 52}}
	if w.h.is64 {
		fields = [][2]int64{{40, 48}, {60, 64}}
	}
	for _, f := range fields {
		for at := max(f[0], off); at < min(f[1], off+int64(n)); at++ {
			p[at-off] = 0
		}
	}
	return n, err
}
