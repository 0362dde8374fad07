package goruntime

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/ulikunitz/xz"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/target"
)

// releases are small programs of several Go releases, with their tables in .data.rel.ro.
func releases(t testing.TB) (list [][]byte) {
	t.Helper()
	for _, name := range gdbtest.Glob(t, "../../format/gopclntab/testdata/releases/*.xz") {
		packed, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := xz.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, data)
	}
	if len(list) < 4 {
		t.Fatalf("%d programs", len(list))
	}
	return list
}

// lookAll opens an ELF file's table and looks up functions in it; it returns how many have
// inlined calls.
func lookAll(data []byte) (inlined int) {
	im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0
	}
	m := target.NewModule("/hostile", []target.Mapping{{Hi: 1 << 40, Exec: true}}, func() (*elfimage.Image, error) { return im, nil })
	table, _, err := Table(m)
	if err != nil {
		return 0
	}
	for i := range min(table.Len(), 100) {
		if f, ok := table.Func(i); ok {
			for pc := f.Lo; pc < min(f.Hi, f.Lo+400); pc += 20 {
				f.SPDelta(pc)
				if len(f.Inlined(pc)) > 1 {
					inlined++
				}
			}
		}
	}
	return inlined
}

// Wrong bytes anywhere in the data give fewer answers, and nothing worse.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, whole := range releases(t) {
		best := lookAll(whole)
		if best == 0 {
			t.Fatal("no inlined calls in the undamaged file")
		}
		f, err := elf.NewFile(bytes.NewReader(whole))
		if err != nil {
			t.Fatal(err)
		}
		var parts [][]byte
		damaged := make([]byte, len(whole))
		for _, name := range []string{".data.rel.ro", ".gopclntab", ".noptrdata", ".rela.dyn", ".dynamic", ".go.module"} {
			if s := f.Section(name); s != nil && s.Type != elf.SHT_NOBITS {
				parts = append(parts, damaged[s.Offset:s.Offset+s.FileSize])
			}
		}
		fewer := 0
		for range 500 {
			copy(damaged, whole)
			for range 1 + r.IntN(8) {
				part := parts[r.IntN(len(parts))]
				at := r.IntN(len(part))
				switch r.IntN(3) {
				case 0:
					part[at] = 0xff
				case 1:
					part[at] ^= 1 << r.IntN(8)
				default: // one part in another's stretch
					copy(part[at:min(at+16, len(part))], whole[r.IntN(len(whole)):])
				}
			}
			if lookAll(damaged) < best {
				fewer++
			}
		}
		if fewer < 50 {
			t.Errorf("%d of the damaged files have fewer inlined calls than the whole one", fewer)
		}
	}
}

// counted counts the bytes that are read from a file.
type counted struct {
	*bytes.Reader
	n int64
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.Reader.ReadAt(p, off)
	c.n += int64(n)
	return n, err
}

// A file is not searched from end to end for each of its tables. This one's segments all have the
// same bytes. It has more tables than are tried, and no table has a struct moduledata.
func TestManySegments(t *testing.T) {
	header := binary.LittleEndian.AppendUint32(nil, 0xfffffff1)
	header = append(header, 0, 0, 1, 8)
	for _, v := range []uint64{1, 1, 0, 72, 72, 72, 72, 72} {
		header = binary.LittleEndian.AppendUint64(header, v)
	}
	header = append(header, make([]byte, 24)...)
	file := elftest.File{Machine: elf.EM_X86_64, Type: elf.ET_EXEC, Sections: []elftest.Section{
		{Name: ".go.buildinfo", Flags: elf.SHF_ALLOC | elf.SHF_WRITE, Addr: 0x1000, Data: bytes.Repeat(header, 8000)},
	}}
	const segments = 5000
	for range segments - 1 {
		file.Sections = append(file.Sections, elftest.Section{Flags: elf.SHF_ALLOC | elf.SHF_WRITE, Addr: 0x1000, Type: elf.SHT_NOBITS})
	}
	data := file.Bytes()
	// All segments are the first.
	first := data[binary.LittleEndian.Uint64(data[0x20:]):]
	for i := range segments {
		copy(first[56*i:56*(i+1)], first[:56])
	}
	r := &counted{Reader: bytes.NewReader(data)}
	im, err := elfimage.Open(r, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Table(walktest.Map("/hostile", im, 0)); err == nil {
		t.Error("there is a table")
	}
	if r.n > 3*maxSearch {
		t.Errorf("%d bytes were read of %d", r.n, len(data))
	}
}

// Options of FuzzTable's files.
const (
	fuzzBare = 1 << iota
	fuzzBig
	fuzz32
	fuzzFixed
)

// FuzzTable changes the parts of a program by which a table is found; the rest is not read.
func FuzzTable(f *testing.F) {
	names := []string{".rodata", ".gopclntab", ".data.rel.ro", ".rela.dyn", ".dynamic", ".noptrdata", ".go.module"}
	for _, data := range releases(f) {
		file, err := elf.NewFile(bytes.NewReader(data))
		if err != nil {
			f.Fatal(err)
		}
		some := elftest.Some(f, file, append(names, ".note.go.buildid", ".text")...).Without(".text")
		if lookAll(some.Bytes()) == 0 {
			f.Fatal("no inlined calls in what is left of the file")
		}
		text := elftest.Of(f, file, ".text")
		var parts [7][]byte
		var at [7]uint64
		for i, name := range names {
			s := elftest.Of(f, file, name)
			parts[i], at[i] = s.Data, s.Addr
		}
		f.Add(parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6], at[0], at[1], at[2], at[3], at[4], at[5], at[6], text.Addr, uint16(text.Size), uint8(0))
		f.Add(parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6], at[0], at[1], at[2], at[3], at[4], at[5], at[6], text.Addr, uint16(text.Size), uint8(fuzzBare))
	}
	f.Fuzz(func(t *testing.T, rodata, pclntab, relro, rela, dynamic, noptrdata, module []byte, rodataAt, pclntabAt, relroAt, relaAt, dynamicAt, noptrdataAt, moduleAt, textAt uint64, textSize uint16, options uint8) {
		file := elftest.File{Machine: elf.EM_X86_64, Type: elf.ET_DYN, Sections: []elftest.Section{
			{Name: ".text", Type: elf.SHT_NOBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Addr: textAt, Size: uint64(textSize)},
			{Name: ".note.go.buildid"},
		}}
		if options&fuzzBig != 0 {
			file.Order, file.Machine = binary.BigEndian, elf.EM_S390
		}
		if options&fuzz32 != 0 {
			file.Class = elf.ELFCLASS32
		}
		if options&fuzzFixed != 0 {
			file.Type = elf.ET_EXEC
		}
		addresses := []uint64{rodataAt, pclntabAt, relroAt, relaAt, dynamicAt, noptrdataAt, moduleAt}
		for i, p := range [][]byte{rodata, pclntab, relro, rela, dynamic, noptrdata, module} {
			s := elftest.Section{Name: names[i], Flags: elf.SHF_ALLOC, Addr: addresses[i], Data: p}
			if i > 1 {
				s.Flags |= elf.SHF_WRITE
			}
			if i == 4 {
				s.Segment = elf.PT_DYNAMIC
			}
			if len(p) > 0 {
				file.Sections = append(file.Sections, s)
			}
		}
		file.Bare = options&fuzzBare != 0
		data := file.Bytes()
		bounds.Hold(t, 1<<20+100*len(data), func() { lookAll(data) })
	})
}
