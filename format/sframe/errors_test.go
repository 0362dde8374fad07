package sframe

import (
	"errors"
	"testing"
)

// TestOpenErrors: each error names the field's value, the expected one, and the field's offset.
func TestOpenErrors(t *testing.T) {
	h := headerLayout{Version: 2, Flags: 1, ABI: 3, FixedRA: -8}
	good := section(t, little, h, []any{fdeV2{Start: 0x100, Size: 16, NumFREs: 1}}, []byte{0, 3, 8})
	patched := func(off int, b ...byte) []byte {
		data := append([]byte(nil), good...)
		copy(data[off:], b)
		return data
	}
	tests := []struct {
		data []byte
		kind error
		text string
	}{
		{nil, ErrMalformed, "sframe: header: 0 bytes of data, expected at least 28, field at section offset 0x0"},
		{good[:27], ErrMalformed, "sframe: header: 27 bytes of data, expected at least 28, field at section offset 0x0"},
		{patched(0, 0x7f, 'E'), ErrMalformed, "sframe: header: magic bytes 0x7f 0x45, expected 0xdee2 in either byte order, field at section offset 0x0"},
		{patched(2, 4), ErrUnsupported, "sframe: header: version 4, expected 1, 2 or 3, field at section offset 0x2"},
		{patched(2, 1, 4), ErrUnsupported, "sframe: header: flags 0x4, of which 0x4 are not defined in version 1, field at section offset 0x3"},
		{patched(2, 3, 7), ErrUnsupported, "sframe: header: flags 0x7, of which 0x2 are not defined in version 3, field at section offset 0x3"},
		{patched(3, 0x4b), ErrUnsupported, "sframe: header: flags 0x4b, of which 0x48 are not defined in version 2, field at section offset 0x3"},
		{patched(4, 0), ErrUnsupported, "sframe: header: ABI 0, expected 1 to 4 in version 2, field at section offset 0x4"},
		{patched(4, 5), ErrUnsupported, "sframe: header: ABI 5, expected 1 to 4 in version 2, field at section offset 0x4"},
		{patched(2, 1, 1, 4), ErrUnsupported, "sframe: header: ABI 4, expected 1 to 3 in version 1, field at section offset 0x4"},
		{patched(4, 1), ErrMalformed, "sframe: header: ABI 1 (SFRAME_ABI_AARCH64_ENDIAN_BIG) in a section of the other byte order (LittleEndian), field at section offset 0x4"},
		{patched(7, 255), ErrMalformed, "sframe: header: auxiliary header of 255 bytes lies beyond the 0x33 bytes of data, field at section offset 0x7"},
		{patched(8, 2), ErrMalformed, "sframe: header: FDE sub-section [0x1c, 0x44) of 2 FDEs lies beyond the 0x33 bytes of data, field at section offset 0x14"},
		{patched(8, 0xff, 0xff, 0xff, 0xff), ErrMalformed, "sframe: header: FDE sub-section [0x1c, 0x1400000008) of 4294967295 FDEs lies beyond the 0x33 bytes of data, field at section offset 0x14"},
		{patched(0x10, 4), ErrMalformed, "sframe: header: FRE sub-section [0x30, 0x34) lies beyond the 0x33 bytes of data, field at section offset 0x10"},
		{patched(0x14, 4), ErrMalformed, "sframe: header: FDE sub-section [0x20, 0x34) of 1 FDEs lies beyond the 0x33 bytes of data, field at section offset 0x14"},
		{patched(0x18, 4), ErrMalformed, "sframe: header: FRE sub-section starts at 0x20, before the FDE sub-section's end at 0x30, field at section offset 0x18"},
	}
	mustOpen(t, good, 0)
	for _, test := range tests {
		_, err := Open(test.data, 0)
		if err == nil || err.Error() != test.text || !errors.Is(err, test.kind) {
			t.Errorf("got %v\nexpected %v", err, test.text)
		}
		var fe *FormatError
		if !errors.As(err, &fe) || fe.FDE != -1 || fe.FRE != -1 {
			t.Errorf("not a FormatError of the header: %#v", err)
		}
	}
}

