package jitdump

import (
	"bytes"
	"debug/elf"
	"encoding/binary"

	"github.com/sfwalk/sfwalk/internal/jitname"
)

// Bounds on what is read of one piece of code.
const (
	maxName    = 4 << 10
	maxCode    = 1 << 20
	maxUnwinds = 1 << 20
)

// ELF returns a piece of code with what the file tells of it as an ELF file, whose addresses are
// the process's. The code itself is left out if the file lacks it, or if it is larger than 1 MiB.
// class is the process's. ELF may be called while [Dump.Read] is.
func (d *Dump) ELF(c *Code, class elf.Class) ([]byte, error) {
	h, r := &d.header, d.r.r
	load, err := h.Record(r, c.load)
	if err != nil {
		return nil, err
	}
	raw, size, err := h.Name(r, &load, maxName)
	if err != nil {
		return nil, err
	}
	name := jitname.Split(jitname.Readable(raw))
	w := &writer{order: h.Order, class: class}
	w.text(c, d.code(c, &load, size))
	w.symbol(c, name.Function)
	if table := d.table(c); len(table) > 0 {
		// The compiler has made the table for this place: perf puts it there, too.
		at := c.Lo + (c.Hi-c.Lo+7)&^7
		w.section(".eh_frame", elf.SHT_PROGBITS, elf.SHF_ALLOC, at, table)
	}
	lines := []Line{{c.Lo, name.File, name.Line}}
	if c.lines != 0 && !jitname.IsV8(raw) { // V8 has offsets of the bytecode as addresses there
		if debug, err := h.Record(r, c.lines); err == nil {
			if list, err := h.Lines(r, &debug); err == nil && len(list) > 0 {
				lines = list
			}
		}
		for i := range lines {
			lines[i].Addr += c.Lo - c.first
		}
	}
	w.debug(c, lines)
	return w.file(elf.Machine(h.Machine)), nil
}

// code returns the code; nil if it is not there. size is the name's, in bytes.
func (d *Dump) code(c *Code, load *Record, size int64) []byte {
	n := c.Hi - c.Lo
	if n > maxCode || loadSize+size+int64(n) > load.Length {
		return nil
	}
	code, err := read(d.r.r, load.At+loadSize+size, int64(n))
	if err != nil {
		return nil
	}
	return code
}

// table returns the code's .eh_frame; nil if there is none.
func (d *Dump) table(c *Code) []byte {
	if c.unwinds == 0 {
		return nil
	}
	x, err := d.header.Record(d.r.r, c.unwinds)
	if err != nil || x.Kind != Unwinding || x.Size <= x.Header || x.Size > uint64(x.Length)-unwindingSize || x.Size > maxUnwinds {
		return nil
	}
	table, err := read(d.r.r, x.At+unwindingSize, int64(x.Size-x.Header))
	if err != nil {
		return nil
	}
	return table
}

// writer makes an ELF file.
type writer struct {
	order    binary.ByteOrder
	class    elf.Class
	body     []byte // the sections' contents
	sections []section
}

type section struct {
	name       string
	kind       elf.SectionType
	flags      elf.SectionFlag
	addr       uint64
	off, size  int
	link, info uint32
	entry      int
}

func (w *writer) wide() bool { return w.class == elf.ELFCLASS64 }

func (w *writer) headerSize() int {
	if w.wide() {
		return 64
	}
	return 52
}

// word appends an address.
func (w *writer) word(b []byte, v uint64) []byte {
	if w.wide() {
		return w.u64(b, v)
	}
	return w.u32(b, uint32(v))
}

func (w *writer) u64(b []byte, v uint64) []byte {
	return append(b, w.bytes(8, func(p []byte) { w.order.PutUint64(p, v) })...)
}
func (w *writer) u32(b []byte, v uint32) []byte {
	return append(b, w.bytes(4, func(p []byte) { w.order.PutUint32(p, v) })...)
}
func (w *writer) u16(b []byte, v uint16) []byte {
	return append(b, w.bytes(2, func(p []byte) { w.order.PutUint16(p, v) })...)
}

func (w *writer) bytes(n int, put func([]byte)) []byte {
	p := make([]byte, n)
	put(p)
	return p
}

