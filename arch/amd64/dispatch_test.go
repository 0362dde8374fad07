package amd64

import "testing"

// Where the number is by which code branches first, by the manual.
func TestDispatch(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		off        int32
		width      int
		ok         bool
	}{
		{"push %r14; push %rbx; push %rax; mov %rdi,%rbx; movzbl 0x3c(%rdi),%eax; test %eax,%eax", "\x41\x56\x53\x50\x48\x89\xfb\x0f\xb6\x47\x3c\x85\xc0", 0x3c, 1, true},
		{"mov %rdi,%rbx; mov 0x54(%rbx),%al; cmp $2,%al", "\x48\x89\xfb\x8a\x43\x54\x3c\x02", 0x54, 1, true},
		{"cmpb $1,0x54(%rdi)", "\x80\x7f\x54\x01", 0x54, 1, true},
		{"movzwl 0x50(%rdi),%ecx; test $1,%cl", "\x0f\xb7\x4f\x50\xf6\xc1\x01", 0x50, 2, true},
		{"movzbl 0x3c(%rdi),%eax; lea (%rip),%rcx; movslq (%rcx,%rax,4),%rax", "\x0f\xb6\x47\x3c\x48\x8d\x0d\x00\x00\x00\x00\x48\x63\x04\x81", 0x3c, 1, true},
		{"mov 0x30(%rdi),%ecx; movzbl 0x3c(%rdi),%eax; test %eax,%eax", "\x8b\x4f\x30\x0f\xb6\x47\x3c\x85\xc0", 0x3c, 1, true},
		{"movzbl 0x3c(%rdi),%eax; xor %eax,%eax; test %eax,%eax", "\x0f\xb6\x47\x3c\x31\xc0\x85\xc0", 0, 0, false},
		{"movzbl 0x3c(%rsi),%eax; test %eax,%eax", "\x0f\xb6\x46\x3c\x85\xc0", 0, 0, false},
		{"mov %rsi,%rdi; movzbl 0x3c(%rdi),%eax; test %eax,%eax", "\x48\x89\xf7\x0f\xb6\x47\x3c\x85\xc0", 0, 0, false},
		{"cmpq $0,0x10(%rdi)", "\x48\x83\x7f\x10\x00", 0, 0, false},
		{"jmp", "\xeb\x00\x80\x7f\x54\x01", 0, 0, false},
		{"cut off", "\x0f\xb6", 0, 0, false},
	} {
		off, width, ok := Arch.Dispatch([]byte(tt.code))
		if off != tt.off || width != tt.width || ok != tt.ok {
			t.Errorf("%s: %#x, %d, %v, want %#x, %d, %v", tt.name, off, width, ok, tt.off, tt.width, tt.ok)
		}
	}
}
