//go:build linux

package elf

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
)

const libc = "/lib/x86_64-linux-gnu/libc.so.6"

// realFiles are ELF files of several kinds.
func realFiles(t testing.TB) []string {
	t.Helper()
	return []string{
		gdbtest.Testdata(t, "bin", "mix-v3"),
		gdbtest.Testdata(t, "bin", "mix-v3-noheaders"),
		gdbtest.Testdata(t, "bin", "plt-v3"),
		gdbtest.Build(t, "cxxwait.cc", "-g", "-O2"),
		gdbtest.Build(t, "gotarget"),
		gdbtest.File(t, libc),
	}
}

func openFile(t testing.TB, name string) *Image {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	im, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return im
}

// output runs a program and returns what it prints.
func output(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(gdbtest.Tool(t, name), args...).Output()
	if err != nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return string(out)
}

func TestBuildID(t *testing.T) {
	found := 0
	for _, name := range realFiles(t) {
		want := ""
		if m := regexp.MustCompile(`Build ID: ([0-9a-f]+)`).FindStringSubmatch(output(t, "readelf", "-n", name)); m != nil {
			want, found = m[1], found+1
		}
		if got := openFile(t, name).BuildID; got != want {
			t.Errorf("%s: %q, readelf says %q", name, got, want)
		}
	}
	if found == 0 {
		t.Error("no file with a build ID")
	}
}

// Find finds each function at any address within it, by one of its names.
func TestSymbols(t *testing.T) {
	for _, name := range realFiles(t) {
		names := make(map[uint64]map[string]bool) // address -> names
		type function struct{ addr, size uint64 }
		var functions []function
		for line := range strings.Lines(output(t, "readelf", "--wide", "--syms", "--dyn-syms", name)) {
			f := strings.Fields(line)
			if len(f) < 8 || f[3] != "FUNC" && f[3] != "IFUNC" || f[6] == "UND" {
				continue
			}
			var addr, size uint64
			fmt.Sscanf(f[1], "%x", &addr)
			fmt.Sscan(f[2], &size)
			if names[addr] == nil {
				names[addr] = make(map[string]bool)
			}
			symbol, _, _ := strings.Cut(strings.Join(f[7:], " "), "@")
			names[addr][symbol] = true
			functions = append(functions, function{addr, size})
		}
		ss := openFile(t, name).Symbols()
		for _, f := range functions {
			for _, at := range []uint64{f.addr, f.addr + f.size/2, f.addr + max(f.size, 1) - 1} {
				s, ok := ss.Find(at)
				if !ok && f.size == 0 {
					continue // a function without a size within none
				}
				symbol, _, _ := strings.Cut(ss.Name(s), "@")
				if !ok || at-s.Addr >= s.Size || f.size > 0 && s.Addr < f.addr || names[s.Addr] != nil && !names[s.Addr][symbol] {
					t.Errorf("%s: %#x (of %#x+%#x): found %v %#x+%#x %q", name, at, f.addr, f.size, ok, s.Addr, s.Size, symbol)
				}
			}
		}
		for i := 1; i < ss.Len(); i++ {
			if ss.At(i-1).Addr >= ss.At(i).Addr {
				t.Fatalf("%s: symbols %d and %d are not in ascending order", name, i-1, i)
			}
		}
		if _, ok := ss.Find(0); ok {
			t.Errorf("%s: a function at address 0", name)
		}
		t.Logf("%s: %d functions", name, len(functions))
	}
}

// Without section headers PT_DYNAMIC leads to the dynamic symbols.
func TestDynamicSymbols(t *testing.T) {
	gdbtest.File(t, libc)
	data, err := os.ReadFile(libc)
	if err != nil {
		t.Fatal(err)
	}
	clear(data[40:48]) // e_shoff
	clear(data[60:64]) // e_shnum, e_shstrndx
	im, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := im.Section(".text"); !errors.Is(err, ErrNoSection) {
		t.Fatalf("section .text: %v", err)
	}
	checkDynamic(t, im.Symbols())
}

// checkDynamic compares functions with the functions of the C library's .dynsym.
func checkDynamic(t *testing.T, ss *Symbols) {
	t.Helper()
	f, err := elf.Open(libc)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, w := range want {
		if elf.ST_TYPE(w.Info) != elf.STT_FUNC || w.Section == elf.SHN_UNDEF {
			continue
		}
		n++
		if s, ok := ss.Find(w.Value); !ok || s.Addr != w.Value || s.Size != w.Size {
			t.Errorf("%s at %#x+%#x: found %v %#x+%#x", w.Name, w.Value, w.Size, ok, s.Addr, s.Size)
		}
	}
	if n < 1000 {
		t.Errorf("%d functions in .dynsym", n)
	}
}

// mappedMemory is a file as the kernel maps it at base.
type mappedMemory struct {
	base  uint64
	data  []byte
	progs []elf.ProgHeader
}

