package separate_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/format/sframe/fromcfi"
	"github.com/sfwalk/sfwalk/format/sframe/separate"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

var programs = []string{
	"/lib/x86_64-linux-gnu/libc.so.6", "../../../testdata/bin/mix-v3", "../../../testdata/bin/mix-v3-noheaders",
	"../../../internal/sframeverify/testdata/arm64-v3.so", "../../../internal/sframeverify/testdata/arm64be-v3.so", "../../../internal/sframeverify/testdata/s390x-v3.so",
}

// programAndFile returns a program and its separate file.
func programAndFile(t *testing.T, path string, v sframe.Version) ([]byte, *elf.File) {
	t.Helper()
	im, file, err := elfimage.OpenFile(gdbtest.File(t, path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	source, err := fromcfi.Open(im)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := source.Contents()
	c, _, err = fromcfi.Fit(c, v)
	if err != nil {
		t.Fatal(err)
	}
	of, err := im.Standard()
	if err != nil {
		t.Fatal(err)
	}
	data, err := separate.Encode(of, c)
	if err != nil {
		t.Fatal(err)
	}
	return data, of
}

// TestBinutils has binutils read the files, if this machine's binutils know the file's machine. The
// build ID equals the program's, and the sections are well formed.
func TestBinutils(t *testing.T) {
	readelf := gdbtest.Tool(t, "readelf")
	run := func(args ...string) string {
		out, err := exec.Command(readelf, args...).CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("Warning")) || bytes.Contains(out, []byte("Error")) {
			t.Errorf("readelf %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	buildID := regexp.MustCompile(`Build ID: ([0-9a-f]+)`)
	for _, path := range programs {
		for _, v := range []sframe.Version{sframe.V2, sframe.V3} {
			data, f := programAndFile(t, path, v)
			out := filepath.Join(t.TempDir(), "out")
			if err := separate.Write(out, data); err != nil {
				t.Fatal(err)
			}
			got, want := buildID.FindStringSubmatch(run("-n", out)), buildID.FindStringSubmatch(run("-n", path))
			if got == nil || want == nil || got[1] != want[1] || got[1] != separate.BuildID(f) {
				t.Errorf("%s: build ID %v, readelf says %v", path, got, want)
			}
			kind := map[sframe.Version]string{sframe.V2: "PROGBITS", sframe.V3: "(LOOS\\+0xffffff4|GNU_SFRAME)"}[v] // as binutils knows the type or not
			if text := run("-SW", out); !regexp.MustCompile(`\] \.sframe +` + kind + ` .* A `).MatchString(text) {
				t.Errorf("%s V%d:\n%s", path, v, text)
			}
			for _, line := range []string{"Class", "Data", "Type", "Machine"} {
				pattern := regexp.MustCompile(line + `: +\S+`)
				if got, want := pattern.FindString(run("-h", out)), pattern.FindString(run("-h", path)); got != want || got == "" {
					t.Errorf("%s: %s, want %s", path, got, want)
				}
			}
		}
	}
}

// TestSection reads the files with debug/elf. The section lies behind everything that the program
// loads, and has an FDE at a function's address in the program.
func TestSection(t *testing.T) {
	for _, path := range programs {
		data, program := programAndFile(t, path, sframe.V3)
		f, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		s := f.Section(".sframe")
		content, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range program.Progs {
			if p.Type == elf.PT_LOAD && s.Addr < p.Vaddr+p.Memsz {
				t.Errorf("%s: the section at %#x lies in a segment", path, s.Addr)
			}
		}
		section, err := sframe.Open(content, s.Addr)
		if err != nil {
			t.Fatal(err)
		}
		entry := program.Entry
		if sym, err := program.DynamicSymbols(); entry == 0 && err == nil {
			entry = sym[slices.IndexFunc(sym, func(s elf.Symbol) bool { return elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value > 0 })].Value
		}
		if fde, err := section.FindFDE(entry); err != nil || fde.Start > entry {
			t.Errorf("%s: FDE %+v for %#x, %v", path, fde, entry, err)
		}
	}
}

// TestRelocatable: an object's functions have no addresses.
func TestRelocatable(t *testing.T) {
	f := &elf.File{FileHeader: elf.FileHeader{Class: elf.ELFCLASS64, Type: elf.ET_REL}}
	if _, err := separate.Encode(f, &sframe.Contents{Version: sframe.V3, ABI: sframe.AMD64}); !errors.Is(err, separate.ErrRelocatable) {
		t.Error(err)
	}
}

func TestPaths(t *testing.T) {
	want := []string{filepath.FromSlash("dir/.build-id/ab/cdef.sframe"), filepath.FromSlash("dir/ab/cdef.sframe")}
	if got := separate.Paths("dir", "abcdef"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, id := range []string{"", "ab", "..", "../../", "ab/../cd", "abcd/"} {
		if got := separate.Paths("dir", id); got != nil {
			t.Errorf("Paths(%q) = %q", id, got)
		}
	}
}

// TestWrite: Write writes whole files or none, and leaves nothing else behind.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "out")
	for _, text := range []string{"one", "another"} {
		if err := separate.Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := separate.Write(filepath.Join(dir, "a"), []byte("x")); err == nil {
		t.Error("a folder was written over")
	}
	if err := separate.Write(filepath.Join(path, "below a file"), []byte("x")); err == nil {
		t.Error("a file served as a folder")
	}
	var names []string
	for _, d := range []string{dir, filepath.Dir(path)} {
		entries, err := os.ReadDir(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	if got := strings.Join(names, " "); got != "a out" {
		t.Errorf("left behind: %s", got)
	}
}

// FuzzBuildID reads arbitrary notes, in a section or a segment. A separate file has the build ID
// that was read.
func FuzzBuildID(f *testing.F) {
	program, err := elf.Open("../../../testdata/bin/plt-v3")
	if err != nil {
		f.Fatal(err)
	}
	defer program.Close()
	notes := elftest.Of(f, program, ".note.gnu.build-id").Data
	if len(notes) == 0 {
		f.Fatal("the program has no build ID")
	}
	property := []byte("\x04\x00\x00\x00\x04\x00\x00\x00\x05\x00\x00\x00GNU\x00abcd")
	for options := range uint8(8) {
		f.Add(notes, uint64(0x1000), options)
		f.Add(append(property, notes...), uint64(0x1000), options)
	}
	f.Fuzz(func(t *testing.T, notes []byte, addr uint64, options uint8) {
		note := elftest.Section{Name: ".note.gnu.build-id", Type: elf.SHT_NOTE, Segment: elf.PT_NOTE, Flags: elf.SHF_ALLOC, Addr: addr, Data: notes, Align: 4}
		in := elftest.File{Machine: elf.EM_X86_64, Type: elf.ET_DYN, Sections: []elftest.Section{note}}
		in.Bare = options&1 != 0
		if options&2 != 0 {
			in.Order, in.Machine = binary.BigEndian, elf.EM_S390
		}
		if options&4 != 0 {
			in.Sections[0].Segment = 0
		}
		data := in.Bytes()
		bounds.Hold(t, 64<<10+64*len(data), func() {
			file, err := elf.NewFile(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			id := separate.BuildID(file)
			if raw, err := hex.DecodeString(id); err != nil || len(raw) > len(notes) || !bytes.Contains(notes, raw) {
				t.Errorf("%q: %v", id, err)
			}
			programAndFile, err := separate.Encode(file, &sframe.Contents{Version: sframe.V3, ABI: sframe.AMD64})
			if err != nil {
				t.Fatal(err)
			}
			again, err := elf.NewFile(bytes.NewReader(programAndFile))
			if err != nil {
				t.Fatal(err)
			}
			if got := separate.BuildID(again); got != id {
				t.Errorf("build ID %q of a file that is for %q", got, id)
			}
			if s := again.Section(".sframe"); s == nil || s.Addr&0xfff != 0 {
				t.Errorf("section %+v", s)
			}
		})
	})
}