func TestFDEErrors(t *testing.T) {
	v2 := headerLayout{Version: 2, Flags: 1, ABI: 3, FixedRA: -8}
	v3 := v2
	v3.Version = 3
	fre := []byte{1, 0, 0, 0, 0, 0, 3, 8}
	tests := []struct {
		h    headerLayout
		fde  any
		fres []byte
		text string
	}{
		{v2, fdeV2{Size: 16, FREOff: 0x9f00, NumFREs: 1}, fre,
			"sframe: FDE 0: start of FREs 0x9f00 lies beyond the FRE sub-section (0x8 bytes), field at section offset 0x24"},
		{v3, indexV3{0, 16, 4}, fre,
			"sframe: FDE 0: start of FREs 0x4 lies beyond the FRE sub-section (0x8 bytes), field at section offset 0x28"},
		{v2, fdeV2{Size: 16, Info: 0x24}, fre,
			"sframe: FDE 0: FRE type 4 (info byte 0x24), expected 0 to 2, field at section offset 0x2c"},
		{v3, indexV3{0, 16, 0}, []byte{0, 0, 0, 0x25, 0},
			"sframe: FDE 0: FDE type 5 (second info byte 0x25), expected 0 or 1, field at section offset 0x2f"},
		{v3, indexV3{0, 16, 0}, []byte{0, 0, 0x10, 0, 0},
			"sframe: FDE 0: repeat size 0 in an FDE of PC type mask, field at section offset 0x30"},
		{v2, fdeV2{Size: 16, Info: 0x10}, fre,
			"sframe: FDE 0: repeat size 0 in an FDE of PC type mask, field at section offset 0x2d"},
		{v3, indexV3{-0x1010, 0x20, 0}, fre,
			"sframe: FDE 0: start address 0xfffffffffffffff0 and size 0x20 go beyond the address space, field at section offset 0x1c"},
		{v2, fdeV2{Size: 16, FREOff: 7, NumFREs: 1}, fre,
			"sframe: FDE 0: FRE 0: FRE at 0x7 lies beyond the FRE sub-section (0x8 bytes), field at section offset 0x37"},
		{v2, fdeV2{Size: 16, NumFREs: 2}, []byte{0, 3, 8, 4, 0x45, 0, 0, 0},
			"sframe: FDE 0: FRE 1: FRE at 0x3 lies beyond the FRE sub-section (0x8 bytes), field at section offset 0x33"},
		{v2, fdeV2{Size: 16, NumFREs: 1, Info: 1}, []byte{0, 0, 0x63, 8},
			"sframe: FDE 0: FRE 0: data word size 3, expected 0 to 2, field at section offset 0x32"},
		{v2, fdeV2{Size: 16, NumFREs: 2}, []byte{4, 3, 8, 2, 3, 8},
			"sframe: FDE 0: FRE 1: start offset 0x2 after 0x4, expected ascending order, field at section offset 0x33"},
		{v3, indexV3{0, 16, 0}, []byte{1, 0, 0, 1, 0, 0, 5, 2, 8},
			"sframe: FDE 0: FRE 0: the CFA's control word names no register (info byte 0x5, data words 0x0208), field at section offset 0x31"},
	}
	for _, test := range tests {
		s := mustOpen(t, section(t, little, test.h, []any{test.fde}, test.fres), 0x1000)
		f, err := s.FDE(0)
		for _, e := range s.FREs(f) {
			if err == nil {
				err = e
			}
		}
		if err == nil || err.Error() != test.text {
			t.Errorf("got %v\nexpected %v", err, test.text)
		}
		// A look-up reports the same error.
		if _, e := s.Find(f.Start + 10); e == nil || e.Error() != test.text {
			t.Errorf("Find: %v\nexpected %v", e, test.text)
		}
	}
}

// TestForeignFDE: a made-up FDE must do no harm.
func TestForeignFDE(t *testing.T) {
	s, _ := openFixture(t, "amd64-v3")
	for _, f := range []FDE{
		{FREOff: 0xffffffff, NumFREs: 0xffffffff},
		{FREOff: uint32(len(s.fres)) - 5, NumFREs: 1},
		{FREType: 63, NumFREs: 1},
		{FREType: 3, NumFREs: 1},
	} {
		n := 0
		var last error
		for _, err := range s.FREs(f) {
			last = err
			n++
		}
		if n != 1 || !errors.Is(last, ErrMalformed) {
			t.Errorf("%+v: %d FREs, %v", f, n, last)
		}
	}
}
