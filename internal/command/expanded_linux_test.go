package command_test

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
)

// expanding is an ELF file of less than 1 MB whose code of 32 MiB is nowhere, and whose other
// sections are compressed. Each has so many bytes behind that its expansion seems in proportion.
func expanding(t *testing.T, sections map[string][]byte) string {
	t.Helper()
	order := binary.LittleEndian
	f := &elftest.File{Class: elf.ELFCLASS64, Machine: elf.EM_X86_64, Type: elf.ET_DYN, Sections: []elftest.Section{
		{Name: ".text", Type: elf.SHT_NOBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Addr: 0x100000, Size: 32 << 20},
		{Name: ".note.gnu.build-id", Type: elf.SHT_NOTE, Flags: elf.SHF_ALLOC, Addr: 0x1000, Align: 4,
			Data: []byte("\x04\x00\x00\x00\x08\x00\x00\x00\x03\x00\x00\x00GNU\x00expanded")}}}
	for name, data := range sections {
		packed := bytes.NewBuffer(order.AppendUint64(order.AppendUint64(order.AppendUint64(nil, 1), uint64(len(data))), 8))
		w := zlib.NewWriter(packed)
		w.Write(data)
		w.Close()
		if behind := len(data)/32 - packed.Len(); behind > 0 {
			packed.Write(bytes.Repeat([]byte{0xa5}, behind))
		}
		s := elftest.Section{Name: name, Flags: elf.SHF_COMPRESSED, Data: packed.Bytes(), Align: 1}
		if name == ".sframe" {
			s.Type = elf.SectionType(0x6ffffff4) // SHT_GNU_SFRAME
		}
		f.Sections = append(f.Sections, s)
	}
	data := f.Bytes()
	if len(data) > 1<<20 {
		t.Fatalf("%d bytes", len(data))
	}
	path := filepath.Join(t.TempDir(), "expanding")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// frames are n functions in .debug_frame, each with 80,000 rows.
func frames(n int) (b []byte) {
	order := binary.LittleEndian
	entry := func(body []byte) {
		body = append(body, make([]byte, -(len(body)+4)&7)...)
		b = append(order.AppendUint32(b, uint32(len(body))), body...)
	}
	entry([]byte("\xff\xff\xff\xff\x01\x00\x01\x78\x10\x0c\x07\x08\x90\x01"))
	for i := range uint64(n) {
		const rows = 80_000
		fde := order.AppendUint64(order.AppendUint64(order.AppendUint32(nil, 0), 0x100000+rows*i), rows)
		entry(append(fde, bytes.Repeat([]byte("\x41\x0e\x10\x41\x0e\x18"), rows/2)...)) // advance_loc 1, def_cfa_offset
	}
	return b
}

// lines are the sections of a unit of one function, each byte of whose code has a line of its own.
func lines(n int) map[string][]byte {
	order := binary.LittleEndian
	header := "\x01\x01\x01\xfb\x0e\x0d\x00\x01\x01\x01\x01\x00\x00\x00\x01\x00\x00\x01\x00a.c\x00\x00\x00\x00\x00"
	program := order.AppendUint32(order.AppendUint16(nil, 4), uint32(len(header)))
	program = append(program, header+"\x00\x09\x02\x00\x00\x10\x00\x00\x00\x00\x00"...)
	program = append(program, bytes.Repeat([]byte{28}, n)...) // a special opcode: the next byte, another line
	program = append(program, "\x00\x01\x01"...)
	unit := append(order.AppendUint32(order.AppendUint16(nil, 4), 0), "\x08\x01\x00\x00\x00\x00"...)
	code := order.AppendUint64(order.AppendUint64(nil, 0x100000), 32<<20)
	unit = append(append(append(append(append(unit, code...), "a.c\x00\x02f\x00"...), code...), 0), 0)
	with := func(b []byte) []byte { return append(order.AppendUint32(nil, uint32(len(b))), b...) }
	return map[string][]byte{".debug_line": with(program), ".debug_info": with(unit),
		".debug_abbrev": []byte("\x01\x11\x01\x10\x17\x11\x01\x12\x07\x03\x08\x00\x00\x02\x2e\x00\x03\x08\x11\x01\x12\x07\x00\x00\x00")}
}

// TestExpandedTables: a small file whose compressed tables have millions of rows has neither
// gigabytes written nor kept; what is left out is said, and how to have more.
func TestExpandedTables(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	many := expanding(t, map[string][]byte{".debug_frame": frames(100)})
	if text, said := commandtest.Bounded(t, "symbols", "dump", many); len(text) > 73<<20 || !strings.Contains(said, "allow more by --max-size SIZE") {
		t.Errorf("STACK CFI: %d bytes: %s", len(text), said)
	}
	if text, said := commandtest.Bounded(t, "symbols", "dump", many, "--max-size", "1G"); strings.Count(text, "STACK CFI") < 7_000_000 || said != "" {
		t.Errorf("with --max-size, %d records: %s", strings.Count(text, "STACK CFI"), said)
	}
	if _, said := commandtest.Bounded(t, "sframe", "gen", many, "-o", out); !strings.Contains(said, "the tables have more rows than a file of its size should have") {
		t.Errorf("sframe gen: %s", said)
	}
	if text, said := commandtest.Bounded(t, "symbols", "dump", expanding(t, lines(8_000_000))); len(text) > 73<<20 || !strings.Contains(said, "are left out: the file is too small for so many") {
		t.Errorf("lines: %d bytes: %s", len(text), said)
	}
	// SFrame V2, section 2: 20,000 functions of 250 FREs of three bytes each.
	order, fres := binary.LittleEndian, []byte{}
	for i := range 250 {
		fres = append(fres, byte(i), 3, 8)
	}
	var fdes []byte
	const n = 20_000
	for i := range uint32(n) {
		for _, v := range []uint32{0x100000 + 256*i, 256, uint32(len(fres)) * i, 250, 0} {
			fdes = order.AppendUint32(fdes, v)
		}
	}
	section := []byte{0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0}
	for _, v := range []uint32{n, 250 * n, uint32(n * len(fres)), 0, uint32(len(fdes))} {
		section = order.AppendUint32(section, v)
	}
	section = append(append(section, fdes...), bytes.Repeat(fres, n)...)
	if text, said := commandtest.Bounded(t, "sframe", "dump", expanding(t, map[string][]byte{".sframe": section}), "--json"); len(text) > 64<<20 || !strings.Contains(said, "is compressed, which SFrame never is") {
		t.Errorf("sframe dump: %d bytes: %s", len(text), said)
	}
}
