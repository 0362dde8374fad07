package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

func open(t testing.TB, name string) *elfimage.Image {
	t.Helper()
	im, file, err := elfimage.OpenFile(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return im
}

func relocatables(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.o")
	if err != nil || len(files) != 15 {
		t.Fatalf("%v, %v", files, err)
	}
	return files
}

// TestRelocatableDump: Dump prints a relocatable object, laid out AsLinked, as the readelf of its
// own binutils does.
func TestRelocatableDump(t *testing.T) {
	for _, file := range relocatables(t) {
		want, err := os.ReadFile(strings.TrimSuffix(file, ".o") + ".readelf")
		if err != nil {
			t.Fatal(err)
		}
		f := open(t, file)
		sections, err := Sections(f, AsLinked(f))
		if err != nil || len(sections) != 1 {
			t.Fatalf("%s: %v, %v", file, sections, err)
		}
		var got bytes.Buffer
		got.WriteString("Contents of the SFrame section " + sections[0].Name + ":\n")
		if err := sections[0].Dump(&got); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s:\n%s\nreadelf:\n%s", file, &got, want)
		}
	}
}

// TestApart: with the addresses of Apart, each function symbol has an FDE of its place and size.
// There are no other FDEs.
func TestApart(t *testing.T) {
	for _, file := range relocatables(t) {
		f := open(t, file)
		l := Apart(f)
		for i, a := range f.ELF().Sections {
			for j, b := range f.ELF().Sections[:i] {
				if b.Type != elf.SHT_NULL && l[i] < l[j]+b.Size && l[j] < l[i]+a.Size || l[i] == 0 && i > 0 || a.Addralign > 1 && l[i]%a.Addralign != 0 {
					t.Errorf("%s: %s at %#x, %s at %#x", file, a.Name, l[i], b.Name, l[j])
				}
			}
		}
		sections, err := Sections(f, l)
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := standard(t, f).Symbols()
		if err != nil {
			t.Fatal(err)
		}
		functions := 0
		for _, sym := range symbols {
			if elf.ST_TYPE(sym.Info) != elf.STT_FUNC || sym.Section == elf.SHN_UNDEF {
				continue
			}
			functions++
			fde, err := sections[0].FindFDE(l[sym.Section] + sym.Value)
			if err != nil || fde.Start != l[sym.Section]+sym.Value || uint64(fde.Size) != sym.Size {
				t.Errorf("%s: %s: %+v, %v", file, sym.Name, fde, err)
			}
		}
		if functions != 3 || int(sections[0].NumFDEs) != functions {
			t.Errorf("%s: %d functions, %d FDEs", file, functions, sections[0].NumFDEs)
		}
		c, err := Joined(f, l)
		if err != nil || len(c.Functions) != functions {
			t.Errorf("%s: joined: %+v, %v", file, c, err)
		}
	}
}

