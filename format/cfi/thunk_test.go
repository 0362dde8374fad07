package cfi_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/format/cfi"
)

// A program as gcc -mindirect-branch=thunk-inline -mfunction-return=thunk-inline writes it: the
// offset 16 that it gives in the thunks at 0x1020 and 0x1040 is none of the function's. That at
// 0x1002 is of a push.
func TestThunk(t *testing.T) {
	initial := join(0x0c, 7, 8, 0x90, 1) // def_cfa r7+8; offset r16 at CFA + 1*-8
	for _, test := range []struct {
		name  string
		frame []byte // how the function finds its CFA, once it has saved r6 and r3
		want  string // the CFA there
	}{
		{"by SP", join(0x0e, 64), "CFA=r7+64"},
		{"by FP", join(0x0c, 6, 16), "CFA=r6+16"},
		{"by an expression", join(0x0f, 2, 0x76, 0x10), "CFA=breg6+16"},
	} {
		t.Run(test.name, func(t *testing.T) {
			program := join(0x42, 0x0e, 16, 0x86, 2, 0x42, test.frame, 0x83, 3, // 0x1002, 0x1004
				0x5c, 0x0e, 16, // 0x1020
				0x48, 0x0a, 0x0c, 7, 16, 0x41, 0x0e, 8, // 0x1028, remembered; 0x1029
				0x57, 0x0e, 16, // 0x1040
				0x46, 0x0b) // 0x1046, restored
			opts := amd64
			opts.Thunk = func(addr uint64) bool { return addr == 0x1020 || addr == 0x1040 }
			s, err := cfi.Open(cfi.Debug, handMade(initial, program), 0, opts)
			if err != nil {
				t.Fatal(err)
			}
			saved := " RA=[CFA-8] FP=[CFA-16] r3=[CFA-24]"
			for _, at := range []struct {
				pc   uint64
				want string
			}{
				{0x1010, test.want + saved},
				{0x1020, test.want + saved},
				{0x1027, test.want + saved},
				{0x1028, "CFA=r7+16" + saved},
				{0x1030, "CFA=r7+8" + saved},
				{0x1040, "CFA=r7+8 RA=[CFA-8] FP=same r3=same"}, // the thunk's call has overwritten what was saved
				{0x1046, test.want + saved},
			} {
				if row, _, err := s.Row(at.pc); err != nil || format(row) != at.want {
					t.Errorf("%#x: %s, %v; want %s", at.pc, format(row), err, at.want)
				}
			}
			f, err := s.Find(0x1000)
			if err != nil {
				t.Fatal(err)
			}
			for row, err := range s.Rows(f) {
				if one, _, oneErr := s.Row(row.Lo); err != nil || oneErr != nil || format(one) != format(row) {
					t.Errorf("%#x: in the table %s, %v; alone %s, %v", row.Lo, format(row), err, format(one), oneErr)
				}
			}
		})
	}
}
