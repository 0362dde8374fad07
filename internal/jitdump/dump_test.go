package jitdump

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// file writes a jitdump by the specification.
type file struct {
	bytes.Buffer
	order binary.ByteOrder
	time  uint64
}

func newFile(order binary.ByteOrder, machine elf.Machine, flags uint64) *file {
	f := &file{order: order}
	f.put(uint32(0x4a695444), uint32(1), uint32(40), uint32(machine), uint32(0), uint32(1), uint64(0), flags)
	return f
}

func (f *file) put(fields ...any) {
	for _, x := range fields {
		if s, ok := x.(string); ok {
			f.WriteString(s)
		} else {
			binary.Write(f, f.order, x)
		}
	}
}

func (f *file) record(kind Kind, fields ...any) {
	body := file{order: f.order}
	body.put(fields...)
	f.put(uint32(kind), uint32(16+body.Len()), f.time, body.String())
}

func (f *file) load(number, lo, size uint64, name string) {
	f.record(Load, uint32(1), uint32(1), lo, lo, size, number, name+"\x00", strings.Repeat("\xcc", int(size)))
}

// sample is a file with records of all kinds: code of f; f anew; the table and the lines of g, and
// g, which is then moved; code behind it.
func sample(order binary.ByteOrder, machine elf.Machine, flags uint64) *file {
	f := newFile(order, machine, flags)
	f.time = 100
	f.load(0, 0x1000, 0x20, "f")
	f.time = 200
	f.load(1, 0x1000, 0x10, "f2")
	f.record(Unwinding, uint64(24), uint64(8), uint64(24), "a table of 16 b.", "a header", "padding!")
	f.record(Debug, uint64(0x2000), uint64(3),
		uint64(0x2000), uint32(10), uint32(0), "/src/a.x\x00",
		uint64(0x2004), uint32(11), uint32(2), "\xff\x00",
		uint64(0x2008), uint32(3), uint32(0), "/src/b.x\x00")
	f.load(2, 0x2000, 0x10, "g")
	f.time = 300
	f.record(Move, uint32(1), uint32(1), uint64(0x3000), uint64(0x2000), uint64(0x3000), uint64(0x10), uint64(2))
	f.load(3, 0x2000, 0x10, "JS:*hot /srv/x.js:7:3")
	f.record(9, "of a later version")
	f.record(Close)
	return f
}

// read reads all of a file.
func readAll(t *testing.T, data []byte, machine elf.Machine) *Dump {
	t.Helper()
	d := New(bytes.NewReader(data), uint16(machine))
	if _, err := d.Read(int64(len(data)), 1<<20); err != nil {
		t.Fatal(err)
	}
	return d
}

// describe has debug/elf and debug/dwarf read what there is at an address at a time.
func describe(t *testing.T, d *Dump, class elf.Class, addr, time uint64) string {
	t.Helper()
	c, ok := d.Find(addr, time)
	if !ok {
		return "nothing"
	}
	data, err := d.ELF(&c, class)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := f.Symbols()
	if err != nil || len(symbols) != 1 {
		t.Fatalf("symbols %v, %v", symbols, err)
	}
	s := symbols[0]
	text := fmt.Sprintf("%s [%#x, %#x)", s.Name, s.Value, s.Value+s.Size)
	if x := f.Section(".text"); x.Addr != s.Value || x.Size != s.Size || int(s.Section) != slices.Index(f.Sections, x) {
		t.Errorf("%s: section %+v", text, x.SectionHeader)
	}
	if x := f.Section(".eh_frame"); x != nil {
		table, _ := x.Data()
		text += fmt.Sprintf(", at %#x %q", x.Addr, table)
	}
	debug, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	unit, err := debug.Reader().Next()
	if err != nil {
		t.Fatal(err)
	}
	lines, err := debug.LineReader(unit)
	if err != nil {
		t.Fatal(err)
	}
	for entry := new(dwarf.LineEntry); lines.Next(entry) == nil; {
		if text += fmt.Sprintf(", %#x", entry.Address); !entry.EndSequence {
			text += fmt.Sprintf(" %s:%d", entry.File.Name, entry.Line)
		}
	}
	return text
}

