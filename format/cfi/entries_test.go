package cfi_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/cfi"
)

const ehAddr = 0x8000 // of the hand-made .eh_frame

// ehFrame is a .eh_frame with a CIE of version 1 and one FDE. The FDE begins
// at 8+len(cie); its CIE pointer is the distance back from its own field.
func ehFrame(cie, fde []byte) []byte {
	first := block(u32(0), cie)
	return join(first, block(u32(uint32(len(first)+4)), fde))
}

// ehCIE is the body of a CIE up to and with the return address column.
func ehCIE(augmentation string) []byte { return join(1, augmentation, 0, 1, 0x78, 16) }

var ehInitial = join(0x0c, 7, 8, 0x90, 1)

const ehRow = "CFA=r7+8 RA=[CFA-8] FP=same"

// Augmentations and pointer encodings (LSB Core, "Exception Frames"). All FDEs
// cover 0x1000..0x1100.
func TestEHFrame(t *testing.T) {
	// Where the start address of the FDE lies, for pcrel.
	field := func(cie []byte) uint64 { return ehAddr + 8 + uint64(len(cie)) + 8 }
	rel4 := func(cie []byte) []byte { return u32(uint32(0x1000 - field(cie))) }
	z := func(augmentation string, data ...any) []byte {
		d := join(data...)
		return join(ehCIE(augmentation), len(d), d, ehInitial)
	}
	bases := amd64
	bases.TextBase, bases.DataBase = 0x400, 0x2000
	abs := join(u64(0x1000), u64(0x100))

	plain := join(ehCIE(""), ehInitial)
	zR := z("zR", 0x1b)
	zRS := z("zRS", 0x1b)
	zSR := z("zSR", 0x1b)
	zRB := z("zRB", 0x1b)
	all := z("zPLRGBS", 0x9b, u32(1), 0x1b, 0x1b)
	for _, test := range []struct {
		name     string
		opts     cfi.Options
		cie, fde []byte
		want     string
		keyB     bool
	}{
		{"none", amd64, plain, abs, ehRow, false},
		{"eh of gcc 2", amd64, join(1, "eh", 0, u64(0x1234), 1, 0x78, 16, ehInitial), abs, ehRow, false},
		{"zR pcrel sdata4", amd64, zR, join(rel4(zR), u32(0x100), 0), ehRow, false},
		{"zRS", amd64, zRS, join(rel4(zRS), u32(0x100), 0), ehRow + " signal", false},
		{"zSR", amd64, zSR, join(rel4(zSR), u32(0x100), 0), ehRow + " signal", false},
		{"zRB", amd64, zRB, join(rel4(zRB), u32(0x100), 0), ehRow, true},
		{"all", amd64, all, join(rel4(all), u32(0x100), 4, u32(7)), ehRow + " signal", true},
		{"no personality", amd64, z("zPR", 0xff, 0), join(abs, 0), ehRow, false},
		{"personality uleb", amd64, z("zPR", 0x01, 0x80, 1, 3), join(u32(0x1000), u32(0x100), 0), ehRow, false},
		// The CIE is at 0x8000, its augmentation data's P at 0x8000+4+4+8+2 = 0x8012: six bytes to
		// 0x8018.
		{"personality aligned", amd64, z("zPR", 0x50, "\x00\x00\x00\x00\x00\x00", u64(9), 3), join(u32(0x1000), u32(0x100), 0), ehRow, false},
		{"unknown letter", amd64, z("zRX", 3, 9, 9), join(u32(0x1000), u32(0x100), 0), ehRow, false},
		{"unknown letter hides a flag", amd64, z("zRXS", 3, 9, 9), join(u32(0x1000), u32(0x100), 0), ehRow + " signal", false},
		{"R without z", amd64, join(ehCIE("R"), 3, ehInitial), join(u32(0x1000), u32(0x100)), ehRow, false},
		{"udata2", amd64, z("zR", 0x02), join(u16(0x1000), u16(0x100), 0), ehRow, false},
		{"udata4", amd64, z("zR", 0x03), join(u32(0x1000), u32(0x100), 0), ehRow, false},
		{"udata8", amd64, z("zR", 0x04), join(abs, 0), ehRow, false},
		{"sdata2", amd64, z("zR", 0x0a), join(u16(0x1000), u16(0x100), 0), ehRow, false},
		{"sdata8", amd64, z("zR", 0x0c), join(abs, 0), ehRow, false},
		{"uleb128", amd64, z("zR", 0x01), join(0x80, 0x20, 0x80, 2, 0), ehRow, false},
		{"sleb128", amd64, z("zR", 0x09), join(0x80, 0x20, 0x80, 2, 0), ehRow, false},
		{"textrel", bases, z("zR", 0x2b), join(u32(0xc00), u32(0x100), 0), ehRow, false},
		{"datarel", bases, z("zR", 0x3b), join(u32(0xfffff000), u32(0x100), 0), ehRow, false},
		{"version 3", amd64, join(3, "", 0, 1, 0x78, 16, ehInitial), abs, ehRow, false},
		{"version 4", amd64, join(4, "", 0, 8, 0, 1, 0x78, 16, ehInitial), abs, ehRow, false},
		{"version 4, short addresses", amd64, join(4, "", 0, 4, 0, 1, 0x78, 16, ehInitial), join(u32(0x1000), u32(0x100)), ehRow, false},
		{"set_loc pcrel", amd64, zR, join(rel4(zR), u32(0x100), 0, 0x01, u32(uint32(0x1000-field(zR)-10)), 0x86, 2), "CFA=r7+8 RA=[CFA-8] FP=[CFA-16]", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := ehFrame(test.cie, test.fde)
			s, err := cfi.Open(cfi.EH, data, ehAddr, test.opts)
			if err != nil {
				t.Fatal(err)
			}
			row, f, err := s.Row(0x10ff)
			if err != nil {
				t.Fatal(err)
			}
			if f.Start != 0x1000 || f.Len != 0x100 || f.CIE.KeyB != test.keyB || f.Offset != 8+len(test.cie) {
				t.Errorf("FDE %+v", f)
			}
			if got := format(row); got != test.want || row.Lo != 0x1000 || row.Len != 0x100 {
				t.Errorf("%#x+%#x %s, want %s", row.Lo, row.Len, got, test.want)
			}
			for _, pc := range []uint64{0, 0xfff, 0x1100, ^uint64(0)} {
				if _, err := s.Find(pc); !errors.Is(err, cfi.ErrNotFound) {
					t.Errorf("Find(%#x): %v", pc, err)
				}
			}
		})
	}
}

