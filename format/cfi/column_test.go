package cfi_test

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/format/cfi"
)

// TestReturnColumns: by AADWARF64, section 4.1, the PC may have a rule beside the one for x30, the
// return address column, or be the column itself. By DWARF 5, section 6.4.1, the column has the
// return address.
func TestReturnColumns(t *testing.T) {
	arm64 := cfi.ABI{Order: binary.LittleEndian, PtrSize: 8, FP: 29, Link: 30, PC: 32}
	s390x := cfi.ABI{Order: binary.LittleEndian, PtrSize: 8, FP: 11, Link: 14}
	cfa := join(0x0c, 31, 16)
	for _, tt := range []struct {
		name    string
		abi     cfi.ABI
		column  int
		program []byte
		want    string
	}{
		{"as usual", arm64, 30, join(0x9e, 1), "CFA=r31+16 RA=[CFA-8] FP=same"},
		{"in x30", arm64, 30, nil, "CFA=r31+16 RA=same FP=same"},
		{"a rule for the PC", arm64, 30, join(0x9e, 1, 0xa0, 2), "CFA=r31+16 RA=[CFA-16] FP=same r30=[CFA-8]"},
		{"both are expressions", arm64, 30, join(0x16, 30, 1, 0x33, 0x16, 32, 2, 0x8e, 0), "CFA=r31+16 RA=breg30+0 FP=same r30=lit3"},
		{"no word of x30", arm64, 30, join(0x93, 2, 0x09, 32, 19), "CFA=r31+16 RA=r19 FP=same r19=[CFA-16] r30=undefined"},
		{"the PC taken back", arm64, 30, join(0x9e, 1, 0xa0, 2, 0xe0), "CFA=r31+16 RA=[CFA-8] FP=same"},
		{"the PC unchanged", arm64, 30, join(0x9e, 1, 0x08, 32), "CFA=r31+16 RA=[CFA-8] FP=same"},
		{"x30 undefined", arm64, 30, join(0x07, 30, 0xa0, 2), "CFA=r31+16 RA=[CFA-16] FP=same r30=undefined outermost"},
		{"the PC is the column", arm64, 32, join(0x9e, 1, 0xa0, 2), "CFA=r31+16 RA=[CFA-16] FP=same r30=[CFA-8]"},
		{"the PC is the column, without a rule", arm64, 32, join(0x9e, 1), "CFA=r31+16 RA=[CFA-8] FP=same r30=[CFA-8]"},
		{"the PC is the column, no rule at all", arm64, 32, nil, "CFA=r31+16 RA=same FP=same"},
		{"another column", arm64, 5, join(0x85, 1), "CFA=r31+16 RA=[CFA-8] FP=same r30=undefined"},
		{"another column, unchanged", arm64, 5, join(0x9e, 1), "CFA=r31+16 RA=r5 FP=same r30=[CFA-8]"},
		{"another column of s390x", s390x, 1, join(0x8e, 1), "CFA=r31+16 RA=r1 FP=same r14=[CFA-8]"},
		{"no such register of s390x", s390x, 14, join(0x8e, 1, 0x05, 65, 2), "CFA=r31+16 RA=[CFA-8] FP=same r65=[CFA-16]"},
	} {
		data := join(
			block(u32(0xffffffff), 4, 0, 8, 0, 1, 0x78, tt.column, cfa),
			block(u32(0), u64(0x1000), u64(0x100), tt.program))
		s, err := cfi.Open(cfi.Debug, data, 0, cfi.Options{ABI: tt.abi})
		if err != nil {
			t.Fatal(err)
		}
		row, _, _, _, err := s.RowAt(0x1000)
		if got := format(row); got != tt.want || err != nil {
			t.Errorf("%s: %s, %v; want %s", tt.name, got, err, tt.want)
		}
	}
}
