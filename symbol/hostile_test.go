//go:build linux

package symbol

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dwarfBytes writes made-up DWARF.
type dwarfBytes struct{ bytes.Buffer }

func (b *dwarfBytes) put(values ...any) *dwarfBytes {
	for _, v := range values {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\x00")
		case int:
			b.WriteByte(byte(v))
		default:
			binary.Write(b, binary.LittleEndian, v)
		}
	}
	return b
}

// abbreviations of the made-up units: 1 is the unit's entry (with a line table),
// 2 a block of no attributes, 3 a function that refers to another entry, 4 one
// with a range list, 5 one with a name in .debug_str, 6 one with a name and
// parameters, 7 a parameter, 8 the type of a function, 9 the entry of a unit with a language.
var madeUpAbbrevs = []byte{
	1, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0x10, 0x17, 0, 0,
	2, 0x0b, 1, 0, 0,
	3, 0x2e, 0, 0x11, 0x01, 0x12, 0x07, 0x31, 0x13, 0, 0,
	4, 0x2e, 0, 0x55, 0x17, 0, 0,
	5, 0x2e, 0, 0x03, 0x0e, 0, 0,
	6, 0x2e, 1, 0x11, 0x01, 0x12, 0x07, 0x03, 0x08, 0, 0,
	7, 0x05, 0, 0x49, 0x13, 0, 0,
	8, 0x15, 1, 0, 0,
	9, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0x13, 0x0b, 0, 0,
	0,
}

// unitHeader4 is the size of a unit's header in DWARF 4.
const unitHeader4 = 11

// madeUpUnit is a unit of DWARF 4 over code at [lo, lo+size), with entries.
func madeUpUnit(lo, size uint64, entries []byte) []byte {
	var b dwarfBytes
	b.put(1, lo, size, uint32(0)).Write(entries)
	var u dwarfBytes
	u.put(uint32(unitHeader4-4+b.Len()), uint16(4), uint32(0), 8).Write(b.Bytes())
	return u.Bytes()
}

// DWARF that is made to break or to stall a reader only costs a warning.
func TestHostileDWARF(t *testing.T) {
	program := compile(t, sources(t), "cc", "calls.c", "-g0", "-O2", "-Iinc", "-no-pie")
	addresses := addressesOf(t, program, 1, func(name string) bool { return name == "main" })
	lo, size := addresses[0], uint64(len(addresses))
	first := uint32(unitHeader4 + 1 + 8 + 8 + 4) // offset of the first entry in a unit

	self := new(dwarfBytes).put(3, lo, size, first, 0)
	var list dwarfBytes
	for range 1 << 16 {
		list.put(uint64(1), uint64(2))
	}
	list.put(uint64(0), uint64(0))
	line := new(dwarfBytes).put(uint16(5), 8, 0, uint32(0), 1, 1, 1, 0xfb, 14, 1,
		1, 1, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f) // 2^40 directories
	line = new(dwarfBytes).put(uint32(line.Len()), line.Bytes())
	// C++, with a parameter whose type is a function type with two parameters of that same type.
	types := new(dwarfBytes).put(9, lo, size, 4, 6, lo, size, "main")
	again := uint32(unitHeader4 + types.Len() + 6)
	types.put(7, again, 0, 8, 7, again, 7, again, 0, 0)
	types = new(dwarfBytes).put(uint32(unitHeader4-4+types.Len()), uint16(4), uint32(0), 8, types.Bytes())
	var overlapping dwarfBytes // a unit for each start of an abbreviation table, all with the last code in it
	for i := range 1 << 14 {
		overlapping.put(uint32(8), uint16(4), uint32(i*5), 8, 3)
	}
	for name, test := range map[string]struct {
		sections map[string][]byte
		warning  string // "" if there is nothing wrong with the DWARF
	}{
		"nested": {map[string][]byte{
			".debug_info": madeUpUnit(lo, size, bytes.Repeat([]byte{2}, 4<<20)),
		}, "nested deeper"},
		"unterminated number": {map[string][]byte{
			".debug_info": madeUpUnit(lo, size, bytes.Repeat([]byte{0x80}, 1<<20)),
		}, "cut off"},
		"types of themselves": {map[string][]byte{
			".debug_info": types.Bytes(),
		}, ""},
		"refers to itself": {map[string][]byte{
			".debug_info": madeUpUnit(lo, size, self.Bytes()),
		}, ""},
		"same ranges": {map[string][]byte{
			".debug_info":   madeUpUnit(lo, size, bytes.Repeat([]byte{4, 0, 0, 0, 0}, 1<<18)),
			".debug_ranges": list.Bytes(),
		}, errTooMuch.Error()},
		"same string": {map[string][]byte{
			".debug_info": madeUpUnit(lo, size, bytes.Repeat([]byte{5, 0, 0, 0, 0}, 1<<18)),
			".debug_str":  append(bytes.Repeat([]byte{'a'}, 1<<20), 0),
		}, ""}, // it is read when it is shown
		"directories": {map[string][]byte{
			".debug_info": madeUpUnit(lo, size, []byte{0}),
			".debug_line": line.Bytes(),
		}, "lists of files"},
		"overlapping abbreviations": {map[string][]byte{
			".debug_info":   overlapping.Bytes(),
			".debug_abbrev": append(bytes.Repeat([]byte{2, 0x0b, 1, 0, 0}, 1<<14), 3, 0x0b, 1, 0, 0, 0),
		}, errTooMuch.Error()},
		"length": {map[string][]byte{
			".debug_info": {0xf0, 0xff, 0xff, 0x7f, 4, 0},
		}, "larger than what is left"},
		"version": {map[string][]byte{
			".debug_info": {7, 0, 0, 0, 9, 0, 0, 0, 0, 0, 8},
		}, "DWARF version 9"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.sections[".debug_abbrev"] == nil {
				test.sections[".debug_abbrev"] = madeUpAbbrevs
			}
			dir := t.TempDir()
			args := []string{}
			for section, data := range test.sections {
				file := filepath.Join(dir, section)
				if err := os.WriteFile(file, data, 0o666); err != nil {
					t.Fatal(err)
				}
				args = append(args, "--add-section", section+"="+file)
			}
			hostile := filepath.Join(dir, "hostile")
			run(t, "", "objcopy", append(args, program, hostile)...)
			ms, bias := mapped(t, hostile)
			s := New(Options{})
			if got := s.Locate(ms, lo+1+bias); len(got) != 1 || got[0].Function != "main" || got[0].Offset != 1 {
				t.Errorf("%+v", got)
			}
			warnings := s.Warnings(ms.All()[0])
			if test.warning == "" && len(warnings) != 0 ||
				test.warning != "" && (len(warnings) == 0 || len(warnings) > 2 || !strings.Contains(warnings[0].Error(), test.warning)) {
				t.Errorf("warnings %v, want %q", warnings, test.warning)
			}
		})
	}
}