// section adds a section, and returns it.
func (w *writer) section(name string, kind elf.SectionType, flags elf.SectionFlag, addr uint64, data []byte) *section {
	for (w.headerSize()+len(w.body))%8 != 0 {
		w.body = append(w.body, 0)
	}
	w.sections = append(w.sections, section{name: name, kind: kind, flags: flags, addr: addr, off: w.headerSize() + len(w.body), size: len(data)})
	w.body = append(w.body, data...)
	return &w.sections[len(w.sections)-1]
}

// textIndex is the index of .text: it comes first, behind the null section.
const textIndex = 1

// text adds the code.
func (w *writer) text(c *Code, code []byte) {
	if code != nil {
		w.section(".text", elf.SHT_PROGBITS, elf.SHF_ALLOC|elf.SHF_EXECINSTR, c.Lo, code)
		return
	}
	w.section(".text", elf.SHT_NOBITS, elf.SHF_ALLOC|elf.SHF_EXECINSTR, c.Lo, nil).size = int(c.Hi - c.Lo)
}

// symbol adds the symbol table.
func (w *writer) symbol(c *Code, name string) {
	strings := "\x00" + name + "\x00"
	var table []byte
	size := 16
	info := elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC)
	if w.wide() {
		size = 24
		table = append(make([]byte, size), w.u32(nil, 1)...)
		table = append(table, info, 0)
		table = w.u16(table, textIndex)
		table = w.u64(w.u64(table, c.Lo), c.Hi-c.Lo)
	} else {
		table = append(make([]byte, size), w.u32(nil, 1)...)
		table = w.u32(w.u32(table, uint32(c.Lo)), uint32(c.Hi-c.Lo))
		table = append(table, info, 0)
		table = w.u16(table, textIndex)
	}
	s := w.section(".symtab", elf.SHT_SYMTAB, 0, 0, table)
	s.link, s.info, s.entry = uint32(len(w.sections)+1), 1, size // the names come next
	w.section(".strtab", elf.SHT_STRTAB, 0, 0, []byte(strings))
}

// file returns the file.
func (w *writer) file(machine elf.Machine) []byte {
	names := []byte{0}
	var at []uint32
	w.section(".shstrtab", elf.SHT_STRTAB, 0, 0, nil)
	for _, s := range w.sections {
		at = append(at, uint32(len(names)))
		names = append(append(names, s.name...), 0)
	}
	w.sections[len(w.sections)-1].size = len(names)
	w.body = append(w.body, names...)
	for (w.headerSize()+len(w.body))%8 != 0 {
		w.body = append(w.body, 0)
	}
	entry := 40
	if w.wide() {
		entry = 64
	}
	data := byte(elf.ELFDATA2LSB)
	if w.order == binary.BigEndian {
		data = byte(elf.ELFDATA2MSB)
	}
	b := append(append([]byte(elf.ELFMAG), byte(w.class), data, byte(elf.EV_CURRENT)), make([]byte, 9)...)
	b = w.u16(w.u16(b, uint16(elf.ET_DYN)), uint16(machine))
	b = w.u32(b, uint32(elf.EV_CURRENT))
	b = w.word(w.word(w.word(b, 0), 0), uint64(w.headerSize()+len(w.body)))
	b = w.u32(b, 0)
	for _, v := range [...]int{w.headerSize(), 0, 0, entry, len(w.sections) + 1, len(w.sections)} {
		b = w.u16(b, uint16(v))
	}
	b = append(b, w.body...)
	b = append(b, make([]byte, entry)...)
	for i, s := range w.sections {
		b = w.u32(w.u32(b, at[i]), uint32(s.kind))
		b = w.word(w.word(w.word(w.word(b, uint64(s.flags)), s.addr), uint64(s.off)), uint64(s.size))
		b = w.u32(w.u32(b, s.link), s.info)
		b = w.word(w.word(b, 1), uint64(s.entry))
	}
	return b
}

// cstring appends a name of DWARF's, which has no zero in it.
func cstring(b []byte, name string) []byte {
	return append(append(b, bytes.ReplaceAll([]byte(name), []byte{0}, nil)...), 0)
}