// An entry that cannot be read does not affect the others.
func TestBadEntries(t *testing.T) {
	good := ehFrame(join(ehCIE(""), ehInitial), join(u64(0x5000), u64(0x100)))
	abs := join(u64(0x1000), u64(0x100))
	z := func(augmentation string, data ...any) []byte {
		d := join(data...)
		return join(ehCIE(augmentation), len(d), d)
	}
	for _, test := range []struct {
		name     string
		cie, fde []byte
		want     string
		is       error
	}{
		{"version 2", join(2, "", 0, 1, 0x78, 16), abs, "CIE at 0x0: version at 0x8: is 2, want 1, 3 or 4", cfi.ErrUnsupported},
		{"unknown augmentation", ehCIE("armcc+"), abs, `augmentation at 0x9: "armcc+" is unknown`, cfi.ErrUnsupported},
		{"R behind an unknown letter", z("zXR", 1, 3), abs, "hides how addresses are encoded", cfi.ErrUnsupported},
		{"address size", join(4, "", 0, 2, 0, 1, 0x78, 16), abs, "address size at 0xa: is 2, want 4 or 8", cfi.ErrUnsupported},
		{"segments", join(4, "", 0, 8, 4, 1, 0x78, 16), abs, "segment selector size", cfi.ErrUnsupported},
		{"endless augmentation", join(1, strings.Repeat("z", 32)), abs, "has no end within 32 bytes", cfi.ErrMalformed},
		{"long augmentation data", join(ehCIE("zR"), 100, 3), abs, "data runs past the end", cfi.ErrUnsupported},
		{"short augmentation data", join(ehCIE("zPR"), 2, 0, 0), abs, "runs past the end", cfi.ErrUnsupported},
		{"indirect", z("zR", 0x80), join(abs, 0), "start address", cfi.ErrMalformed},
		{"funcrel", z("zR", 0x40), join(abs, 0), "relative to the start of a function", cfi.ErrMalformed},
		{"textrel", z("zR", 0x20), join(abs, 0), "text section, whose address is not known", cfi.ErrMalformed},
		{"omitted", z("zR", 0xff), join(abs, 0), "start address", cfi.ErrMalformed},
		{"unknown format", z("zR", 0x0d), join(abs, 0), "unknown pointer encoding", cfi.ErrMalformed},
		{"too long", ehCIE(""), join(u64(0xfffffffffffffff0), u64(0x11)), "past the end of the address space", cfi.ErrMalformed},
		{"very long", ehCIE(""), join(u64(0x1000), u64(1<<37)), "want at most", cfi.ErrMalformed},
		{"short FDE", ehCIE(""), u64(0x1000), "length of code", cfi.ErrMalformed},
		{"FDE augmentation", z("zR", 0), join(abs, 9, 0), "augmentation data", cfi.ErrMalformed},
	} {
		data := join(ehFrame(test.cie, test.fde), good)
		s, err := cfi.Open(cfi.EH, data, ehAddr, amd64)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Find(0x5000); err != nil {
			t.Errorf("%s: the other FDE: %v", test.name, err)
		}
		_, err = s.Find(0x1000)
		if err == nil || !errors.Is(err, cfi.ErrNotFound) || !strings.Contains(err.Error(), test.want) || !errors.Is(err, test.is) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		n, bad := 0, 0
		for _, err := range s.FDEs() {
			if n++; err != nil {
				bad++
			}
		}
		if n != 2 || bad != 1 {
			t.Errorf("%s: %d FDEs, %d of them bad", test.name, n, bad)
		}
	}
}

