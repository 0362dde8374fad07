package elftest_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/elftest"
)

// debug/elf finds the documented parts in a program, at addresses that are their offsets in the
// file.
func TestProgram(t *testing.T) {
	for _, class := range []elf.Class{elf.ELFCLASS64, elf.ELFCLASS32} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			data := elftest.Program(class, order, elf.EM_X86_64, elf.ET_DYN).Bytes()
			f, err := elf.NewFile(bytes.NewReader(data))
			if err != nil || len(data) > 3<<10 {
				t.Fatalf("%v %v: %d bytes, %v", class, order, len(data), err)
			}
			all, err := f.Symbols()
			dynamic, dynErr := f.DynamicSymbols()
			if err != nil || dynErr != nil || len(all) != 7 || len(dynamic) != 7 || all[3].Name != "main" || all[3].Value != f.Entry || all[1].Name != "main.cold" {
				t.Errorf("%v %v: symbols %v, %v, %v, %v", class, order, all, err, dynamic, dynErr)
			}
			if names, err := f.DynString(elf.DT_SONAME); err != nil || len(names) != 1 || names[0] != "libsmall.so.1" {
				t.Errorf("%v %v: %v, %v", class, order, names, err)
			}
			for _, name := range []string{".debug_info", ".zdebug_line"} {
				if text, err := f.Section(name).Data(); err != nil || name[1] == 'd' && !bytes.Equal(text, bytes.Repeat([]byte("debug"), 20)) {
					t.Errorf("%v %v: %s is %q, %v", class, order, name, text, err)
				}
			}
			for _, p := range f.Progs {
				if p.Vaddr != p.Off {
					t.Errorf("%v %v: %+v", class, order, p.ProgHeader)
				}
			}
			data = elftest.Program(class, order, elf.EM_X86_64, elf.ET_DYN).Mapped()
			if f, err = elf.NewFile(bytes.NewReader(data)); err != nil {
				t.Fatal(err)
			}
			loaded := 0
			for _, p := range f.Progs {
				if p.Type == elf.PT_LOAD {
					loaded++
					if p.Off != 0 || p.Vaddr != 0 || p.Filesz != uint64(len(data)) || p.Memsz != p.Filesz || p.Flags != elf.PF_R|elf.PF_X {
						t.Errorf("%v %v: %+v", class, order, p.ProgHeader)
					}
				}
			}
			if loaded != 1 {
				t.Errorf("%v %v: %d segments are loaded", class, order, loaded)
			}
		}
	}
}
