package amd64

import "testing"

// Code that finds its frame by the frame pointer, and code that keeps the register for its caller
// or uses it for something else, by the manual (Intel SDM, volume 2: CALL, Jcc, LEA, LEAVE, MOV,
// POP, PUSH, RET).
func TestFindsFrame(t *testing.T) {
	for _, tt := range []struct {
		name, code, away string
		want             bool
	}{
		{"a local variable is read", "\x48\x8b\x45\xf8\xc3", "", true},                                             // mov rax,[rbp-8]; ret
		{"and written", "\x48\x89\x45\xf8\xc3", "", true},                                                          // mov [rbp-8],rax; ret
		{"its address", "\x48\x8d\x7d\xf0\xc3", "", true},                                                          // lea rdi,[rbp-16]; ret
		{"leave", "\x90\xc9\xc3", "", true},                                                                        // nop; leave; ret
		{"the stack pointer", "\x48\x89\xec\x5d\xc3", "", true},                                                    // mov rsp,rbp; pop rbp; ret
		{"behind a call", "\xe8\x00\x01\x00\x00\x48\x8b\x45\xf8\xc3", "", true},                                    // call; mov rax,[rbp-8]; ret
		{"where a branch goes", "\x74\x01\xc3\x48\x8b\x45\xf8\xc3", "", true},                                      // je 1f; ret; 1: mov rax,[rbp-8]; ret
		{"where no branch goes", "\x74\x04\x48\x8b\x45\xf8\xc3", "", true},                                         // je 1f; mov rax,[rbp-8]; 1: ret
		{"where a jump leads far away", "\xe9\xfb\x1f\x00\x00", "\xc9\xc3", true},                                  // jmp away; away: leave; ret
		{"it is the caller's", "\x53\xe8\x00\x01\x00\x00\x5b\xc3", "", false},                                      // push rbx; call; pop rbx; ret
		{"saved and restored", "\x55\xe8\x00\x01\x00\x00\x5d\xc3", "", false},                                      // push rbp; call; pop rbp; ret
		{"arguments lie outward", "\x48\x8b\x45\x10\xc3", "", false},                                               // mov rax,[rbp+16]; ret
		{"set up only now", "\x55\x48\x89\xe5\x48\x8b\x45\xf8\xc9\xc3", "", false},                                 // push rbp; mov rbp,rsp; mov rax,[rbp-8]; leave; ret
		{"another value", "\x48\x89\xfd\x48\x8b\x45\xf8\xc3", "", false},                                           // mov rbp,rdi; mov rax,[rbp-8]; ret
		{"as it was popped", "\x5d\x48\x8b\x45\xf8\xc3", "", false},                                                // pop rbp; mov rax,[rbp-8]; ret
		{"a loop", "\x90\xeb\xfd", "", false},                                                                      // 1: nop; jmp 1b
		{"the next function", "\xc3\x48\x8b\x45\xf8\xc3", "", false},                                               // ret; mov rax,[rbp-8]
		{"another function, which begins with its own", "\xe9\xfb\x1f\x00\x00", "\x55\x48\x89\xe5\xc9\xc3", false}, // push rbp; mov rbp,rsp; leave; ret
	} {
		away := func(addr uint64) ([]byte, uint64) { return []byte(tt.away), addr }
		if finds, steps := Arch.FindsFrame([]byte(tt.code), 0x1000, 0x1000, away); finds != tt.want || steps > 64 {
			t.Errorf("%s: %t after %d instructions", tt.name, finds, steps)
		}
	}
}
