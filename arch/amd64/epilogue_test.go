package amd64

import "testing"

// Where an epilogue begins and what is in it, of code that gcc 12 made; each offset is an
// instruction's, as objdump has them.
func TestInEpilogue(t *testing.T) {
	for _, tt := range []struct {
		name     string
		code     string
		outside  []int
		epilogue []int
	}{
		// lea 0x8(%rsp),%r10; and; push -8(%r10); push %rbp; mov %rsp,%rbp; push %r10;
		// sub; call; add $0x78,%rsp; pop %r10; pop %rbp; lea -8(%r10),%rsp; ret
		{"realigned", realigned, []int{0, 5, 9, 13, 14, 17, 19, 23}, []int{28, 32, 34, 35, 39}},
		// call; pop %rbx; add %rdi,%rax; pop %r12; ret
		{"work between pops", "\xe8\x00\x00\x00\x00\x5b\x48\x01\xf8\x41\x5c\xc3", []int{0}, []int{5, 6, 9, 11}},
		// mov %rdi,%rax; add $8,%rsp; add %rdx,%rax; mov %rax,%rcx; ret
		{"work behind it", "\x48\x89\xf8\x48\x83\xc4\x08\x48\x01\xd0\x48\x89\xc1\xc3", []int{0}, []int{3, 7, 10, 13}},
		// pop %rbx; jmp *%rax; add $8,%rsp; jmp *%rax (no register restored)
		{"tail calls", "\x5b\xff\xe0\x48\x83\xc4\x08\xff\xe0", []int{3, 7}, []int{0, 1}},
		// pop %rbx; ret; mov %rdi,%rax; mov %rdi,%rcx; ret: another way, without frame
		{"behind another return", "\x5b\xc3\x48\x89\xf8\x48\x89\xf9\xc3", []int{2, 5}, []int{0, 1, 8}},
		// pop %rsi; pop %rdi; call; ret: of the body
		{"pops of arguments", "\x5e\x5f\xe8\x00\x00\x00\x00\xc3", []int{0, 1, 2}, []int{7}},
	} {
		for _, off := range tt.outside {
			if Machine.InEpilogue([]byte(tt.code), 0x1000, 0x1000+uint64(off)) {
				t.Errorf("%s: offset %d is taken for an epilogue's", tt.name, off)
			}
		}
		for _, off := range tt.epilogue {
			if !Machine.InEpilogue([]byte(tt.code), 0x1000, 0x1000+uint64(off)) {
				t.Errorf("%s: offset %d is not taken for an epilogue's", tt.name, off)
			}
		}
	}
}
