package sframe_test

import (
	"bytes"
	"debug/elf"
	"os"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	format "github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/sniffer/sframe"
	"github.com/sfwalk/sfwalk/target"
)

// loaded is an ELF file as a kernel maps it: its segments at base, in pages.
type loaded map[uint64][]byte

const base = 0x7f0000000000

func load(t *testing.T, file []byte) (loaded, []target.Mapping) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	mem := loaded{}
	var mappings []target.Mapping
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		lo, hi := p.Vaddr&^0xfff, (p.Vaddr+p.Memsz+0xfff)&^0xfff
		data := make([]byte, hi-lo)
		copy(data, file[p.Off&^0xfff:p.Off+p.Filesz])
		mem[base+lo] = data
		mappings = append(mappings, target.Mapping{Lo: base + lo, Hi: base + hi, Offset: p.Off &^ 0xfff, Exec: p.Flags&elf.PF_X != 0})
	}
	return mem, mappings
}

func (m loaded) ReadMemory(addr uint64, p []byte) (int, error) {
	for lo, data := range m {
		if addr >= lo && addr-lo < uint64(len(data)) {
			if n := copy(p, data[addr-lo:]); n == len(p) {
				return n, nil
			} else {
				return n, target.ErrUnmapped
			}
		}
	}
	return 0, target.ErrUnmapped
}

// TestFromMemory finds the SFrame section of a module without a file, such as the vDSO, through
// PT_GNU_SFRAME in memory. Every function has the same rows as in the file.
func TestFromMemory(t *testing.T) {
	for _, name := range []string{"mix-v3", "mix-v3-noheaders", "mix-v2"} {
		t.Run(name, func(t *testing.T) {
			file, err := os.ReadFile("../../testdata/bin/" + name)
			if err != nil {
				t.Fatal(err)
			}
			mem, mappings := load(t, file)
			m := target.NewModule(name, mappings, func() (*elfimage.Image, error) { return elfimage.OpenMapped(mem, base, 1<<20) })
			got := sframe.SectionOf(m, amd64.Arch)
			m = target.NewModule(name, mappings, func() (*elfimage.Image, error) { return elfimage.Open(bytes.NewReader(file), int64(len(file))) })
			want := sframe.SectionOf(m, amd64.Arch)
			if got.Section == nil || want.Section == nil || got.Bias != base || want.Bias != base {
				t.Fatalf("in memory %+v, in the file %+v", got, want)
			}
			rows := 0
			for fde, err := range want.FDEs() {
				if err != nil {
					t.Fatal(err)
				}
				for pc := fde.Start; pc < fde.Start+uint64(fde.Size); pc++ {
					a, errA := got.Find(pc)
					b, errB := want.Find(pc)
					if a != b || (errA == nil) != (errB == nil) {
						t.Fatalf("%#x: %v %v, in the file %v %v", pc, a, errA, b, errB)
					}
					if a != (format.Row{}) {
						rows++
					}
				}
			}
			if rows < 1000 {
				t.Errorf("only %d PCs have a row", rows)
			}
		})
	}
}