// Each part of a section may end in a zero terminator. Bytes behind the last one need not be
// call frame information.
func TestTerminators(t *testing.T) {
	part := func(start uint64) []byte {
		return ehFrame(join(ehCIE(""), ehInitial), join(u64(start), u64(0x100)))
	}
	for _, test := range []struct {
		name string
		data []byte
		fdes int
		bad  bool
	}{
		{"none", join(part(0x1000), part(0x2000)), 2, false},
		{"at the end", join(part(0x1000), part(0x2000), u32(0)), 2, false},
		{"between", join(part(0x1000), u32(0), part(0x2000), u32(0)), 2, false},
		{"zeros", join(part(0x1000), make([]byte, 4097)), 1, false},
		{"something else", join(part(0x1000), u32(0), "something else"), 1, false},
		{"cut short", part(0x1000)[:40], 0, true},
		{"odd end", join(part(0x1000), 0, 1), 1, true},
		{"reserved length", join(part(0x1000), u32(0xfffffff0)), 1, true},
		{"nothing", nil, 0, false},
	} {
		s, err := cfi.Open(cfi.EH, test.data, ehAddr, amd64)
		if err != nil {
			t.Fatal(err)
		}
		n, bad := 0, false
		for _, err := range s.FDEs() {
			if err != nil {
				bad = true
			} else {
				n++
			}
		}
		if n != test.fdes || bad != test.bad {
			t.Errorf("%s: %d FDEs, bad %v; want %d, %v", test.name, n, bad, test.fdes, test.bad)
		}
		for i := range test.fdes {
			if _, err := s.Find(uint64(0x1000 * (i + 1))); err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
		}
	}
}

// The 64-bit format. In .eh_frame the CIE ID keeps four bytes (LSB Core,
// "Exception Frames"); in .debug_frame it has eight (DWARF 5, section 7.4).
func Test64BitFormat(t *testing.T) {
	wide := func(parts ...any) []byte {
		b := join(parts...)
		return join(u32(0xffffffff), u64(uint64(len(b))), b)
	}
	cie := wide(u64(0xffffffffffffffff), 4, 0, 8, 0, 1, 0x78, 16, ehInitial)
	eh := wide(u32(0), ehCIE(""), ehInitial)
	for _, test := range []struct {
		kind cfi.Kind
		data []byte
	}{
		{cfi.Debug, join(cie, wide(u64(0), u64(0x1000), u64(0x100), 0x86, 2))},
		{cfi.EH, join(eh, wide(u32(uint32(len(eh)+12)), u64(0x1000), u64(0x100), 0x86, 2))},
	} {
		s, err := cfi.Open(test.kind, test.data, ehAddr, amd64)
		if err != nil {
			t.Fatal(err)
		}
		row, _, err := s.Row(0x1000)
		if got := format(row); err != nil || got != "CFA=r7+8 RA=[CFA-8] FP=[CFA-16]" {
			t.Errorf("%v: %s, %v", test.kind, got, err)
		}
	}
}

// A function that is too long for one row has several rows.
func TestLongFunction(t *testing.T) {
	const start, length = 0x1000, 0x280000000
	data := ehFrame(join(ehCIE(""), ehInitial), join(u64(start), u64(length)))
	s, err := cfi.Open(cfi.EH, data, ehAddr, amd64)
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Find(start + length - 1)
	if err != nil {
		t.Fatal(err)
	}
	next := uint64(start)
	for row, err := range s.Rows(f) {
		if err != nil || row.Lo != next {
			t.Fatalf("row at %#x, want %#x: %v", row.Lo, next, err)
		}
		next += uint64(row.Len)
		if one, _, err := s.Row(row.Lo + uint64(row.Len)/2); err != nil || one != row {
			t.Errorf("%+v, %v; want %+v", one, err, row)
		}
	}
	if next != start+length {
		t.Errorf("rows end at %#x", next)
	}
}

func TestOpenErrors(t *testing.T) {
	for _, opts := range []cfi.Options{
		{},
		{ABI: cfi.ABI{Order: binary.LittleEndian}},
		{ABI: cfi.ABI{Order: binary.LittleEndian, PtrSize: 2}},
	} {
		if _, err := cfi.Open(cfi.EH, nil, 0, opts); err == nil {
			t.Errorf("Open with %+v succeeds", opts)
		}
	}
	if _, err := cfi.Open(7, nil, 0, amd64); err == nil {
		t.Error("Open of an unknown kind succeeds")
	}
}

// An FDE of another section must not run off this section's end.
func TestForeignFDE(t *testing.T) {
	long := ehFrame(join(ehCIE(""), ehInitial), join(u64(0x1000), u64(0x100), make([]byte, 200)))
	s, _ := cfi.Open(cfi.EH, long, ehAddr, amd64)
	f, err := s.Find(0x1000)
	if err != nil {
		t.Fatal(err)
	}
	other, _ := cfi.Open(cfi.EH, long[:50], ehAddr, amd64)
	n := 0
	for row, err := range other.Rows(f) {
		if n++; err == nil {
			t.Errorf("row %+v", row)
		}
	}
	if n != 1 {
		t.Errorf("%d results, want one error", n)
	}
}
