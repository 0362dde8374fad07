package sframeverify

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
)

// What a comparison reads of a linked file.
var linked = []string{".eh_frame", ".sframe", ".symtab", ".strtab", ".dynsym", ".dynstr", ".init", ".plt", ".text", ".fini"}

// FuzzFile compares what it can of any file. The seeds have a few kilobytes.
func FuzzFile(f *testing.F) {
	for _, name := range []string{"testdata/simple.so", "testdata/amd64-v3.so", "../../testdata/bin/restorer-v3", "testdata/arm64-v2.so", "../../format/sframe/object/testdata/amd64-v1.o", "../../format/sframe/object/testdata/arm64-v3.o", "../../format/sframe/object/testdata/s390x-v3.o"} {
		file, err := elf.Open(name)
		if err != nil {
			f.Fatal(err)
		}
		defer file.Close()
		some := elftest.Some(f, file, append(linked, ".rela.eh_frame", ".rela.sframe", ".eh_frame_hdr")...)
		some.Bare = true
		f.Add(some.Bytes())
		if some.Bare = false; some.Type != elf.ET_REL {
			some.Without(".init", ".plt", ".text", ".fini")
		}
		f.Add(some.Bytes())
	}
	whole, err := os.ReadFile("../../testdata/bin/mix-v3-noheaders")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, data []byte) { compareFile(t, data) })
}

// FuzzSections changes the tables that are compared, the executable code and the symbols.
func FuzzSections(f *testing.F) {
	for i, name := range []string{"testdata/simple.so", "testdata/amd64-v3.so", "testdata/arm64-v2.so", "testdata/s390x-v3.so", "../../testdata/bin/restorer-v3"} {
		file, err := elf.Open(name)
		if err != nil {
			f.Fatal(err)
		}
		defer file.Close()
		eh, sf, text := elftest.Of(f, file, ".eh_frame"), elftest.Of(f, file, ".sframe"), elftest.Of(f, file, ".text")
		machine := uint8(0)
		switch i {
		case 2:
			machine = 1
		case 3:
			machine = 2
		}
		symbols := elftest.Of(f, file, ".symtab").Data
		f.Add(eh.Data, sf.Data, symbols[:min(len(symbols), 24*16)], eh.Addr, sf.Addr, text.Addr, uint32(text.Size), machine)
	}
	f.Fuzz(func(t *testing.T, eh, sf, symbols []byte, ehAt, sfAt, textAt uint64, textSize uint32, machine uint8) {
		file := elftest.File{Type: elf.ET_DYN, Machine: []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64, elf.EM_S390}[machine%3], Sections: []elftest.Section{
			{Name: ".eh_frame", Flags: elf.SHF_ALLOC, Addr: ehAt, Data: eh},
			{Name: ".sframe", Flags: elf.SHF_ALLOC, Type: 0x6ffffff4, Addr: sfAt, Data: sf},
			{Name: ".text", Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Type: elf.SHT_NOBITS, Addr: textAt, Size: uint64(textSize)},
			{Name: ".symtab", Type: elf.SHT_SYMTAB, Data: symbols, Link: 5, Entsize: 24},
			{Name: ".strtab", Type: elf.SHT_STRTAB, Data: []byte("\x00a\x00b")},
		}}
		if machine%3 == 2 {
			file.Order = binary.BigEndian
		}
		compareFile(t, file.Bytes())
	})
}

// compareFile compares a file's tables. Covered code and disagreements must lie in the executable
// code, and count once.
func compareFile(t *testing.T, data []byte) {
	// debug/elf reads tables of headers in pieces of 10 MiB.
	bounds.Hold(t, 32<<20+4<<10*len(data), func() {
		im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		r, err := File(im)
		if err != nil {
			return
		}
		for _, c := range []Coverage{r.Bytes, r.Functions} {
			if c.Both+c.SFrameOnly+c.CFIOnly+c.Neither != c.Total {
				t.Fatalf("parts that are not the whole: %+v", c)
			}
		}
		for _, d := range r.Disagreements {
			if d.Lo >= d.Hi || d.Fields == 0 || d.Times < 1 {
				t.Fatalf("%+v", d)
			}
		}
		if n := len(r.Disagreements) + len(r.Problems); n > len(data) {
			t.Fatalf("%d disagreements and problems in %d bytes", n, len(data))
		}
	})
}
