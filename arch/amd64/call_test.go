package amd64

import (
	"strings"
	"testing"
)

func TestAfterCall(t *testing.T) {
	for _, file := range []string{processor.Compile(t, frames, "-O2"), "/bin/bash"} {
		processor.AfterCall(t, file, 50, 5, func(text string) bool {
			return (strings.Contains(text, "call ") || strings.HasSuffix(text, "call")) && !strings.Contains(text, "syscall")
		})
	}
}

func TestAfterCallForms(t *testing.T) {
	for _, c := range []struct {
		code string
		want bool
	}{
		{"\xe8\x00\x00\x00\x00", true},
		{"\xff\xd0", true},                         // call *%rax
		{"\x41\xff\xd3", true},                     // call *%r11
		{"\xff\x10", true},                         // call *(%rax)
		{"\xff\x14\xc5\x00\x00\x00\x00", true},     // call *0(,%rax,8)
		{"\xff\x15\x00\x00\x00\x00", true},         // call *0(%rip)
		{"\x41\xff\x94\x24\x00\x01\x00\x00", true}, // call *0x100(%r12)
		{"\xff\x54\x24\x08", true},                 // call *8(%rsp)
		{"\xff\xe0", false},                        // jmp *%rax
		{"\xff\x18", false},                        // a far call
		{"\x9a\x00\x00\x00\x00\x00\x00", false},
		{"\x00\x00\x00\x00", false},
		{"", false},
		{"\xff", false},
	} {
		if got := Arch.AfterCall([]byte(c.code)); got != c.want {
			t.Errorf("% x: %v", c.code, got)
		}
	}
}
