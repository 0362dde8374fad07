package elffile

import (
	"debug/elf"
	"fmt"
	"io"
)

// pnXNum in e_phnum says that section header 0 has the number of program headers, in sh_info
// (PN_XNUM of elf.h). debug/elf takes it for the number before Go 1.27.
const pnXNum = 0xffff

// maxPrograms bounds the program headers that are read. Linux allows a process 65,530 mappings
// unless it is told otherwise (vm.max_map_count); some systems allow 1,048,576.
const maxPrograms = 1<<20 + 1<<10

// countMany counts the program headers that e_phnum cannot count.
func (h *Header) countMany(r io.ReaderAt) {
	size := 40
	if h.Is64 {
		size = 64
	}
	if h.PhNum != pnXNum || h.ShOff == 0 || h.ShOff > 1<<62 || h.shentsize < size {
		return
	}
	b := make([]byte, size)
	if n, _ := r.ReadAt(b, int64(h.ShOff)); n < size || elf.SectionType(h.Order.Uint32(b[4:])) != elf.SHT_NULL {
		return
	}
	info := b[28:]
	if h.Is64 {
		info = b[44:]
	}
	if n := h.Order.Uint32(info); n >= pnXNum {
		h.PhNum, h.many = int(n), true
	}
}

// WithoutMany shows a file without program headers if e_phnum cannot count them; [Header.Programs]
// reads them.
func (h *Header) WithoutMany(r io.ReaderAt) io.ReaderAt {
	switch {
	case !h.many:
		return r
	case h.Is64: // e_phoff and e_phnum
		return &without{r, [][2]int64{{32, 40}, {56, 58}}}
	}
	return &without{r, [][2]int64{{28, 32}, {44, 46}}}
}

// Programs reads the program headers.
func (h *Header) Programs(head *Headers) (list []elf.ProgHeader, err error) {
	if h.PhNum == 0 {
		return nil, nil
	}
	least := 32
	if h.Is64 {
		least = 56
	}
	length := uint64(h.PhNum) * uint64(h.phentsize)
	if h.phentsize < least || h.PhNum > maxPrograms || h.PhOff > uint64(head.size) || length > uint64(head.size)-h.PhOff {
		return nil, fmt.Errorf("%d program headers of %d bytes each at offset %#x, in a file of %#x bytes",
			h.PhNum, h.phentsize, h.PhOff, head.size)
	}
	table, err := head.Bytes(int64(h.PhOff), length)
	if err != nil {
		return nil, fmt.Errorf("program headers: %w", err)
	}
	list = make([]elf.ProgHeader, h.PhNum)
	for i := range list {
		p := h.program(table[i*h.phentsize:])
		if int64(p.Off) < 0 || int64(p.Filesz) < 0 { // as debug/elf has it
			return nil, fmt.Errorf("program header %d: %#x bytes at offset %#x", i, p.Filesz, p.Off)
		}
		list[i] = p
	}
	return list, nil
}

func (h *Header) program(b []byte) elf.ProgHeader {
	o := h.Order
	if h.Is64 {
		return elf.ProgHeader{
			Type: elf.ProgType(o.Uint32(b)), Flags: elf.ProgFlag(o.Uint32(b[4:])), Off: o.Uint64(b[8:]),
			Vaddr: o.Uint64(b[16:]), Paddr: o.Uint64(b[24:]), Filesz: o.Uint64(b[32:]), Memsz: o.Uint64(b[40:]),
			Align: o.Uint64(b[48:]),
		}
	}
	word := func(at int) uint64 { return uint64(o.Uint32(b[at:])) }
	return elf.ProgHeader{
		Type: elf.ProgType(word(0)), Off: word(4), Vaddr: word(8), Paddr: word(12), Filesz: word(16), Memsz: word(20),
		Flags: elf.ProgFlag(word(24)), Align: word(28),
	}
}