// Code has the name, the lines and the table of its time, as the last record before that time has
// them.
func TestDump(t *testing.T) {
	const now = 1 << 40
	g := `g [0x%[1]x000, 0x%[1]x010), at 0x%[1]x010 "a table of 16 b.", 0x%[1]x000 /src/a.x:10, 0x%[1]x004 /src/a.x:11, 0x%[1]x008 /src/b.x:3, 0x%[1]x010`
	for _, tt := range []struct {
		order   binary.ByteOrder
		machine elf.Machine
		class   elf.Class
	}{{binary.LittleEndian, elf.EM_X86_64, elf.ELFCLASS64}, {binary.BigEndian, elf.EM_S390, elf.ELFCLASS64}, {binary.LittleEndian, elf.EM_ARM, elf.ELFCLASS32}} {
		d := readAll(t, sample(tt.order, tt.machine, 0).Bytes(), tt.machine)
		for _, at := range []struct {
			addr, time uint64
			want       string
		}{
			{0x1008, 99, "nothing"}, {0x1008, 100, "f [0x1000, 0x1020)"}, {0x1008, 199, "f [0x1000, 0x1020)"}, {0x1008, 200, "f2 [0x1000, 0x1010)"},
			{0x1018, now, "f [0x1000, 0x1020)"}, {0x1020, now, "nothing"}, {0x2000, 199, "nothing"},
			{0x2000, 299, fmt.Sprintf(g, 2)}, {0x3008, now, fmt.Sprintf(g, 3)}, {0x3000, 299, "nothing"},
			{0x2000, now, "JS:*hot [0x2000, 0x2010), 0x2000 /srv/x.js:7, 0x2010"},
		} {
			if got := describe(t, d, tt.class, at.addr, at.time); got != at.want {
				t.Errorf("%v: at %#x, time %d: %s, want %s", tt.machine, at.addr, at.time, got, at.want)
			}
		}
		if d.Last() != 300 {
			t.Errorf("the last record is of %d", d.Last())
		}
	}
	// The processor's own times say nothing: what was written last counts.
	d := readAll(t, sample(binary.LittleEndian, elf.EM_X86_64, 1).Bytes(), elf.EM_X86_64)
	if got := describe(t, d, elf.ELFCLASS64, 0x1008, 1); got != "f2 [0x1000, 0x1010)" {
		t.Errorf("with times of the processor: %s", got)
	}
}

// However much of a file is written when it is read, the rest is read later.
func TestGrowing(t *testing.T) {
	data := sample(binary.LittleEndian, elf.EM_X86_64, 0).Bytes()
	for n := range data {
		d := New(bytes.NewReader(data[:n]), uint16(elf.EM_X86_64))
		first, err := d.Read(int64(n), 1<<20)
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		d.r.r = bytes.NewReader(data)
		second, err := d.Read(int64(len(data)), 1<<20)
		if err != nil || first+second != 9 {
			t.Fatalf("%d bytes, then all: %d records and %d, %v", n, first, second, err)
		}
		if got := describe(t, d, elf.ELFCLASS64, 0x3000, 300); !strings.HasPrefix(got, "g ") {
			t.Fatalf("%d bytes, then all: %s", n, got)
		}
	}
	d := readAll(t, data, elf.EM_X86_64)
	if _, err := d.Read(50, 1); !errors.Is(err, errShorter) {
		t.Errorf("a file that has become shorter: %v", err)
	}
	if _, err := New(bytes.NewReader(data), uint16(elf.EM_AARCH64)).Read(int64(len(data)), 1); !errors.Is(err, ErrMachine) {
		t.Errorf("another processor: %v", err)
	}
}

func TestIsName(t *testing.T) {
	for name, want := range map[string]bool{"/tmp/jit-42.dump": true, "jit-1.dump": true, "/tmp/jit-.dump": false, "/tmp/jit-0.dump": false,
		"/tmp/jit-4a.dump": false, "/tmp/xjit-4.dump": false, "/tmp/jit-4.dump.old": false, "/jit-4.dump/x": false} {
		if IsName(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func FuzzDump(f *testing.F) {
	for _, name := range []string{"jit-node18.dump", "jit-node20.dump"} {
		data, err := os.ReadFile("../../cmd/sniffer-perfmap/testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add(sample(binary.LittleEndian, elf.EM_X86_64, 0).Bytes())
	f.Add(sample(binary.BigEndian, elf.EM_S390, 1).Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 1<<20+2048*len(data), func() {
			for _, m := range []elf.Machine{elf.EM_X86_64, elf.EM_S390} {
				d := New(bytes.NewReader(data), uint16(m))
				for n, err := 1, error(nil); n > 0 && err == nil; {
					n, err = d.Read(int64(len(data)), 16)
				}
				for _, c := range d.codes[:min(len(d.codes), 4)] {
					if c.Lo >= c.Hi {
						t.Fatalf("code [%#x, %#x)", c.Lo, c.Hi)
					}
					if at, ok := d.Find(c.Lo, c.Time); !ok || c.Lo < at.Lo || c.Lo >= at.Hi {
						t.Fatalf("at %#x: %+v, %v", c.Lo, at, ok)
					}
					out, err := d.ELF(&c, elf.ELFCLASS64)
					if err != nil {
						continue
					}
					if _, err := elf.NewFile(bytes.NewReader(out)); err != nil {
						t.Fatalf("%+v: %v", c, err)
					}
				}
			}
		})
	})
}
