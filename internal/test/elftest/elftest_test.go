package elftest_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/elftest"
)

// debug/elf reads the sections that were given.
func TestBytes(t *testing.T) {
	for _, class := range []elf.Class{elf.ELFCLASS64, elf.ELFCLASS32} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			file := elftest.File{
				Class: class, Order: order, Machine: elf.EM_S390, Type: elf.ET_DYN, Entry: 0x1004,
				Sections: []elftest.Section{
					{Name: ".text", Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Addr: 0x1000, Data: []byte("code")},
					{Name: ".note", Type: elf.SHT_NOTE, Segment: elf.PT_NOTE, Addr: 0x2000, Data: []byte("a note"), Align: 4},
					{Name: ".bss", Type: elf.SHT_NOBITS, Flags: elf.SHF_ALLOC | elf.SHF_WRITE, Addr: 0x3000, Size: 0x500},
					{Name: ".symtab", Type: elf.SHT_SYMTAB, Link: 1, Info: 2, Entsize: 24},
				},
			}
			f, err := elf.NewFile(bytes.NewReader(file.Bytes()))
			if err != nil {
				t.Fatalf("%v %v: %v", class, order, err)
			}
			bare := file
			bare.Bare = true
			if f, err := elf.NewFile(bytes.NewReader(bare.Bytes())); err != nil || len(f.Sections) != 0 || len(f.Progs) != 3 {
				t.Errorf("%v %v: without section headers %+v, %v", class, order, f, err)
			}
			if f.Class != class || f.ByteOrder.String() != order.String() || f.Machine != file.Machine || f.Type != file.Type || f.Entry != file.Entry || len(f.Sections) != 6 || len(f.Progs) != 3 {
				t.Errorf("%v %v: %+v", class, order, f)
			}
			for i := range file.Sections {
				want, got := file.Sections[i], f.Sections[i+1]
				got.Data()
				if kind := max(want.Type, elf.SHT_PROGBITS); got.Name != want.Name || got.Type != kind || got.Flags != want.Flags || got.Addr != want.Addr || got.Link != want.Link || got.Info != want.Info || got.Entsize != want.Entsize {
					t.Errorf("%v %v: %+v, want %+v", class, order, got.SectionHeader, want)
				}
				if again := elftest.Of(t, f, want.Name); !bytes.Equal(again.Data, want.Data) || again.Size != max(want.Size, uint64(len(want.Data))) {
					t.Errorf("%v %v: %s holds %q", class, order, want.Name, again.Data)
				}
			}
			for i, want := range []elf.ProgHeader{
				{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, Vaddr: 0x1000, Filesz: 4, Memsz: 4},
				{Type: elf.PT_NOTE, Flags: elf.PF_R, Vaddr: 0x2000, Filesz: 6, Memsz: 6},
				{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_W, Vaddr: 0x3000, Memsz: 0x500},
			} {
				got := f.Progs[i].ProgHeader
				if got.Type != want.Type || got.Flags != want.Flags || got.Vaddr != want.Vaddr || got.Filesz != want.Filesz || got.Memsz != want.Memsz {
					t.Errorf("%v %v: %+v, want %+v", class, order, got, want)
				}
			}
		}
	}
}

// Some sections of a program that gcc linked stay as they were, with the segments of the same
// bytes, and their links lead to each other.
func TestSome(t *testing.T) {
	whole, err := elf.Open("../../../testdata/bin/plt-v3")
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	some := elftest.Some(t, whole, ".dynsym", ".text", ".dynstr", ".dynamic", ".nothing").Without(".text")
	f, err := elf.NewFile(bytes.NewReader(some.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	want, err := whole.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.DynamicSymbols()
	if err != nil || len(got) != len(want) || len(got) == 0 || got[0].Name != want[0].Name {
		t.Errorf("%v, want %v: %v", got, want, err)
	}
	if text := f.Section(".text"); text.Type != elf.SHT_NOBITS || text.Size != whole.Section(".text").Size || text.Addr != whole.Section(".text").Addr {
		t.Errorf("%+v", text.SectionHeader)
	}
	needed, err := whole.DynString(elf.DT_NEEDED)
	if err != nil || len(needed) == 0 {
		t.Fatal(needed, err)
	}
	if again, err := f.DynString(elf.DT_NEEDED); err != nil || len(again) != len(needed) || again[0] != needed[0] {
		t.Errorf("%q, want %q: %v", again, needed, err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_DYNAMIC && p.Vaddr == whole.Section(".dynamic").Addr {
			return
		}
	}
	t.Error("no segment of the dynamic section")
}
