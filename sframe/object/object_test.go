package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/sframe"
)

func open(t testing.TB, file string) *elf.File {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func relocatables(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.o")
	if err != nil || len(files) != 7 {
		t.Fatalf("%v, %v", files, err)
	}
	return files
}

// TestRelocatableDump: laid out as the file has it, a relocatable object is
// dumped as the readelf of its own binutils does.
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

// TestApart: laid out apart, each function symbol has an FDE of its place and
// size, and no other has.
func TestApart(t *testing.T) {
	for _, file := range relocatables(t) {
		f := open(t, file)
		l := Apart(f)
		for i, a := range f.Sections {
			for j, b := range f.Sections[:i] {
				if b.Type != elf.SHT_NULL && l[i] < l[j]+b.Size && l[j] < l[i]+a.Size || l[i] == 0 && i > 0 || a.Addralign > 1 && l[i]%a.Addralign != 0 {
					t.Errorf("%s: %s at %#x, %s at %#x", file, a.Name, l[i], b.Name, l[j])
				}
			}
		}
		sections, err := Sections(f, l)
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := f.Symbols()
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

// TestLinked finds sections by name, by type, and by segment where the section
// headers are gone: the same rows each time.
func TestLinked(t *testing.T) {
	const bin = "../../testdata/bin/"
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
		// The bytes alone, as objcopy takes them out.
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
	if s, err := Sections(f, AsLinked(f)); !errors.Is(err, ErrNone) {
		t.Errorf("a Go program: %v, %v", s, err)
	}
}

// TestBadRelocations changes one thing in a relocation at a time.
func TestBadRelocations(t *testing.T) {
	file, err := os.ReadFile("testdata/amd64-v3.o")
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, "testdata/amd64-v3.o")
	rela := f.Section(".rela.sframe")
	header := binary.LittleEndian.Uint64(file[0x28:]) + 64*uint64(index(f, rela))
	for _, tt := range []struct {
		off  uint64 // in the file
		v    uint32
		want string
	}{
		{rela.Offset, 0x9000, "section .sframe: cannot relocate: entry 0: offset 0x9000 lies beyond the section's "},
		{rela.Offset + 24 + 8, 9, "section .sframe: cannot relocate: entry 1: type 9 of EM_X86_64 is not known"},
		{rela.Offset + 12, 77, "section .sframe: cannot relocate: entry 0: symbol 77 of "},
		{header + 40, 0, "section .sframe: cannot relocate: its link 0 is no symbol table"},
		{header + 4, uint32(elf.SHT_REL), "section .sframe: cannot relocate: relocations without addends"},
	} {
		bad := bytes.Clone(file)
		binary.LittleEndian.PutUint32(bad[tt.off:], tt.v)
		_, err := Read(bytes.NewReader(bad), int64(len(bad)))
		if err == nil || !errors.Is(err, ErrRelocation) || !strings.Contains(err.Error(), strings.TrimPrefix(tt.want, "section .sframe: ")) {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
}

func index(f *elf.File, s *elf.Section) int {
	for i := range f.Sections {
		if f.Sections[i] == s {
			return i
		}
	}
	return -1
}

// FuzzRead reads what it can of any file.
func FuzzRead(f *testing.F) {
	for _, name := range append(relocatables(f), "../../testdata/bin/mix-v3-noheaders", "../testdata/amd64-v3.sframe") {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		Read(bytes.NewReader(data), int64(len(data)))
		file, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			return
		}
		l := Apart(file)
		Joined(file, l)
		for _, s := range file.Sections {
			if got, err := Data(file, s, l); err == nil && s.Flags&elf.SHF_COMPRESSED == 0 && len(got) > len(data) {
				t.Fatalf("section %s of %d bytes in a file of %d", s.Name, len(got), len(data))
			}
		}
	})
}
