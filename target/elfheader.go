package target

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
)

// elfHeader is what debug/elf does not keep of the file header.
type elfHeader struct {
	order binary.ByteOrder
	is64  bool
	entry uint64
	phoff uint64
	phnum int
}

func readELFHeader(r io.ReaderAt) (h elfHeader, err error) {
	var b [64]byte
	if n, err := r.ReadAt(b[:], 0); n < 52 {
		return h, fmt.Errorf("read ELF header: %d bytes of it: %w", n, err)
	}
	if string(b[:4]) != elf.ELFMAG {
		return h, fmt.Errorf("read ELF header: magic number is % x, not % x", b[:4], elf.ELFMAG)
	}
	h.is64 = elf.Class(b[elf.EI_CLASS]) == elf.ELFCLASS64
	h.order = binary.LittleEndian
	if elf.Data(b[elf.EI_DATA]) == elf.ELFDATA2MSB {
		h.order = binary.BigEndian
	}
	if h.is64 {
		h.entry, h.phoff, h.phnum = h.order.Uint64(b[24:]), h.order.Uint64(b[32:]), int(h.order.Uint16(b[56:]))
	} else {
		h.entry, h.phoff, h.phnum = uint64(h.order.Uint32(b[24:])), uint64(h.order.Uint32(b[28:])), int(h.order.Uint16(b[44:]))
	}
	return h, nil
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