func (m *mappedMemory) ReadMemory(addr uint64, p []byte) (n int, err error) {
	const page = 0xfff
	for n < len(p) {
		at, ok := addr+uint64(n)-m.base, false
		for _, s := range m.progs {
			lo, hi := s.Vaddr&^page, (s.Vaddr+s.Filesz+page)&^page
			if s.Type == elf.PT_LOAD && at >= lo && at < hi {
				off := at - s.Vaddr + s.Off
				if off >= uint64(len(m.data)) {
					break
				}
				n += copy(p[n:min(uint64(len(p)), uint64(n)+hi-at)], m.data[off:])
				ok = true
				break
			}
		}
		if !ok {
			return n, fmt.Errorf("%#x: %w", addr+uint64(n), io.EOF)
		}
	}
	return n, nil
}

// OpenMapped opens a file that only memory has, also after the dynamic linker has relocated its
// PT_DYNAMIC.
func TestOpenMapped(t *testing.T) {
	gdbtest.File(t, libc)
	file := openFile(t, libc)
	for _, relocated := range []bool{false, true} {
		data, err := os.ReadFile(libc)
		if err != nil {
			t.Fatal(err)
		}
		m := &mappedMemory{base: 0x7f12_3456_7000, data: data, progs: file.Progs}
		for _, p := range file.Progs {
			if p.Type != elf.PT_DYNAMIC || !relocated {
				continue
			}
			for dyn := data[p.Off : p.Off+p.Filesz]; len(dyn) > 0; dyn = dyn[16:] {
				switch elf.DynTag(file.Order.Uint64(dyn)) {
				case elf.DT_SYMTAB, elf.DT_STRTAB, elf.DT_HASH, elf.DT_GNU_HASH:
					file.Order.PutUint64(dyn[8:], file.Order.Uint64(dyn[8:])+m.base)
				}
			}
		}
		im, err := OpenMapped(m, m.base, 4<<20)
		if err != nil {
			t.Fatal(err)
		}
		if im.BuildID != file.BuildID || im.BuildID == "" {
			t.Errorf("build ID %q, not %q", im.BuildID, file.BuildID)
		}
		checkDynamic(t, im.Symbols())
		for _, p := range file.Progs {
			if p.Type != elf.PT_LOAD {
				continue
			}
			got := im.Loaded(p.Vaddr, p.Filesz)
			if want := data[p.Off : p.Off+p.Filesz]; !bytes.Equal(got, want) {
				t.Errorf("segment at %#x: %d bytes differ from the file's %d", p.Vaddr, len(got), len(want))
			}
		}
	}
}

// A section that claims to expand further than debug information does is refused.
func TestCompressedSection(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/zeros", make([]byte, 200<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	output(t, "objcopy", "--add-section", ".debug_macro="+dir+"/zeros", gdbtest.Testdata(t, "bin", "plt-v3"), dir+"/large")
	output(t, "objcopy", "--compress-debug-sections=zlib", dir+"/large", dir+"/bomb")
	im := openFile(t, dir+"/bomb")
	if data, _, err := im.Section(".debug_macro"); err == nil || errors.Is(err, ErrNoSection) {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if _, _, err := im.Section(".text"); err != nil {
		t.Error(err)
	}
}

// A file cut off anywhere is opened or refused. The parts that it has can be read.
func TestTruncated(t *testing.T) {
	data, err := os.ReadFile(gdbtest.Testdata(t, "bin", "plt-v3"))
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	for n := range data {
		if tryImage(data[:n]) {
			opened++
		}
	}
	if opened == 0 || opened == len(data) {
		t.Errorf("%d of %d cut-off files were opened", opened, len(data))
	}
}

// tryImage reads all parts of an image.
func tryImage(data []byte) (opened bool) {
	im, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return false
	}
	for _, s := range im.ELF().Sections {
		im.Section(s.Name)
		im.SectionType(s.Type)
	}
	for _, p := range im.Progs {
		im.Segment(p.Type)
		im.Loaded(p.Vaddr, 16)
	}
	ss := im.Symbols()
	for i := range ss.Len() {
		s := ss.At(i)
		ss.Name(s)
		ss.Find(s.Addr + s.Size/2)
	}
	im.dynamicSymbols()
	return true
}

// Files with wrong bytes in their headers and tables cost no more than right ones.
func TestDamaged(t *testing.T) {
	whole, err := os.ReadFile(gdbtest.Testdata(t, "bin", "plt-v3"))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		data := bytes.Clone(whole)
		for range 1 + r.IntN(8) {
			at := r.IntN(len(data))
			switch r.IntN(3) {
			case 0:
				at = r.IntN(0x400) // file and program headers
			case 1:
				at = len(data) - 1 - r.IntN(0x800) // section headers
			}
			data[at] = byte(r.Uint32())
		}
		tryImage(data)
		if im, err := OpenMapped(memtest.Flat{Lo: 0x10000, Data: data}, 0x10000, uint64(len(data))); err == nil {
			im.Symbols()
		}
	}
}
