package elffile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A read ends at a hole, wherever the hole begins; shorter runs of zeros are data.
func TestSolid(t *testing.T) {
	data := bytes.Repeat([]byte{1}, 8*HoleSize)
	clear(data[2*HoleSize+1 : 3*HoleSize])       // too short
	clear(data[5*HoleSize-100 : 7*HoleSize-100]) // holds one whole block
	r := Solid(bytes.NewReader(data))
	if got, err := ReadPart(r, 0, 5*HoleSize); err != nil || !bytes.Equal(got, data[:5*HoleSize]) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, err := ReadPart(r, 0, 8*HoleSize); !errors.Is(err, ErrHole) || !bytes.Equal(got, data[:5*HoleSize]) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, err := ReadPart(r, 7*HoleSize, 2*HoleSize); err != io.ErrUnexpectedEOF || len(got) != HoleSize {
		t.Errorf("behind the end: %d bytes, %v", len(got), err)
	}
}

// There returns how much was written to a file, as far as the file system tells.
func TestThere(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	whole := bytes.Repeat([]byte{1}, 1<<20)
	f.Write(whole)
	if got := There(f, 1<<20); got != 1<<20 {
		t.Errorf("%#x bytes of a whole file", got)
	}
	f.WriteAt(whole, 1<<30)
	f.Truncate(1 << 40)
	got := There(Solid(io.NewSectionReader(f, 0, 1<<40)), 1<<40)
	if got < 2<<20 || got > fileSystems*3<<20 {
		t.Errorf("%#x bytes of a file with holes", got)
	}
	if at, _ := f.Seek(0, io.SeekCurrent); at != 1<<20 {
		t.Errorf("the file's offset is %#x", at)
	}
}

// TestNamesNowhere: of a file with more sections than its header counts, the section of their names
// is not believed where there is none: debug/elf panics.
func TestNamesNowhere(t *testing.T) {
	program, err := os.ReadFile(gdbtest.Testdata(t, "bin", "mix-v3"))
	if err != nil {
		t.Fatal(err)
	}
	const count = 0xff10
	order, at := binary.LittleEndian, len(program)
	data := append(bytes.Clone(program), make([]byte, 64*count)...)
	order.PutUint64(data[40:], uint64(at))
	order.PutUint16(data[60:], 0)
	for i := range count {
		order.PutUint32(data[at+64*i+4:], uint32(elf.SHT_PROGBITS))
		data[at+64*i+48] = 1 // sh_addralign
	}
	order.PutUint32(data[at+4:], uint32(elf.SHT_NULL))
	order.PutUint64(data[at+32:], count)
	for _, names := range []struct {
		index uint16
		link  uint32
	}{{0xffff, count}, {0xffff, 1 << 31}, {0xff20, 0}} {
		order.PutUint16(data[62:], names.index)
		order.PutUint32(data[at+40:], names.link)
		if _, err := New(bytes.NewReader(data), int64(len(data))); err == nil {
			t.Errorf("names in section %#x, %#x: no error", names.index, names.link)
		}
		if _, err := Standard(bytes.NewReader(data), int64(len(data)), true); err == nil { // sections were there before
			t.Errorf("names in section %#x, %#x, by now: no error", names.index, names.link)
		}
	}
}

// Section headers are not read if they lead to many bytes of names, or to none.
func TestSections(t *testing.T) {
	program, err := os.ReadFile(gdbtest.Testdata(t, "bin", "mix-v3"))
	if err != nil {
		t.Fatal(err)
	}
	order := binary.LittleEndian
	change := func(count int, name func(i int) uint32, kind elf.SectionType, text []byte) []byte {
		data := bytes.Clone(program)
		at := uint64(len(data))
		order.PutUint64(data[40:], at)
		order.PutUint16(data[60:], uint16(count))
		order.PutUint16(data[62:], 1)
		for i := range count {
			h := make([]byte, 64)
			order.PutUint32(h, name(i))
			order.PutUint32(h[4:], uint32(kind))
			if i == 1 {
				order.PutUint32(h[4:], uint32(elf.SHT_STRTAB))
				order.PutUint64(h[24:], at+uint64(64*count))
				order.PutUint64(h[32:], uint64(len(text)))
			}
			data = append(data, h...)
		}
		return append(data, text...)
	}
	long := append(bytes.Repeat([]byte{'a'}, 1<<18), 0)
	for name, test := range map[string]struct {
		data []byte
		ok   bool
	}{
		"as it is":    {program, true},
		"same name":   {change(8000, func(int) uint32 { return 0 }, elf.SHT_PROGBITS, long), false},
		"all empty":   {change(8000, func(int) uint32 { return 1 << 18 }, elf.SHT_NULL, long), false},
		"short names": {change(8000, func(int) uint32 { return 1<<18 - 8 }, elf.SHT_PROGBITS, long), true},
	} {
		f, err := New(bytes.NewReader(test.data), int64(len(test.data)))
		if (err == nil) != test.ok || test.ok && len(f.Sections) < 10 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