// TestLinked finds sections by name, by type, and by segment if the section headers are gone. The
// rows are the same each time.
func TestLinked(t *testing.T) {
	const bin = "../../../testdata/bin/"
	var first *sframe.Contents
	for _, file := range []string{"mix-v3", "mix-v3-noheaders", "mix-v2"} {
		f := open(t, bin+file)
		sections, err := Sections(f, Apart(f))
		if err != nil || len(sections) != 1 {
			t.Fatalf("%s: %v, %v", file, sections, err)
		}
		s := sections[0]
		if strings.HasSuffix(file, "noheaders") != (s.Index == -1) {
			t.Errorf("%s: index %d", file, s.Index)
		}
		c, err := s.Contents()
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case first == nil:
			first = c
		case file == "mix-v3-noheaders" && len(c.Functions) != len(first.Functions):
			t.Errorf("%s: %d functions, not %d", file, len(c.Functions), len(first.Functions))
		}
		// The section's bytes alone, as objcopy extracts them.
		bare, err := Read(bytes.NewReader(s.Data), int64(len(s.Data)))
		if err != nil || len(bare) != 1 || bare[0].NumFDEs != s.NumFDEs {
			t.Errorf("%s: bare: %v, %v", file, bare, err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, self)
	if s, err := Sections(f, AsLinked(f)); !errors.Is(err, ErrNoSFrame) {
		t.Errorf("a Go program: %v, %v", s, err)
	}
}

// TestBadRelocations changes one thing in a relocation at a time.
func TestBadRelocations(t *testing.T) {
	for _, v := range []string{"v2", "v3"} {
		name := "testdata/amd64-" + v + ".o"
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f := open(t, name)
		rela := f.ELF().Section(".rela.sframe")
		header := headerOf(file, f, ".rela.sframe")
		symbol := f.ELF().Section(".symtab").Offset + 24*uint64(binary.LittleEndian.Uint32(file[rela.Offset+12:])) // of entry 0
		overflow := "entry 0: 0x10000"                                                                             // V2 has fields of 4 bytes
		if v == "v3" {
			overflow = ""
		}
		for _, tt := range []struct {
			off  uint64 // in the file
			v    uint32
			want string
		}{
			{rela.Offset, 0x9000, "entry 0: offset 0x9000 lies beyond the section's "},
			{rela.Offset + 24 + 8, 9, "entry 1: type 9 of EM_X86_64 is not known"},
			{rela.Offset + 12, 77, "entry 0: symbol 77 of "},
			{rela.Offset + 20, 1, overflow},
			{symbol + 4, 0x4000 << 16, "section index 16384 of "},
			{symbol + 4, 0xffff << 16, "its section index is in an SHT_SYMTAB_SHNDX section, which is missing"},
			{header + 32, 24 * 77, "77 entries for the section's "},
			{header + 40, 0, "its link 0 is no symbol table"},
			{header + 4, uint32(elf.SHT_REL), "relocations without addends"},
		} {
			bad := bytes.Clone(file)
			binary.LittleEndian.PutUint32(bad[tt.off:], tt.v)
			_, err := Read(bytes.NewReader(bad), int64(len(bad)))
			if tt.want == "" && err == nil {
				continue
			}
			if err == nil || !errors.Is(err, ErrRelocation) || !strings.HasPrefix(err.Error(), "section .rela.sframe: cannot relocate: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: got  %v\nwant %s", name, err, tt.want)
			}
		}
	}
}

// TestBounds: Read refuses sections whose bytes would be out of proportion to the file.
func TestBounds(t *testing.T) {
	file, err := os.ReadFile("testdata/amd64-v3.o")
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, "testdata/amd64-v3.o")
	sframe := headerOf(file, f, ".sframe")
	for _, tt := range []struct {
		change func(file []byte)
		want   string
	}{
		{func(file []byte) { copy(file[headerOf(file, f, ".eh_frame")+4:][:60], file[sframe+4:]) }, // its type, place and size
			") shares bytes of the file with section "},
		{func(file []byte) { binary.LittleEndian.PutUint64(file[sframe+32:], 1<<40) },
			"read section .sframe: 0x10000000000 bytes"},
		{func(file []byte) { binary.LittleEndian.PutUint64(file[sframe+32:], 1<<20) },
			"read section .sframe: 0x100000 bytes"},
		{func(file []byte) {
			file[sframe+8+1] |= byte(elf.SHF_COMPRESSED >> 8)
			data := file[f.ELF().Section(".sframe").Offset:]
			binary.LittleEndian.PutUint32(data, uint32(elf.COMPRESS_ZLIB))
			binary.LittleEndian.PutUint64(data[8:], 1<<30)
		}, "section .sframe is compressed, which SFrame never is"},
	} {
		bad := bytes.Clone(file)
		tt.change(bad)
		if s, err := Read(bytes.NewReader(bad), int64(len(bad))); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got  %v, %v\nwant %s", s, err, tt.want)
		}
	}
}

// TestManySections: with more than 65,280 sections, a symbol's section index is in
// SHT_SYMTAB_SHNDX.
func TestManySections(t *testing.T) {
	const n = 65300
	dir := t.TempDir()
	source, object := filepath.Join(dir, "many.s"), filepath.Join(dir, "many.o")
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, ".section .text.f%d,\"ax\",@progbits\nnop\n", i)
	}
	b.WriteString(".type last, @function\nlast:\n.cfi_startproc\nnop\nret\n.cfi_endproc\n.size last, .-last\n")
	if err := os.WriteFile(source, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gdbtest.Assembler(t, "x86_64-linux-gnu-as"), "--gsframe", "-o", object, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.200s", err, out)
	}
	f := open(t, object)
	l := Apart(f)
	sections, err := Sections(f, l)
	if err != nil {
		t.Fatal(err)
	}
	fde, err := sections[0].FDE(0)
	last := f.ELF().Section(fmt.Sprintf(".text.f%d", n-1))
	if want := l[index(f.ELF(), last)] + 1; err != nil || fde.Start != want || fde.Size != 2 {
		t.Errorf("%+v, %v; want a start of %#x", fde, err, want)
	}
}

