package python

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// follow follows code at base, with the registers rax, rcx, rdx and rbx, and memory behind the
// code.
func follow(code []byte, registers [4]uint64) *linking {
	r := &interpreter{arch: amd64.Arch, layout: &layout{}}
	l := &linking{Constants: dataflow.Constants{Machine: dataflow.Of(amd64.Arch)}, m: r.memory(image(code))}
	for i, reg := range []dataflow.Reg{0, 2, 1, 3} { // rdx is before rcx in DWARF's order
		l.Regs[reg] = dataflow.Known(registers[i])
	}
	l.follow(base)
	return l
}

// TestLinking: what code is about to write is known up to a branch or a call.
func TestLinking(t *testing.T) {
	const frame, caller, record = 0x7000, 0x6000, 0x5000
	for code, want := range map[string]map[uint64]uint64{
		// mov %rcx,0x30(%rbx); mov %rbx,8(%rax); call
		"\x48\x89\x4b\x30\x48\x89\x58\x08\xe8\x00\x00\x00\x00": {frame + 0x30: caller, record + 8: frame},
		// mov %rcx,%rdx; jmp over what is no code; mov %rdx,0x30(%rbx); je
		"\x48\x89\xca\xeb\x01\xff\x48\x89\x53\x30\x74\x00\x48\x89\x58\x08": {frame + 0x30: caller},
		// mov %rcx,0x30(%rbx); movl $1,0x34(%rbx): nobody knows what is there then
		"\x48\x89\x4b\x30\xc7\x43\x34\x01\x00\x00\x00\xc3": {},
		// call; mov %rcx,0x30(%rbx)
		"\xe8\x10\x00\x00\x00\x48\x89\x4b\x30": {},
		// mov %rcx,0x30(%rbx); mov 0x30(%rbx),%rdx; mov %rdx,8(%rax); ret
		"\x48\x89\x4b\x30\x48\x8b\x53\x30\x48\x89\x50\x08\xc3": {frame + 0x30: caller, record + 8: caller},
	} {
		l := follow([]byte(code), [4]uint64{record, caller, 0, frame})
		for _, at := range []uint64{frame + 0x30, record + 8} {
			if v, ok := l.word(at); v != want[at] || ok != (want[at] != 0) {
				t.Errorf("% x: %#x is written to %#x (%v), want %#x", code, v, at, ok, want[at])
			}
		}
		if l.touches(frame+0x30) == (code[0] == 0xe8) || l.touches(frame+0x40) {
			t.Errorf("% x: touches", code)
		}
	}
}

// FuzzLinking follows any code.
func FuzzLinking(f *testing.F) {
	f.Add([]byte("\x48\x89\x4b\x30\x48\x89\x58\x08\xe8\x00\x00\x00\x00"), uint64(base), uint64(base+0x100))
	f.Add([]byte("\xeb\xfe"), uint64(0), ^uint64(0))
	f.Fuzz(func(t *testing.T, code []byte, one, other uint64) {
		bounds.Hold(t, len(code), func() {
			l := follow(code, [4]uint64{one, other, one, other})
			l.word(one)
			l.touches(other)
		})
	})
}
