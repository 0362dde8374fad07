package amd64

import "testing"

// What code does to the stack pointer, by the manual (Intel SDM, volume 2: CALL, MOV, POP).
func TestLoadsSP(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		want       bool
	}{
		{"mov rsp,[rsp]", "\x48\x8b\x24\x24\xc3", true},
		{"mov rsp,[rsp+64]", "\x48\x8b\x64\x24\x40\xc3", true},
		{"mov rsp,[rsp+256]", "\x48\x8b\xa4\x24\x00\x01\x00\x00\xc3", true},
		{"mov rax,[rsp+8]; mov rsp,[rsp]; jmp rax", "\x48\x8b\x44\x24\x08\x48\x8b\x24\x24\xff\xe0", true},
		{"pop rsp", "\x5b\x5c\xc3", true},
		{"mov rdi,rdx; call rsi; mov rsp,[rsp]", "\x48\x89\xd7\xff\xd6\x48\x8b\x24\x24\xc3", true},
		{"ret; mov rsp,[rsp]", "\xc3\x48\x8b\x24\x24", false},
		{"jmp; mov rsp,[rsp]", "\xeb\x00\x48\x8b\x24\x24", false},
		{"mov rsp,rbp; mov rsp,[rsp]", "\x48\x89\xec\x48\x8b\x24\x24", false},
		{"mov rsp,[rbp-8]", "\x48\x8b\x65\xf8", false},
		{"mov rsp,[r12]: rsp is not its base", "\x49\x8b\x24\x24", false},
		{"mov rbx,[rsp+8]; pop r12; ret", "\x48\x8b\x5c\x24\x08\x41\x5c\xc3", false},
		{"the bytes in a constant", "\x48\xb8\x48\x8b\x24\x24\x00\x00\x00\x00\xc3", false}, // mov rax,imm64
		{"too far", "\x90\x90\x90\x90\x90\x90\x48\x8b\x24\x24", false},
		{"nothing", "", false},
	} {
		if got := loadsSP([]byte(tt.code)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
