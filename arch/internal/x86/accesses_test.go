package x86

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/trad"
)

// decoder64 numbers the registers as the processor does.
var decoder64 = New(64, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)

// TestBrings: the bytes are the instructions' that the names say (Intel's manual, volume 2).
func TestBrings(t *testing.T) {
	const pc = 0x401000
	page := func(addr uint64) arch.Fault { return arch.Fault{Kind: arch.PageFault, Addr: addr} }
	registers := map[trad.Reg]uint64{numberAX: 0x10, numberBX: 0x7000, numberSP: 0x9000, numberDI: 0x4242424242424242}
	for _, tt := range []struct {
		name  string
		code  []byte
		fault arch.Fault
		want  arch.Verdict
	}{
		{"mov (%rax),%ecx", []byte{0x8b, 0x08}, page(0x10), arch.Yes},
		{"mov (%rax),%ecx, at its last byte", []byte{0x8b, 0x08}, page(0x13), arch.Yes},
		{"mov (%rax),%ecx, behind it", []byte{0x8b, 0x08}, page(0x14), arch.No},
		{"mov %ecx,-8(%rbx)", []byte{0x89, 0x4b, 0xf8}, page(0x6ff8), arch.Yes},
		{"mov 4(%rbx,%rax,8),%cl", []byte{0x8a, 0x4c, 0xc3, 0x04}, page(0x7084), arch.Yes},
		{"mov 0x100(%rip),%eax", []byte{0x8b, 0x05, 0, 1, 0, 0}, page(pc + 6 + 0x100), arch.Yes},
		{"mov (%rcx),%eax, rcx unknown", []byte{0x8b, 0x01}, page(0x10), arch.Unknown},
		{"mov %fs:(%rax),%eax", []byte{0x64, 0x8b, 0x00}, page(0x10), arch.Unknown},
		{"lea (%rax),%ecx", []byte{0x8d, 0x08}, page(0x10), arch.No},
		{"mov %ebx,%eax", []byte{0x89, 0xd8}, page(0x10), arch.No},
		{"push %rax", []byte{0x50}, page(0x8ff8), arch.Yes},
		{"push %rax, elsewhere", []byte{0x50}, page(0x10), arch.Unknown},
		{"call *(%rax)", []byte{0xff, 0x10}, page(0x10), arch.Yes},
		{"rep stos %al,%es:(%rdi)", []byte{0xf3, 0xaa}, page(0x4242424242424242), arch.Yes},
		{"vmovdqu (%rax),%ymm0", []byte{0xc5, 0xfe, 0x6f, 0x00}, page(0x10), arch.Yes},
		{"vaddps (%rbx),%zmm0,%zmm0", []byte{0x62, 0xf1, 0x7c, 0x48, 0x58, 0x03}, page(0x703f), arch.Yes},
		{"none: the code cannot be fetched", nil, page(pc), arch.Yes},
		{"mov (%rdi),%ecx", []byte{0x8b, 0x0f}, arch.Fault{Kind: arch.AddressFault}, arch.Yes},
		{"mov (%rax),%ecx, of a program", []byte{0x8b, 0x08}, arch.Fault{Kind: arch.AddressFault}, arch.Unknown},
		{"mov (%rax),%ecx, no page fault", []byte{0x8b, 0x08}, arch.Fault{Kind: arch.NoPageFault}, arch.Unknown},
	} {
		got := decoder64.Brings(tt.code, pc, func(r trad.Reg) (uint64, bool) { v, ok := registers[r]; return v, ok }, tt.fault)
		if got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// FuzzBrings: only general registers are asked for, whatever the code is.
func FuzzBrings(f *testing.F) {
	f.Add([]byte{0x8b, 0x08}, uint64(0x10), uint64(0x10))
	f.Add([]byte{0x64, 0x8b, 0x04, 0x25, 0, 0, 0, 0}, uint64(0), uint64(0))
	decoder32 := New(32, 16, 0, 1, 2, 3, 4, 5, 6, 7)
	f.Fuzz(func(t *testing.T, code []byte, value, addr uint64) {
		bounds.Hold(t, 64<<10, func() {
			for _, d := range []*Decoder{decoder64, decoder32} {
				for _, kind := range []arch.FaultKind{arch.PageFault, arch.AddressFault} {
					d.Brings(code, 0x401000, func(r trad.Reg) (uint64, bool) {
						if dataflow.Reg(r) >= dataflow.MaxRegs {
							t.Errorf("register %d", r)
						}
						return value, value != 0
					}, arch.Fault{Kind: kind, Addr: addr})
				}
			}
		})
	})
}
