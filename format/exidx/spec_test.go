package exidx

import (
	"errors"
	"testing"
)

// forms has an instruction of each form in EHABI32, section 10.3, table 4, with what it says there.
var forms = []struct {
	code []byte
	want string
}{
	{[]byte{0x00}, "vsp = vsp + 4"},
	{[]byte{0x3f}, "vsp = vsp + 256"},
	{[]byte{0x40}, "vsp = vsp - 4"},
	{[]byte{0x7f}, "vsp = vsp - 256"},
	{[]byte{0x80, 0x00}, "Refuse to unwind"},
	{[]byte{0x80, 0x01}, "pop {r4}"},
	{[]byte{0x8f, 0xff}, "pop {r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14, r15}"},
	{[]byte{0x84, 0x80}, "pop {r11, r14}"},
	{[]byte{0x9b}, "vsp = r11"},
	{[]byte{0x9d}, "[Spare]"},
	{[]byte{0x9f}, "[Spare]"},
	{[]byte{0xa0}, "pop {r4}"},
	{[]byte{0xa7}, "pop {r4, r5, r6, r7, r8, r9, r10, r11}"},
	{[]byte{0xa9}, "pop {r4, r5, r14}"},
	{[]byte{0xb0}, "finish"},
	{[]byte{0xb1, 0x00}, "[Spare]"},
	{[]byte{0xb1, 0x08}, "pop {r3}"},
	{[]byte{0xb1, 0x0f}, "pop {r0, r1, r2, r3}"},
	{[]byte{0xb1, 0x10}, "[Spare]"},
	{[]byte{0xb2, 0x00}, "vsp = vsp + 516"},
	{[]byte{0xb2, 0x81, 0x01}, "vsp = vsp + 1032"},
	{[]byte{0xb3, 0x81}, "pop FSTMFDX {D8-D9}"},
	{[]byte{0xb4}, "pop {ra_auth_code}"},
	{[]byte{0xb5}, "vsp as modifier for PAC validation"},
	{[]byte{0xb6}, "[Spare]"},
	{[]byte{0xb7}, "[Spare]"},
	{[]byte{0xb8}, "pop FSTMFDX {D8}"},
	{[]byte{0xbf}, "pop FSTMFDX {D8-D15}"},
	{[]byte{0xc0}, "pop {wR10}"},
	{[]byte{0xc5}, "pop {wR10-wR15}"},
	{[]byte{0xc6, 0x23}, "pop {wR2-wR5}"},
	{[]byte{0xc7, 0x00}, "[Spare]"},
	{[]byte{0xc7, 0x05}, "pop {wCGR0, wCGR2}"},
	{[]byte{0xc7, 0x15}, "[Spare]"},
	{[]byte{0xc8, 0x01}, "pop {D16-D17}"},
	{[]byte{0xc9, 0x82}, "pop {D8-D10}"},
	{[]byte{0xca}, "[Spare]"},
	{[]byte{0xcf}, "[Spare]"},
	{[]byte{0xd0}, "pop {D8}"},
	{[]byte{0xd7}, "pop {D8-D15}"},
	{[]byte{0xd8}, "[Spare]"},
	{[]byte{0xff}, "[Spare]"},
}

func TestForms(t *testing.T) {
	for _, f := range forms {
		in, err := Decode(f.code)
		if err != nil || in.String() != f.want || in.Len != len(f.code) {
			t.Errorf("% x: %v of %d bytes, %v; want %s", f.code, in, in.Len, err, f.want)
		}
		if len(f.code) == 2 {
			if _, err := Decode(f.code[:1]); !errors.Is(err, ErrMalformed) {
				t.Errorf("% x alone: %v", f.code[:1], err)
			}
		}
	}
	for _, code := range [][]byte{{0xb2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, {0xb2, 0xff, 0xff, 0xff, 0xff, 0x0f}, {0xb2, 0x80}} {
		if _, err := Decode(code); !errors.Is(err, ErrMalformed) {
			t.Errorf("% x: %v", code, err)
		}
	}
}

// TestRows: what each row is follows from EHABI32, section 10.3: registers are popped in the order
// of their numbers from ascending addresses, and PREVIOUS's PC is LR unless it was popped.
func TestRows(t *testing.T) {
	for _, x := range []struct {
		code []byte
		want string
	}{
		{[]byte{0xb0}, "CFA=r13 RA=same FP=same"},
		{nil, "CFA=r13 RA=same FP=same"},
		{[]byte{0x01, 0xa8, 0xb0}, "CFA=r13+16 RA=[CFA-4] FP=same r4=[CFA-8]"},
		{[]byte{0x84, 0x80, 0xb0}, "CFA=r13+8 RA=[CFA-4] FP=[CFA-8]"},
		{[]byte{0x88, 0x08, 0xb0}, "CFA=r13+8 RA=[CFA-4] FP=same r7=[CFA-8]"},
		{[]byte{0x8c, 0x00, 0xb0}, "CFA=r13+8 RA=[CFA-4] FP=same"}, // LR and PC
		{[]byte{0x97, 0x41, 0x84, 0x08, 0xb0}, "CFA=r7 RA=[CFA-4] FP=same r7=[CFA-8]"},
		{[]byte{0xa0, 0x9b, 0x84, 0x80}, "CFA=r11+8 RA=[CFA-4] FP=[CFA-8] r4=[r13]"},
		{[]byte{0xd0, 0xa8}, "CFA=r13+16 RA=[CFA-4] FP=same r4=[CFA-8] r80=[CFA-16] r81=[CFA-12]"},
		{[]byte{0xb8, 0xa8}, "CFA=r13+20 RA=[CFA-4] FP=same r4=[CFA-8] r80=[CFA-20] r81=[CFA-16]"},
		{[]byte{0xc8, 0x00, 0xb4}, "CFA=r13+12 RA=same FP=same r272=[CFA-12]"},
		{[]byte{0xb2, 0x00, 0x40}, "CFA=r13+512 RA=same FP=same"},
		{[]byte{0xa3, 0x97, 0x00, 0x84, 0x00}, "CFA=[r13+12]+8 RA=[CFA-4] FP=same r4=[r13] r5=[r13+4] r6=[r13+8] r7=[r13+12]"},
		{[]byte{0x86, 0x00}, "CFA=[r13+0]+0 RA=[r13+4] FP=same"}, // SP is loaded, not incremented
	} {
		u := Unwind{Code: x.code}
		row, err := u.Row()
		if got := row.Format(nil); err != nil || got != x.want {
			t.Errorf("% x: %s, %v; want %s", x.code, got, err, x.want)
		}
	}
	for _, x := range []struct {
		code []byte
		want error
	}{
		{[]byte{0x80, 0x00}, ErrRefuse}, {[]byte{0xca}, ErrUnsupported}, {[]byte{0xb1}, ErrMalformed}, {[]byte{0xc8, 0xf1}, ErrMalformed},
		{[]byte{0xa8, 0x9e, 0xa8, 0x9e}, ErrUnsupported},
		{[]byte{0xb2, 0xff, 0xff, 0xff, 0xff, 0x01, 0xb2, 0xff, 0xff, 0xff, 0xff, 0x01}, ErrMalformed},
	} {
		u := Unwind{Code: x.code}
		if row, err := u.Row(); !errors.Is(err, x.want) {
			t.Errorf("% x: %s, %v; want %v", x.code, row.Format(nil), err, x.want)
		}
	}
}
