package arm64

import "testing"

func FuzzReadAhead(f *testing.F) { processor.FuzzReadAhead(f, fuzzSeeds) }

func FuzzCallTarget(f *testing.F) { processor.FuzzCallTarget(f, fuzzSeeds) }

// What the ways out of pieces of code say, by the manual (Arm Architecture Reference Manual for
// A-profile, C6.2).
func TestReadAhead(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		want       []string
	}{
		{"kept by a function that is called", // bl 1f; mov sp,x9; ldr x30,[sp],#16; ret; 1: mov w0,#0; ret
			"\x04\x00\x00\x94\x3f\x01\x00\x91\xfe\x07\x41\xf8\xc0\x03\x5f\xd6\x00\x00\x80\x52\xc0\x03\x5f\xd6",
			[]string{"CFA=x9+16 RA=[CFA-16] FP=same"}},
		{"changed by a function that is called", // 1: mov x9,#0; ret
			"\x04\x00\x00\x94\x3f\x01\x00\x91\xfe\x07\x41\xf8\xc0\x03\x5f\xd6\x09\x00\x80\xd2\xc0\x03\x5f\xd6", nil},
		{"a size that two instructions make, runtime.call65536", // mov x12,#0x10; movk x12,#1,lsl #16; add sp,sp,x12; ret
			"\x0c\x02\x80\xd2\x2c\x00\xa0\xf2\xff\x63\x2c\x8b\xc0\x03\x5f\xd6", []string{"CFA=sp+65552 RA=same FP=same"}},
		{"changed by a function that nobody knows", // blr x0; mov sp,x9; ldr x30,[sp],#16; ret
			"\x00\x00\x3f\xd6\x3f\x01\x00\x91\xfe\x07\x41\xf8\xc0\x03\x5f\xd6", nil},
	} {
		processor.ReadAhead(t, tt.name, tt.code, 0, nil, tt.want)
	}
}

// What the ways out say that a jump leads to another place of, by the manual (the Arm Architecture
// Reference Manual for A-profile, C6.2: B, LDP, RET).
func TestReadAway(t *testing.T) {
	for _, tt := range []struct {
		name, code, away string
		want             []string
	}{
		{"one way out for many", "\x00\x08\x00\x14", "\xfd\x7b\xc2\xa8\xc0\x03\x5f\xd6", // b away; away: ldp x29,x30,[sp],#32; ret
			[]string{"CFA=sp RA=same FP=same guess", "CFA=sp+32 RA=[CFA-24] FP=[CFA-32]"}},
	} {
		processor.ReadAhead(t, tt.name, tt.code, 0, &tt.away, tt.want)
	}
}
