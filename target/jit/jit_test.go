package jit

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/i386"
	"github.com/sfwalk/sfwalk/format/cfi"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// memory is a process's memory, in pieces by address.
type memory map[uint64][]byte

func (m memory) ReadMemory(addr uint64, p []byte) (int, error) {
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

const (
	descriptorAt = 0x1000
	entriesAt    = 0x2000 // entry n is at entriesAt + 32*n
	objectAt     = 0x10_0000
)

// words encodes words.
func words(list ...uint64) (b []byte) {
	for _, w := range list {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// process is memory with a list of objects. Each is an address and a size.
func process(objects ...[2]uint64) memory {
	m := memory{descriptorAt: words(1, 0, 0)}
	if len(objects) > 0 {
		m[descriptorAt] = words(1, 0, entriesAt)
	}
	var entries []byte
	for i, o := range objects {
		next := uint64(entriesAt + 32*(i+1))
		if i+1 == len(objects) {
			next = 0
		}
		entries = append(entries, words(next, 0, o[0], o[1])...)
	}
	m[entriesAt] = entries
	return m
}

// read reads the list of a process on architecture a, and returns its objects and the warnings.
func read(mem target.Memory, a *arch.Arch) (r *reader, list []*target.Module, warnings string) {
	var b strings.Builder
	r = newReader(mem, a, func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) })
	list = r.follow(descriptorAt, map[uint64]bool{}, nil)
	r.summarize(len(list))
	return r, list, b.String()
}

func fixture(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/llvm.o")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// An object of LLVM's, relocatable, with several sections and DWARF 5, means what gdb says. So it
// does if its abbreviations end without a 0, as LuaJIT's do.
func TestLLVM(t *testing.T) {
	testLLVM(t, fixture(t))
	t.Run("abbreviations without an end", func(t *testing.T) {
		data := fixture(t)
		s := (&relocatable{data: data, arch: amd64.Arch, layout: layoutOf(amd64.Arch)}).section(10) // .debug_abbrev
		binary.LittleEndian.PutUint64(s.b[32:], s.size()-1)
		testLLVM(t, data)
	})
}

func testLLVM(t *testing.T, data []byte) {
	mem := process([2]uint64{objectAt, uint64(len(data))})
	mem[objectAt] = data
	_, list, warnings := read(mem, amd64.Arch)
	if len(list) != 1 || warnings != "" {
		t.Fatalf("%d objects, warnings %q", len(list), warnings)
	}
	modules := target.NewModules(nil, []target.Mapping{{Lo: 1 << 46, Hi: 1 << 47, Exec: true}})
	modules.Register(func() target.Registered { return target.Registered{Objects: list} })
	symbols := symbol.New(symbol.Options{})
	defer symbols.Close()
	golden, err := os.ReadFile("testdata/llvm.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(golden)) {
		var pc uint64
		var names string
		var number int
		if _, err := fmt.Sscanf(line, "%v %s %d\n", &pc, &names, &number); err != nil {
			t.Fatal(line, err)
		}
		at := symbols.Locate(modules, pc)
		var got []string
		for _, l := range at {
			got = append(got, l.Function)
		}
		if strings.Join(got, "<") != names || at[0].Line != number || at[0].Module != list[0] {
			t.Errorf("%#x: %q line %d in %v, gdb has %s line %d", pc, got, at[0].Line, at[0].Module, names, number)
		}
		// Without debug information, the symbol table has the same functions.
		im, bias, err := list[0].Image()
		if err != nil || bias != 0 {
			t.Fatal(bias, err)
		}
		if s, ok := im.Symbols().Find(pc); !ok || im.Symbols().Name(s) != got[len(got)-1] {
			t.Errorf("%#x: symbol %v %v", pc, s, ok)
		}
	}
	for _, w := range symbols.Warnings(list[0]) {
		t.Error(w)
	}
}

// A process need not place the tables that only debuggers use. They say the same as placed ones.
func TestTablesWithoutPlace(t *testing.T) {
	data := fixture(t)
	var starts [2][]uint64
	for i := range starts {
		if i == 1 {
			data = withoutAddress(t, data, ".eh_frame")
		}
		mem := process([2]uint64{objectAt, uint64(len(data))})
		mem[objectAt] = data
		_, list, _ := read(mem, amd64.Arch)
		im, _, err := list[0].Image()
		if err != nil {
			t.Fatal(err)
		}
		tables, addr, err := im.Section(".eh_frame")
		if err != nil {
			t.Fatal(err)
		}
		s, err := cfi.Open(cfi.EH, tables, addr, cfi.Options{ABI: cfi.ABI{Order: im.Order, PtrSize: 8}})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list[0].Mappings {
			f, err := s.Find(m.Lo)
			if err != nil || f.Start != m.Lo || f.Start+f.Len != m.Hi {
				t.Errorf("FDE of [%#x, %#x): %+v, %v", m.Lo, m.Hi, f, err)
			}
			starts[i] = append(starts[i], f.Start)
		}
	}
	if len(starts[0]) != 3 {
		t.Errorf("%d functions, want 3", len(starts[0]))
	}
}

// withoutAddress returns the object with the address of a section changed to 0.
func withoutAddress(t *testing.T, data []byte, name string) []byte {
	t.Helper()
	data = bytes.Clone(data)
	im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	f := &relocatable{data: data, arch: amd64.Arch, layout: layoutOf(amd64.Arch)}
	for i, s := range im.ELF().Sections {
		if s.Name == name {
			binary.LittleEndian.PutUint64(f.section(uint64(i)).b[16:], 0)
			return data
		}
	}
	t.Fatalf("no section %s", name)
	return nil
}

// everywhere is memory whose entries go on for ever.
type everywhere struct{}

func (everywhere) ReadMemory(addr uint64, p []byte) (int, error) {
	clear(p)
	switch {
	case addr == descriptorAt:
		copy(p, words(1, 0, entriesAt))
	case len(p) == 32:
		copy(p, words(addr+32, 0, objectAt, 1<<20))
	}
	return len(p), nil
}

// A broken list ends, with a reason.
func TestBrokenLists(t *testing.T) {
	good := fixture(t)
	size := uint64(len(good))
	with := func(m memory, change func(memory)) memory {
		m[objectAt] = good
		change(m)
		return m
	}
	one := [2]uint64{objectAt, size}
	for _, tt := range []struct {
		name    string
		mem     target.Memory
		objects int
		warning string
	}{
		{"empty", process(), 0, ""},
		{"not there", memory{}, 0, ""},
		{"another version", with(process(one), func(m memory) { m[descriptorAt][0] = 2 }), 0, "version 2 of the list, want 1"},
		{"never used, without a version", memory{descriptorAt: words(0, 0, 0)}, 0, ""},
		{"circle", with(process(one, one, one), func(m memory) { copy(m[entriesAt][64:], words(entriesAt)) }), 3, "leads in a circle, at 0x2000"},
		{"itself", with(process(one), func(m memory) { copy(m[entriesAt], words(entriesAt)) }), 1, "leads in a circle"},
		{"torn", with(process(one, one), func(m memory) { m[entriesAt] = m[entriesAt][:40] }), 1, "ends at 0x2020: memory cannot be read"},
		{"leads nowhere", with(process(one), func(m memory) { copy(m[entriesAt], words(0xdead)) }), 1, "ends at 0xdead: memory cannot be read"},
		{"endless", everywhere{}, 0, "more than 100000 entries: the others are left out"},
		{"no object", with(process([2]uint64{0x5000, 400}, one), func(memory) {}), 1, "1 of 2 objects"},
		{"no ELF image", with(process([2]uint64{entriesAt, 64}, one), func(memory) {}), 1, "not an ELF image of 64 bits"},
		{"nothing", with(process([2]uint64{objectAt, 0}, one), func(memory) {}), 1, "not an ELF image of 64 bits"},
		{"around the end", with(process([2]uint64{^uint64(0) - 10, 64}, one), func(memory) {}), 1, "not an ELF image of 64 bits"},
		{"headers beyond the end", with(process([2]uint64{objectAt, size - 1}), func(memory) {}), 0, "its headers lie beyond its end"},
		{"larger than it is", with(process([2]uint64{objectAt, 1 << 62}), func(memory) {}), 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, list, warnings := read(tt.mem, amd64.Arch)
			if len(list) != tt.objects || !strings.Contains(warnings, tt.warning) || (warnings == "") != (tt.warning == "") {
				t.Errorf("%d objects, warnings %q; want %d, %q", len(list), warnings, tt.objects, tt.warning)
			}
			for _, m := range list {
				if _, _, err := m.Image(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// No more is read of all objects than the bound, whatever sizes they claim.
func TestBounds(t *testing.T) {
	data := fixture(t)
	o := binary.LittleEndian
	f := &relocatable{data: data, arch: amd64.Arch, layout: layoutOf(amd64.Arch)}
	o.PutUint64(f.section(9).b[32:], 50<<20) // .debug_loclists
	mem := process([2]uint64{objectAt, 60 << 20})
	mem[objectAt] = data
	r, list, _ := read(mem, amd64.Arch)
	r.bytesLeft = 50 << 20
	if _, _, err := list[0].Image(); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("an object of 50 MiB: %v", err)
	}
	o.PutUint64(f.section(9).b[32:], 1<<30)
	copy(mem[entriesAt], words(0, 0, objectAt, 2<<30))
	if _, list, warnings := read(mem, amd64.Arch); len(list) != 0 || !strings.Contains(warnings, "too large") {
		t.Errorf("an object of 1 GiB: %d objects, %s", len(list), warnings)
	}
}

// What is made of headers counts, and not only their bytes: many objects that have many sections of
// code take no more than the bounds.
func TestManyRanges(t *testing.T) {
	const sections, objects = 8, 60_000
	image := make([]byte, 64+64*sections)
	copy(image, elf.ELFMAG)
	image[elf.EI_CLASS], image[elf.EI_DATA] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)
	le := binary.LittleEndian
	le.PutUint16(image[16:], uint16(elf.ET_DYN))
	le.PutUint16(image[18:], uint16(elf.EM_X86_64))
	le.PutUint64(image[40:], 64) // e_shoff
	le.PutUint16(image[58:], 64) // e_shentsize
	le.PutUint16(image[60:], sections)
	for i := 1; i < sections; i++ {
		h := image[64+64*i:]
		le.PutUint32(h[4:], uint32(elf.SHT_PROGBITS))
		le.PutUint64(h[8:], uint64(elf.SHF_ALLOC|elf.SHF_EXECINSTR))
		le.PutUint64(h[16:], uint64(0x7000_0000+i))
		le.PutUint64(h[32:], 0x1000)
	}
	list := make([][2]uint64, objects)
	for i := range list {
		list[i] = [2]uint64{0x1000_0000, uint64(len(image))}
	}
	mem := process(list...)
	mem[0x1000_0000] = image
	var made []*target.Module
	bounds.Hold(t, 3*maxHeaders/2, func() { _, made, _ = read(mem, amd64.Arch) })
	ranges := 0
	for _, m := range made {
		ranges += len(m.Mappings)
	}
	if len(made) < objects/4 || ranges > maxHeaders/perCode {
		t.Errorf("%d objects with %d ranges of code", len(made), ranges)
	}
}

// FuzzRegistered reads lists and objects of any bytes.
func FuzzRegistered(f *testing.F) {
	data := fixture(f)
	for _, n := range []uint64{0, 1, 2} {
		image := append(words(1, 0, descriptorAt+24, n&1*(descriptorAt+24), 0, descriptorAt+56, uint64(len(data))), data...)
		f.Add(image, n == 2, false)
	}
	object := elftest.Program(elf.ELFCLASS32, binary.LittleEndian, elf.EM_386, elf.ET_DYN).Mapped()
	f.Add(append(list386(uint64(len(object))), object...), false, true)
	f.Fuzz(func(t *testing.T, image []byte, truncated, short bool) {
		if truncated && len(image) > 64 {
			image = image[:len(image)-64]
		}
		bounds.Hold(t, 64<<20, func() {
			if short {
				checkRegistered(t, image, i386.Arch)
			} else {
				checkRegistered(t, image, amd64.Arch)
			}
		})
	})
}

// list386 is the list of a 32-bit x86 process with one object, which is behind the list and has so
// many bytes.
func list386(size uint64) (b []byte) {
	for _, w := range []uint32{1, 0, descriptorAt + 16, descriptorAt + 16, 0, 0, descriptorAt + 36} { // the descriptor has four
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return binary.LittleEndian.AppendUint64(b, size)
}

// The list that is made for the fuzzer is a good one.
func TestList386(t *testing.T) {
	object := elftest.Program(elf.ELFCLASS32, binary.LittleEndian, elf.EM_386, elf.ET_DYN).Mapped()
	_, list, warnings := read(memory{descriptorAt: append(list386(uint64(len(object))), object...)}, i386.Arch)
	if len(list) != 1 || warnings != "" {
		t.Fatalf("%d objects, %s", len(list), warnings)
	}
	if im, _, err := list[0].Image(); err != nil || im.BuildID != "6275696c64696421" {
		t.Errorf("the object: %v", err)
	}
}

// A descriptor of a processor outside may leave its alignment zero: 64-bit numbers are aligned at 8
// bytes then, as the System V ABI has them.
func TestAlignmentNotKnown(t *testing.T) {
	a := *amd64.Arch
	a.MaxAlign = 0
	data := fixture(t)
	m := process([2]uint64{objectAt, uint64(len(data))})
	m[objectAt] = data
	if _, list, warnings := read(m, &a); len(list) != 1 || warnings != "" {
		t.Errorf("%d objects, %s", len(list), warnings)
	}
}

// checkRegistered reads a list and its objects, which are in the same piece of memory.
func checkRegistered(t *testing.T, image []byte, a *arch.Arch) {
	before := bytes.Clone(image)
	r, list, _ := read(memory{descriptorAt: image}, a)
	for _, m := range list[:min(len(list), 16)] {
		im, bias, err := m.Image()
		if err != nil {
			continue
		}
		if bias != 0 {
			t.Errorf("bias %#x", bias)
		}
		im.Symbols()
		im.Section(".debug_info")
	}
	for _, c := range r.copies.list() {
		if at := c.Addr - descriptorAt; !bytes.Equal(c.Data, image[at:at+uint64(len(c.Data))]) {
			t.Errorf("the copy of %#x is not what is there", c.Addr)
		}
	}
	if !bytes.Equal(before, image) {
		t.Error("the process's memory was changed")
	}
}