// standard returns a file as debug/elf has it.
func standard(t testing.TB, im *elfimage.Image) *elf.File {
	t.Helper()
	f, err := im.Standard()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// headerOf returns the offset of a section's header in an amd64 file.
func headerOf(file []byte, f *elfimage.Image, name string) uint64 {
	return binary.LittleEndian.Uint64(file[0x28:]) + 64*uint64(index(f.ELF(), f.ELF().Section(name)))
}

func index(f *elfimage.File, s *elfimage.Section) int {
	for i := range f.Sections {
		if f.Sections[i] == s {
			return i
		}
	}
	return -1
}

// FuzzRead reads what it can of any file.
func FuzzRead(f *testing.F) {
	for _, name := range append(relocatables(f), "../testdata/amd64-v3.sframe") {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	whole := open(f, "../../../testdata/bin/mix-v3")
	bare := elftest.Some(f, standard(f, whole), ".sframe", ".text").Without(".text")
	bare.Bare, bare.Sections[0].Segment = true, elfimage.PT_GNU_SFRAME
	if list, err := Read(bytes.NewReader(bare.Bytes()), int64(len(bare.Bytes()))); len(list) != 1 {
		f.Fatalf("without section headers: %v, %v", list, err)
	}
	f.Add(bare.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) { readFile(t, data) })
}

func readFile(t *testing.T, data []byte) {
	// debug/elf reads tables of headers in pieces of 10 MiB.
	bounds.Hold(t, 32<<20+64*len(data), func() {
		Read(bytes.NewReader(data), int64(len(data)))
		im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		l := Apart(im)
		Joined(im, l)
		for _, s := range im.ELF().Sections {
			if got, err := Data(im, s, l); err == nil && s.Flags&elf.SHF_COMPRESSED == 0 && len(got) > len(data) {
				t.Fatalf("section %s of %d bytes in a file of %d", s.Name, len(got), len(data))
			}
		}
	})
}

// FuzzRelocate changes a section, its relocations, and the symbols in these.
func FuzzRelocate(f *testing.F) {
	machines := []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64, elf.EM_S390}
	var seen []elf.Machine
	for _, name := range relocatables(f) {
		file := open(f, name)
		section := elftest.Of(f, standard(f, file), ".sframe")
		kind, options := elf.SHT_RELA, uint8(slices.Index(machines, file.Machine))
		rela := elftest.Of(f, standard(f, file), ".rela.sframe")
		if rela.Name == "" {
			kind, rela = elf.SHT_REL, elftest.Of(f, standard(f, file), ".rel.sframe")
		}
		if file.Order == binary.BigEndian {
			options |= 4
		}
		if file.Class == elf.ELFCLASS32 {
			options |= 8
		}
		if kind == elf.SHT_REL {
			options |= 16
		}
		if options&3 == 3 {
			f.Fatalf("%s: %v", name, file.Machine)
		}
		seen = append(seen, file.Machine)
		f.Add(section.Data, rela.Data, elftest.Of(f, standard(f, file), ".symtab").Data, options)
	}
	if len(slices.Compact(seen)) < len(machines) {
		f.Fatalf("only %v", seen)
	}
	f.Fuzz(func(t *testing.T, section, relocations, symbols []byte, options uint8) {
		file := elftest.File{Type: elf.ET_REL, Machine: machines[options&3%3], Sections: []elftest.Section{
			{Name: ".text", Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Data: make([]byte, 64)},
			{Name: ".sframe", Flags: elf.SHF_ALLOC, Type: elfimage.SHT_GNU_SFRAME, Data: section},
			{Name: ".rela.sframe", Type: elf.SHT_RELA, Link: 4, Info: 2, Data: relocations, Entsize: 24},
			{Name: ".symtab", Type: elf.SHT_SYMTAB, Link: 5, Data: symbols, Entsize: 24},
			{Name: ".strtab", Type: elf.SHT_STRTAB, Data: []byte("\x00")},
		}}
		if options&4 != 0 {
			file.Order = binary.BigEndian
		}
		if options&8 != 0 {
			file.Class, file.Sections[2].Entsize, file.Sections[3].Entsize = elf.ELFCLASS32, 12, 16
		}
		if options&16 != 0 {
			file.Sections[2].Type = elf.SHT_REL
		}
		readFile(t, file.Bytes())
	})
}
