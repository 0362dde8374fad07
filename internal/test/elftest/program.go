package elftest

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
)

// Program makes a program or a library of less than 3 KB with the usual parts of a linked file:
// code, two symbol tables, the tables that PT_DYNAMIC leads to, linkage stubs, a build ID, a
// compressed section. Its addresses are offsets in the file: so the bytes of [File.Mapped] can
// stand in a process's memory as they are.
func Program(class elf.Class, order binary.AppendByteOrder, machine elf.Machine, kind elf.Type) *File {
	f := &File{Class: class, Order: order, Machine: machine, Type: kind}
	b := builder{order: order, wide: class != elf.ELFCLASS32}
	bytesOf := func(write func()) []byte {
		b.data = nil
		write()
		return b.data
	}
	const code = elf.SHF_ALLOC | elf.SHF_EXECINSTR
	text := bytes.Repeat([]byte{0x55, 0x48, 0x89, 0xe5, 0xc3, 0x90, 0x90, 0x90}, 8)
	f.add(Section{Name: ".text", Flags: code, Data: text})
	f.add(Section{Name: ".plt", Flags: code, Data: make([]byte, 48), Entsize: 16})
	f.add(Section{Name: ".note.gnu.build-id", Type: elf.SHT_NOTE, Flags: elf.SHF_ALLOC, Segment: elf.PT_NOTE, Align: 4,
		Data: bytesOf(func() { b.word(4, 8, 3); b.data = append(b.data, "GNU\x00buildid!"...) })})
	at := f.Sections[0].Addr
	f.Entry = at

	const strings = "\x00main\x00main.cold\x00_start\x00label\x00outside\x00$x\x00small.c\x00libsmall.so.1\x00"
	name := func(of string) uint32 { return uint32(bytes.Index([]byte(strings), []byte("\x00"+of+"\x00")) + 1) }
	functions := func() {
		b.symbol(0, 0, 0, 0, 0)
		b.symbol(name("small.c"), elf.ST_INFO(elf.STB_LOCAL, elf.STT_FILE), 0xfff1, 0, 0)
		b.symbol(name("main.cold"), elf.ST_INFO(elf.STB_LOCAL, elf.STT_FUNC), 1, at+8, 8)
		b.symbol(name("$x"), elf.ST_INFO(elf.STB_LOCAL, elf.STT_NOTYPE), 1, at+16, 0)
		b.symbol(name("main"), elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), 1, at, 8)
		b.symbol(name("_start"), elf.ST_INFO(elf.STB_GLOBAL, elf.STT_NOTYPE), 1, at+24, 0)
		b.symbol(name("label"), elf.ST_INFO(elf.STB_GLOBAL, elf.STT_NOTYPE), 1, at+40, 0)
		b.symbol(name("outside"), elf.ST_INFO(elf.STB_GLOBAL, elf.STT_NOTYPE), 1, 1, 0)
	}
	table := bytesOf(functions)
	names := uint32(len(f.Sections) + 1)
	dynstr := f.add(Section{Name: ".dynstr", Type: elf.SHT_STRTAB, Flags: elf.SHF_ALLOC, Data: []byte(strings)})
	dynsym := f.add(Section{Name: ".dynsym", Type: elf.SHT_DYNSYM, Flags: elf.SHF_ALLOC, Data: table, Link: names, Info: 2})
	hash := f.add(Section{Name: ".hash", Type: elf.SHT_HASH, Flags: elf.SHF_ALLOC, Data: bytesOf(func() { b.word(1, 8, 4, 0, 0, 0, 0, 5, 6, 7, 0) })})
	gnuHash := f.add(Section{Name: ".gnu.hash", Type: elf.SHT_GNU_HASH, Flags: elf.SHF_ALLOC,
		Data: bytesOf(func() { b.word(1, 4, 1, 6); b.addr(^uint64(0)); b.word(4, 2, 4, 6, 9) })})
	f.add(Section{Name: ".dynamic", Type: elf.SHT_DYNAMIC, Flags: elf.SHF_ALLOC | elf.SHF_WRITE, Segment: elf.PT_DYNAMIC, Link: names, Data: bytesOf(func() {
		b.addr(uint64(elf.DT_SONAME), uint64(name("libsmall.so.1")), uint64(elf.DT_STRTAB), dynstr, uint64(elf.DT_STRSZ), uint64(len(strings)),
			uint64(elf.DT_SYMTAB), dynsym, uint64(elf.DT_HASH), hash, uint64(elf.DT_GNU_HASH), gnuHash, uint64(elf.DT_DEBUG), 0, 0, 0)
	})})
	f.add(Section{Name: ".strtab", Type: elf.SHT_STRTAB, Data: []byte(strings)})
	f.add(Section{Name: ".symtab", Type: elf.SHT_SYMTAB, Data: table, Link: uint32(len(f.Sections)), Info: 4})
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	w.Write(bytes.Repeat([]byte("debug"), 20))
	w.Close()
	f.add(Section{Name: ".debug_info", Flags: elf.SHF_COMPRESSED, Data: bytesOf(func() {
		b.word(uint32(elf.COMPRESS_ZLIB))
		if b.wide {
			b.word(0)
		}
		b.addr(100, 1)
		b.data = append(b.data, packed.Bytes()...)
	})})
	f.add(Section{Name: ".zdebug_line", Data: append([]byte("ZLIB\x00\x00\x00\x00\x00\x00\x00\x64"), packed.Bytes()...)})
	return f
}

// Mapped is [File.Bytes] with one loaded segment: the whole file with its headers, which linkers
// have in the first segment.
func (f *File) Mapped() []byte {
	data := f.Bytes()
	order := binary.ByteOrder(binary.LittleEndian)
	if elf.Data(data[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	size := uint64(len(data))
	at, count, each := uint64(order.Uint32(data[28:])), order.Uint16(data[44:]), uint64(32)
	if f.Class != elf.ELFCLASS32 {
		at, count, each = order.Uint64(data[32:]), order.Uint16(data[56:]), 56
	}
	first := true
	for ; count > 0; count-- {
		p := data[at:]
		at += each
		switch {
		case elf.ProgType(order.Uint32(p)) != elf.PT_LOAD:
		case !first:
			order.PutUint32(p, uint32(elf.PT_NULL))
		case each == 56:
			first = false
			order.PutUint32(p[4:], uint32(elf.PF_R|elf.PF_X))
			for i, v := range []uint64{0, 0, 0, size, size} { // offset, two addresses, sizes
				order.PutUint64(p[8+8*i:], v)
			}
		default:
			first = false
			for i, v := range []uint32{0, 0, 0, uint32(size), uint32(size), uint32(elf.PF_R | elf.PF_X)} {
				order.PutUint32(p[4+4*i:], v)
			}
		}
	}
	return data
}

// add adds a section behind the others, and returns its address: where in the file it is.
func (f *File) add(s Section) (addr uint64) {
	addr = 64
	if f.Class == elf.ELFCLASS32 {
		addr = 52
	}
	for i := range f.Sections {
		addr = (addr+15)&^15 + uint64(len(f.Sections[i].Data))
	}
	addr = (addr + 15) &^ 15
	if s.Flags&elf.SHF_ALLOC != 0 {
		s.Addr = addr
	}
	f.Sections = append(f.Sections, s)
	return addr
}

func (b *builder) symbol(name uint32, info uint8, section uint16, addr, size uint64) {
	b.word(name)
	if b.wide {
		b.data = append(b.data, info, 0)
		b.half(section)
		b.addr(addr, size)
		return
	}
	b.addr(addr, size)
	b.data = append(b.data, info, 0)
	b.half(section)
}
