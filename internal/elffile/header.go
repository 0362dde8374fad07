package elffile

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrNotELF says that a file is of another format, or empty.
var ErrNotELF = errors.New("not an ELF file")

// Header has the fields of the file header that debug/elf does not keep.
type Header struct {
	Order binary.ByteOrder
	Is64  bool
	PhOff uint64
	// PhNum is how many program headers there are, also if e_phnum cannot count them. Then section
	// header 0 does, as in core files of processes with as many mappings.
	PhNum int
	ShOff uint64

	phentsize int
	many      bool // section header 0 counts the program headers
	shentsize int
	shnum     int
	shstrndx  int
}

// ReadHeader reads the file header.
func ReadHeader(r io.ReaderAt) (h Header, err error) {
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
	h.Is64 = elf.Class(b[elf.EI_CLASS]) == elf.ELFCLASS64
	h.Order = binary.LittleEndian
	if elf.Data(b[elf.EI_DATA]) == elf.ELFDATA2MSB {
		h.Order = binary.BigEndian
	}
	at := 42 // of e_phentsize; e_phnum, e_shentsize, e_shnum and e_shstrndx follow
	if h.Is64 {
		at = 54
		h.PhOff, h.ShOff = h.Order.Uint64(b[32:]), h.Order.Uint64(b[40:])
	} else {
		h.PhOff, h.ShOff = uint64(h.Order.Uint32(b[28:])), uint64(h.Order.Uint32(b[32:]))
	}
	for i, field := range [...]*int{&h.phentsize, &h.PhNum, &h.shentsize, &h.shnum, &h.shstrndx} {
		*field = int(h.Order.Uint16(b[at+2*i:]))
	}
	h.countMany(r)
	return h, nil
}

// SectionsEnd returns where the section headers end in the file, 0 if there are none, or more than
// the file header counts.
func (h *Header) SectionsEnd() uint64 {
	size := uint64(h.shnum) * uint64(h.shentsize)
	if h.ShOff == 0 || size == 0 || h.ShOff > 1<<62 {
		return 0
	}
	return h.ShOff + size
}

// WithoutSections shows an ELF file as if it had no section headers.
func (h *Header) WithoutSections(r io.ReaderAt) io.ReaderAt {
	// e_shoff, and e_shnum with e_shstrndx.
	if h.Is64 {
		return &without{r, [][2]int64{{40, 48}, {60, 64}}}
	}
	return &without{r, [][2]int64{{32, 36}, {48, 52}}}
}

// without shows a file with zeros in some of its fields.
type without struct {
	io.ReaderAt
	fields [][2]int64 // offsets of their beginnings and ends
}

func (w *without) ReadAt(p []byte, off int64) (int, error) {
	n, err := w.ReaderAt.ReadAt(p, off)
	for _, f := range w.fields {
		for at := max(f[0], off); at < min(f[1], off+int64(n)); at++ {
			p[at-off] = 0
		}
	}
	return n, err
}
