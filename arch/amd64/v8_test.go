package amd64

import (
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

// TestV8Exit holds each sequence of three bytes against a disassembler.
func TestV8Exit(t *testing.T) {
	for x := range 1 << 16 {
		code := []byte{0x41, byte(x), byte(x >> 8), 0x10, 0, 0, 0, 0x90}
		in, err := x86asm.Decode(code, 64)
		want := 0
		if m, ok := in.Args[0].(x86asm.Mem); err == nil && ok && in.Op == x86asm.CALL && m.Base == x86asm.R13 && m.Index == 0 && m.Disp == 16 {
			want = in.Len
		}
		if got := v8Exit(code); got != want {
			t.Errorf("% x: %d bytes, want %d: %v", code, got, want, in)
		}
	}
	for n := range 7 {
		if got := v8Exit([]byte{0x41, 0xff, 0x95, 0x10, 0, 0, 0}[:n]); got != 0 {
			t.Errorf("the first %d bytes are an exit of %d", n, got)
		}
	}
}
