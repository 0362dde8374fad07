package arm64

import "testing"

// What code does to the stack pointer, by the manual (Arm Architecture Reference Manual for
// A-profile, C6.2: ADD (immediate), BL, LDR (immediate), RET).
func TestLoadsSP(t *testing.T) {
	const (
		load  = "\xe9\x07\x40\xf9" // ldr x9,[sp,#8]
		other = "\x09\x04\x40\xf9" // ldr x9,[x0,#8]
		set   = "\x3f\x01\x00\x91" // mov sp,x9
		call  = "\x00\x00\x3f\xd6" // blr x0
		ret   = "\xc0\x03\x5f\xd6"
	)
	for _, tt := range []struct {
		name, code string
		want       bool
	}{
		{"loaded", load + set + ret, true},
		{"behind a call", call + load + set, true},
		{"not loaded from the stack", other + set, false},
		{"not loaded", set, false},
		{"behind the return", ret + load + set, false},
		{"mov sp,x29", load + "\xbf\x03\x00\x91", false},
		{"nothing", "", false},
	} {
		if got := loadsSP([]byte(tt.code)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
