package amd64

import (
	"fmt"
	"strings"
	"testing"
)

// The numbers that code stores, by the manual: each as "offset of the instruction=number".
func TestStores(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		off        int32
		width      int
		want       string
	}{
		{"movw $6,0x50(%rax)", "\x66\xc7\x40\x50\x06\x00", 0x50, 2, "0=6"},
		{"another displacement", "\x66\xc7\x40\x52\x06\x00", 0x50, 2, ""},
		{"movb $-1,0x54(%rbx)", "\xc6\x43\x54\xff", 0x54, 1, "0=255"},
		{"less than is sought", "\xc6\x43\x54\x01", 0x54, 2, ""},
		{"movl $0x10006,0x50(%rax)", "\xc7\x40\x50\x06\x00\x01\x00", 0x52, 1, "0=1"},
		{"relative to the stack pointer", "\x66\xc7\x44\x24\x50\x06\x00", 0x50, 2, ""},
		{"mov $6,%ecx; mov %cx,0x50(%rbx)", "\xb9\x06\x00\x00\x00\x66\x89\x4b\x50", 0x50, 2, "5=6"},
		{"mov $1,%al; mov %al,0x54(%rbx)", "\xb0\x01\x88\x43\x54", 0x54, 1, "2=1"},
		{"mov %ah", "\xb0\x01\x88\x63\x54", 0x54, 1, ""},
		{"xor %edx,%edx; mov %dx,0x50(%rbx)", "\x31\xd2\x66\x89\x53\x50", 0x50, 2, "2=0"},
		{"mov $6,%ecx; call; mov %cx,0x50(%rbx)", "\xb9\x06\x00\x00\x00\xe8\x00\x10\x00\x00\x66\x89\x4b\x50", 0x50, 2, ""},
		{"mov $6,%ebp; call; mov %bp,0x50(%rbx)", "\xbd\x06\x00\x00\x00\xe8\x00\x10\x00\x00\x66\x89\x6b\x50", 0x50, 2, "10=6"},
		// mov $4,%ecx; je 1f; mov $6,%ecx; 1: mov %cx,0x50(%rbx)
		{"two ways", "\xb9\x04\x00\x00\x00\x74\x05\xb9\x06\x00\x00\x00\x66\x89\x4b\x50", 0x50, 2, "12=6 12=4"},
		// mov $4,%ecx; jmp 1f; mov $6,%ecx; 1: mov %cx,0x50(%rbx)
		{"one way", "\xb9\x04\x00\x00\x00\xeb\x05\xb9\x06\x00\x00\x00\x66\x89\x4b\x50", 0x50, 2, "12=6 12=4"},
		// mov $4,%ecx; ret; mov %cx,0x50(%rbx)
		{"behind a return", "\xb9\x04\x00\x00\x00\xc3\x66\x89\x4b\x50", 0x50, 2, ""},
		{"cut off", "\x66\xc7\x40\x50\x06", 0x50, 2, ""},
	} {
		var got []string
		Arch.Stores([]byte(tt.code), tt.off, tt.width, func(at int, value uint64) bool {
			got = append(got, fmt.Sprintf("%d=%d", at, value))
			return true
		})
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, text, tt.want)
		}
	}
	n := 0
	Arch.Stores([]byte("\xc6\x43\x54\x01\xc6\x43\x54\x02"), 0x54, 1, func(int, uint64) bool { n++; return false })
	if n != 1 {
		t.Errorf("%d stores behind the end", n)
	}
}
