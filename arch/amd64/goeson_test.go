package amd64

import (
	"slices"
	"testing"
)

// Where control can go on one way, by the manual.
func TestGoesOn(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		want       []uint64
	}{
		{"nop; je; call; ret; nop", "\x90\x74\x10\xe8\x00\x10\x00\x00\xc3\x90", []uint64{0, 1, 3, 8}},
		{"jmp over int3; nop; jmp rax", "\xeb\x01\xcc\x90\xff\xe0\x90", []uint64{0, 3, 4}},
		{"jmp out of the code", "\x90\xe9\x00\x10\x00\x00\x90", []uint64{0, 1}},
		{"jmp before the code", "\x90\xeb\x80", []uint64{0, 1}},
		{"int3", "\xcc\x90", []uint64{0}},
		{"no instruction", "\x06\x90", []uint64{0}},
		{"cut off", "\x90\xe9\x00", []uint64{0, 1}},
		{"nothing", "", nil},
	} {
		var got []uint64
		Arch.GoesOn([]byte(tt.code), 0x4000, 0x4000, func(pc uint64) bool {
			got = append(got, pc-0x4000)
			return true
		})
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %#x, want %#x", tt.name, got, tt.want)
		}
	}
	n := 0
	loop := func(pc uint64) bool { n++; return n < 10_000 }
	if steps := Arch.GoesOn([]byte("\x90\xeb\xfd"), 0x4000, 0x4001, loop); steps != 512 || n != 512 {
		t.Errorf("a loop of %d steps, %d addresses", steps, n)
	}
	if Arch.GoesOn([]byte("\x90"), 0x4000, 0x3fff, loop) != 0 || Arch.GoesOn([]byte("\x90"), 0x4000, 1<<63+0x4000, loop) != 0 {
		t.Error("it begins outside the code")
	}
}
