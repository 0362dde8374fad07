//go:build linux

package symbol

import (
	"bytes"
	"debug/elf"
	"math/rand/v2"
	"os"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

// mappedWhole maps a file so that run-time addresses equal the file's, wherever its code lies in
// it.
func mappedWhole(im *elfimage.Image) *target.Module {
	m := target.NewModule("/hostile", []target.Mapping{{Hi: 1 << 40, Exec: true}}, func() (*elfimage.Image, error) { return im, nil })
	if _, bias, err := m.Image(); err != nil || bias != 0 {
		m = target.NewModule("/hostile", []target.Mapping{{Lo: -bias, Hi: -bias + 1<<40, Exec: true}}, func() (*elfimage.Image, error) { return im, nil })
	}
	return m
}

// locateAll asks for addresses all over the code of an ELF file, and returns how
// many have a line.
func locateAll(data []byte) (lines int) {
	im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0
	}
	m := mappedWhole(im)
	_, bias, err := m.Image()
	if err != nil {
		return 0
	}
	ms := target.NewModules([]*target.Module{m}, nil)
	s := New(Options{DebugDirs: []string{}})
	for _, p := range im.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 {
			continue
		}
		step := min(p.Memsz, 1<<20)/64 + 1
		for i := range uint64(64) {
			for _, l := range s.Locate(ms, p.Vaddr+i*step+bias) {
				if l.Line > 0 {
					lines++
				}
			}
		}
	}
	return lines
}

// debugSections returns the file ranges of an ELF file's DWARF.
func debugSections(t testing.TB, data []byte) (ranges [][2]int) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Sections {
		if len(s.Name) > 7 && s.Name[:7] == ".debug_" {
			ranges = append(ranges, [2]int{int(s.Offset), int(s.Offset + s.Size)})
		}
	}
	if len(ranges) < 5 {
		t.Fatalf("%d sections of DWARF", len(ranges))
	}
	return ranges
}

// Wrong bytes anywhere in DWARF only give fewer answers.
func TestDamagedDWARF(t *testing.T) {
	for _, flags := range [][]string{{"-gdwarf-5", "-O2"}, {"-gdwarf-4", "-O2"}} {
		file := compile(t, sources(t), "cc", "calls.c", append(flags, "-Iinc", "-no-pie")...)
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		best := locateAll(whole)
		if best == 0 {
			t.Fatal("no lines in the undamaged file")
		}
		sections := debugSections(t, whole)
		r := rand.New(rand.NewPCG(3, 4))
		fewer := 0
		for range 3000 {
			data := bytes.Clone(whole)
			for range 1 + r.IntN(4) {
				s := sections[r.IntN(len(sections))]
				at := s[0] + r.IntN(s[1]-s[0])
				switch r.IntN(4) {
				case 0:
					data[at] = 0xff
				case 1:
					data[at] ^= 1 << r.IntN(8)
				case 2: // a run: long numbers, wide offsets
					for i := at; i < min(at+1+r.IntN(9), s[1]); i++ {
						data[i] = byte(0x7f + r.IntN(3))
					}
				default: // one part in place of another
					copy(data[at:min(at+64, s[1])], data[s[0]+r.IntN(s[1]-s[0]):s[1]])
				}
			}
			if locateAll(data) < best {
				fewer++
			}
		}
		if fewer < 100 {
			t.Errorf("%d of the damaged files have fewer lines than the whole one", fewer)
		}
	}
}

// FuzzLocate changes whole files.
func FuzzLocate(f *testing.F) {
	var seeds [][]byte
	for _, name := range []string{"c5", "c4", "c5-zlib", "cxx5", "s390x4"} {
		seeds = append(seeds, fixture(f, "small/"+name))
	}
	// A procedure linkage table, names that are compressed, and a link.
	plt, err := os.ReadFile(gdbtest.Testdata(f, "bin", "plt-v3"))
	if err != nil {
		f.Fatal(err)
	}
	linked := elftest.Some(f, elfOf(f, plt), ".plt", ".plt.sec", ".plt.got", ".rela.plt", ".dynsym", ".dynstr")
	mini, err := os.ReadFile("testdata/mini.xz")
	if err != nil {
		f.Fatal(err)
	}
	small, err := unpack(new(elfimage.Image), mini)
	if err != nil {
		f.Fatal(err)
	}
	linked.Sections = append(linked.Sections, elftest.Section{Name: ".gnu_debugdata", Data: stored(small, 0)}, elftest.Section{Name: ".gnu_debuglink", Data: []byte("abc\x00\x12\x34\x56\x78")})
	seeds = append(seeds, linked.Bytes())
	for _, data := range seeds {
		f.Add(data)
	}
	// The function tables of Go, without DWARF.
	for _, name := range []string{"go1.15", "go1.26"} {
		packed, err := os.ReadFile("../format/gopclntab/testdata/releases/" + name + ".xz")
		if err != nil {
			f.Fatal(err)
		}
		whole, err := unpack(new(elfimage.Image), packed)
		if err != nil {
			f.Fatal(err)
		}
		data := elftest.Some(f, elfOf(f, whole), ".note.go.buildid", ".text", ".gopclntab", ".data.rel.ro", ".rela.dyn", ".dynamic", ".noptrdata", ".go.module").Without(".text").Bytes()
		if lines := locateAll(data); lines < 10 {
			f.Fatalf("%s: %d lines", name, lines)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, dwarfMemory(data), func() { locateAll(data) })
	})
}

func BenchmarkLocate(b *testing.B) {
	dir := sources(b)
	cxx := compile(b, dir, "c++", "names.cc", "-std=c++17", "-O2", "-g")
	for name, opts := range map[string]Options{"lines": {}, "symbols": {SymbolsOnly: true}} {
		b.Run(name, func(b *testing.B) {
			ms, bias := mapped(b, cxx)
			addresses := textAddresses(b, cxx, ".text", 7)
			s := New(opts)
			for _, a := range addresses {
				s.Locate(ms, a+bias)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				s.Locate(ms, addresses[i%len(addresses)]+bias)
			}
		})
	}
}

// BenchmarkOpen asks for one address of a program of which nothing was read before.
func BenchmarkOpen(b *testing.B) {
	file := gdbtest.Build(b, "gotarget")
	addresses := textAddresses(b, file, ".text", 4096)
	b.ReportAllocs()
	for i := range b.N {
		ms, bias := mapped(b, file)
		New(Options{}).Locate(ms, addresses[i%len(addresses)]+bias)
	}
}
