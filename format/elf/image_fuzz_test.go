package elf

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
)

// FuzzOpen opens files, from their bytes and from memory, and reads one of their sections.
func FuzzOpen(f *testing.F) {
	for _, x := range []struct {
		class   elf.Class
		order   binary.AppendByteOrder
		machine elf.Machine
		kind    elf.Type
	}{
		{elf.ELFCLASS64, binary.LittleEndian, elf.EM_X86_64, elf.ET_EXEC},
		{elf.ELFCLASS64, binary.BigEndian, elf.EM_S390, elf.ET_DYN},
		{elf.ELFCLASS32, binary.BigEndian, elf.EM_MIPS, elf.ET_DYN},
		{elf.ELFCLASS32, binary.LittleEndian, elf.EM_386, elf.ET_DYN},
		{elf.ELFCLASS64, binary.LittleEndian, elf.EM_AARCH64, elf.ET_DYN},
	} {
		file := elftest.Program(x.class, x.order, x.machine, x.kind)
		for _, data := range [][]byte{file.Bytes(), file.Mapped()} {
			for i := range file.Sections {
				if name := file.Sections[i].Name; name == ".plt" || name == ".symtab" || name == ".debug_info" || name == ".zdebug_line" {
					f.Add(data, uint8(i+1))
				}
			}
			f.Add(data[:len(data)/2], uint8(0))
		}
		stripped := file.Mapped()
		clear(stripped[40:48]) // e_shoff, of 64 bits
		f.Add(stripped, uint8(0))
		for i := range file.Sections {
			if s := &file.Sections[i]; s.Name == ".dynamic" && x.class == elf.ELFCLASS64 {
				clear(s.Data[4*16:][:8]) // DT_HASH: it ends there
				copy(s.Data[4*16:], s.Data[5*16:][:16])
			} else if s.Name == ".debug_info" {
				s.Data[len(s.Data)-8] ^= 0xff
				f.Add(file.Bytes(), uint8(i+1))
			}
		}
		stripped = file.Mapped()
		clear(stripped[40:48])
		f.Add(stripped, uint8(1))
		if x.class != elf.ELFCLASS64 {
			continue
		}
		order := x.order.(binary.ByteOrder)
		many := file.Bytes()
		order.PutUint16(many[56:], 0xffff) // e_phnum is PN_XNUM: sh_info of section header 0 counts
		order.PutUint32(many[order.Uint64(many[40:])+44:], 0x10000)
		f.Add(many, uint8(0))
		for at := order.Uint64(stripped[32:]); at+56 < uint64(len(stripped)); at += 56 {
			if p := elf.ProgType(order.Uint32(stripped[at:])); p == elf.PT_LOAD || p == elf.PT_DYNAMIC {
				broken := bytes.Clone(stripped)
				order.PutUint64(broken[at+8:], 1<<40) // p_offset
				f.Add(broken, uint8(0))
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, section uint8) {
		// At most seven tables are read, and a compressed one may claim megabytes.
		bounds.Hold(t, 96<<20+256*len(data), func() { readImage(data, int(section)) })
	})
}

func readImage(data []byte, section int) {
	im, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return
	}
	useImage(im, section)
	there := data
	if section%2 > 0 {
		there = data[:len(data)*7/8]
	}
	if mapped, err := OpenMapped(memtest.Flat{Lo: 0x10000, Data: there}, 0x10000, uint64(len(data))); err == nil {
		readSymbols(mapped)
	}
}

// useImage uses a file as unwinding and naming frames do.
func useImage(im *Image, section int) {
	if list := im.ELF().Sections; len(list) > 0 {
		s := list[section%len(list)]
		im.Section(s.Name)
		im.SectionType(s.Type)
		im.Section(".none")
		if c, err := im.Contents(s.Name); err == nil && c.Unpack != nil {
			if r, err := c.Unpack(); err == nil {
				io.CopyN(io.Discard, r, 1<<16)
			}
		}
	}
	for _, p := range im.Progs[:min(len(im.Progs), 4)] {
		im.Segment(p.Type)
		im.Loaded(p.Vaddr, 16)
	}
	readSymbols(im)
	im.dynamicSymbols()
	im.SOName()
	im.MayHaveSymbol("main")
	var p [64]byte
	im.ReadLoaded(im.Entry, p[:])
	for off := uint64(0); off < 128; off += 8 {
		im.FunctionEntry(im.Entry + off)
		im.Stub(im.Entry + off)
	}
}

func readSymbols(im *Image) {
	ss := im.Symbols()
	for i := range min(ss.Len(), 64) {
		s := ss.At(i)
		ss.Name(s)
		ss.Find(s.Addr + s.Size/2)
		im.Lookup(ss.Name(s), 4)
		if name := ss.Name(s); name != "" && !ss.Begins(s.Addr, name) {
			panic("the function that was found does not begin where it does")
		}
	}
	im.LookupPrefix("m", 4)
	im.LookupExported("m", 4)
	im.Exported("main")
	im.ThreadLocal("main")
	im.Objects()
}
