package elffile

import (
	"bytes"
	"debug/elf"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// compare holds the headers of a file, or the lack of them, against debug/elf's. It reports whether
// both have read the sections.
func compare(t *testing.T, name string, r io.ReaderAt, size int64) bool {
	t.Helper()
	want, wantErr := New(r, size)
	head := Begin(Solid(r), size)
	defer head.End()
	got, broken, err := head.Read()
	if wantErr != nil { // debug/elf reads nothing where only the sections cannot be read
		if h, _ := ReadHeader(r); err == nil && broken == nil && h.ShOff != 0 {
			t.Errorf("%s: no error; want %v", name, wantErr)
		}
		return false
	}
	if err != nil || broken != nil {
		t.Fatalf("%s: %v, %v, and debug/elf reads it", name, err, broken)
	}
	if got.FileHeader != want.FileHeader {
		t.Errorf("%s: %+v; want %+v", name, got.FileHeader, want.FileHeader)
	}
	if len(got.Sections) != len(want.Sections) {
		t.Fatalf("%s: %d sections; want %d", name, len(got.Sections), len(want.Sections))
	}
	for i, s := range want.Sections {
		if got.Sections[i].SectionHeader != s.SectionHeader {
			t.Errorf("%s: section %d: %+v; want %+v", name, i, got.Sections[i].SectionHeader, s.SectionHeader)
		}
		if first := want.Section(s.Name); got.Section(s.Name).SectionHeader != first.SectionHeader {
			t.Errorf("%s: section %s: %+v; want %+v", name, s.Name, got.Section(s.Name).SectionHeader, first.SectionHeader)
		}
	}
	if len(want.Progs) == 0 {
		return true // or more than e_phnum can count
	}
	if len(got.Programs) != len(want.Progs) {
		t.Fatalf("%s: %d program headers; want %d", name, len(got.Programs), len(want.Progs))
	}
	for i, p := range want.Progs {
		if got.Programs[i] != p.ProgHeader {
			t.Errorf("%s: program header %d: %+v; want %+v", name, i, got.Programs[i], p.ProgHeader)
		}
	}
	return true
}

// The headers of this machine's programs, libraries, objects and archives' members are as debug/elf
// has them.
func TestHeaders(t *testing.T) {
	n := 0
	for _, pattern := range []string{"/usr/bin/*", "/usr/lib/x86_64-linux-gnu/*.so*", "/usr/lib/x86_64-linux-gnu/*.o", "/usr/lib/gcc*/*/*/*", gdbtest.Testdata(t, "bin", "*")} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range list[:min(len(list), 150)] {
			f, err := os.Open(path)
			if err != nil {
				continue
			}
			if st, err := f.Stat(); err == nil && st.Mode().IsRegular() && compare(t, path, f, st.Size()) {
				n++
			}
			f.Close()
		}
	}
	if n < 50 {
		t.Errorf("only %d files", n)
	}
}

// counted counts the reads of a file.
type counted struct {
	io.ReaderAt
	n int
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.n++
	return c.ReaderAt.ReadAt(p, off)
}

// Two reads have all headers of a file that GNU ld has made.
func TestReads(t *testing.T) {
	program, err := os.ReadFile(gdbtest.Testdata(t, "bin", "mix-v3"))
	if err != nil {
		t.Fatal(err)
	}
	r := &counted{ReaderAt: bytes.NewReader(program)}
	head := Begin(r, int64(len(program)))
	defer head.End()
	if f, broken, err := head.Read(); err != nil || broken != nil || len(f.Sections) < 10 || r.n > 2 {
		t.Errorf("%d reads, %v, %v", r.n, broken, err)
	}
}

// FuzzHeaders reads what debug/elf reads, and no more; but a file whose header counts sections that
// are nowhere is read without them.
func FuzzHeaders(f *testing.F) {
	program, err := os.ReadFile(gdbtest.Testdata(f, "bin", "mix-v3"))
	if err != nil {
		f.Fatal(err)
	}
	h, err := ReadHeader(bytes.NewReader(program))
	if err != nil {
		f.Fatal(err)
	}
	// The headers and the names alone: the other sections are cut away.
	table := bytes.Clone(program[h.ShOff:])
	names := table[h.shstrndx*h.shentsize:]
	at, n := h.Order.Uint64(names[24:]), h.Order.Uint64(names[32:])
	h.Order.PutUint64(names[24:], 1024)
	small := append(bytes.Clone(program[:1024]), program[at:at+n]...)
	h.Order.PutUint64(small[40:], uint64(len(small)))
	small = append(small, table...)
	if _, err := New(bytes.NewReader(small), int64(len(small))); err != nil {
		f.Fatal(err)
	}
	f.Add(small, uint16(0), uint8(0))
	f.Add(small, uint16(elf.SHN_XINDEX), uint8(1))
	f.Add(small[:100], uint16(3), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, number uint16, change uint8) {
		if len(data) >= 64 { // numbers that a fuzzer does not guess
			data = bytes.Clone(data)
			switch change % 4 {
			case 1:
				data[60], data[61], data[62], data[63] = 0, 0, byte(number), byte(number>>8)
			case 2:
				data[56], data[57] = byte(number), byte(number>>8)
			case 3:
				data[62], data[63] = byte(number), byte(number>>8)
			}
		}
		bounds.Hold(t, 64<<20+400*len(data), func() { compare(t, "input", bytes.NewReader(data), int64(len(data))) })
	})
}
