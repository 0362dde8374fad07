package fromelf_test

import (
	"bytes"
	"debug/elf"
	"io"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/format/breakpad/fromelf"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// FuzzDump writes the symbol file of a program whose debug information somebody has changed.
func FuzzDump(f *testing.F) {
	source, err := filepath.Abs("testdata/seed.c")
	if err != nil {
		f.Fatal(err)
	}
	names := []string{".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_ranges", ".debug_rnglists", ".eh_frame", ".symtab", ".strtab"}
	var text elftest.Section
	for _, version := range []string{"-gdwarf-3", "-gdwarf-5"} {
		program, err := elf.Open(gdbtest.Compile(f, source, gdbtest.Tool(f, "cc"), "-O1", version, "-nostdlib", "-static"))
		if err != nil {
			f.Fatal(err)
		}
		text = elftest.Of(f, program, ".text")
		var parts [][]byte
		for _, name := range names {
			parts = append(parts, elftest.Of(f, program, name).Data)
		}
		f.Add(parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6], parts[7], parts[8], false)
		f.Add(parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6], parts[7], parts[8], true)
		program.Close()
	}
	f.Fuzz(func(t *testing.T, info, abbrev, line, str, ranges, lists, frames, symbols, strings []byte, like bool) {
		file := &elftest.File{Machine: elf.EM_X86_64, Type: elf.ET_EXEC, Sections: []elftest.Section{text}}
		size := 0
		for i, data := range [][]byte{info, abbrev, line, str, ranges, lists, frames, symbols, strings} {
			s := elftest.Section{Name: names[i], Data: data}
			switch names[i] {
			case ".symtab":
				s.Type, s.Link, s.Entsize = elf.SHT_SYMTAB, uint32(len(names))+1, 24
			case ".strtab":
				s.Type = elf.SHT_STRTAB
			case ".eh_frame":
				s.Addr = text.Addr + 1<<20
			}
			file.Sections = append(file.Sections, s)
			size += len(data)
		}
		data := file.Bytes()
		bounds.Hold(t, 8<<20+400*size, func() {
			im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				return
			}
			d, err := fromelf.OpenImage(im, "fuzzed", fromelf.Options{LikeDumpSyms: like})
			if err != nil {
				return
			}
			if n, err := d.WriteTo(io.Discard); err != nil || n > 64<<20 {
				t.Errorf("%d bytes, %v", n, err)
			}
		})
	})
}
