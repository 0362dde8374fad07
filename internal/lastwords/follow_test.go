package lastwords

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
)

// Where a function is followed: its code at base, its argument, and the stack, which is not read.
const (
	objectAt = base + 0x100
	stackAt  = base + 0x80000
)

// followed is a thread in a process that has code at base, and a pointer at the object.
func followed(p *process, a *arch.Arch, code []byte) *finder {
	data := make([]byte, 0x200)
	copy(data[:objectAt-base], code)
	a.PutWord(data[objectAt-base+8:], base+0x1a0)
	var r arch.Registers
	r.Set(a.SP, stackAt)
	if len(a.ThreadPointer) == 1 {
		r.Set(a.ThreadPointer[0], base+0x180)
	}
	return &finder{memory: newMemory(memtest.Flat{Lo: base, Data: data}, a), Thread: &Thread{Target: p, Frames: []Frame{{Registers: &r}}}}
}

// What a function returns is known if it goes straight on, changes nothing but its stack, and gives
// the stack back. The code is what GNU as makes of the instructions.
func TestReturned(t *testing.T) {
	const known = base + 0x1a0
	for _, tt := range []struct {
		what, code string
		want       uint64 // 0 for not known
	}{
		{"mov 8(%rdi),%rax; ret", "\x48\x8b\x47\x08\xc3", known},
		{"lea 8(%rdi),%rax; ret", "\x48\x8d\x47\x08\xc3", objectAt + 8},
		{"lea 0x10(%rip),%rax; ret", "\x48\x8d\x05\x10\x00\x00\x00\xc3", base + 0x17},
		{"endbr64; sub $8,%rsp; call 1f; add $8,%rsp; ret; 1: mov 8(%rdi),%rax; ret",
			"\xf3\x0f\x1e\xfa\x48\x83\xec\x08\xe8\x05\x00\x00\x00\x48\x83\xc4\x08\xc3\x48\x8b\x47\x08\xc3", known},
		{"push %rbp; mov %rsp,%rbp; mov %rdi,-8(%rbp); mov -8(%rbp),%rax; mov 8(%rax),%rax; pop %rbp; ret",
			"\x55\x48\x89\xe5\x48\x89\x7d\xf8\x48\x8b\x45\xf8\x48\x8b\x40\x08\x5d\xc3", known},
		{"nothing is returned: ret", "\xc3", 0},
		{"half a word: mov 8(%rdi),%eax; ret", "\x8b\x47\x08\xc3", 0},
		{"a condition: mov 8(%rdi),%rax; test %rax,%rax; je 1f; 1: ret", "\x48\x8b\x47\x08\x48\x85\xc0\x74\x00\xc3", 0},
		{"another's memory: mov 8(%rdi),%rax; mov %rax,16(%rdi); ret", "\x48\x8b\x47\x08\x48\x89\x47\x10\xc3", 0},
		{"a part of a word: mov 8(%rdi),%rax; movb $1,-8(%rsp); ret", "\x48\x8b\x47\x08\xc6\x44\x24\xf8\x01\xc3", 0},
		{"the stack: lea -16(%rsp),%rax; ret", "\x48\x8d\x44\x24\xf0\xc3", 0},
		{"the stack is not given back: push %rbx; mov 8(%rdi),%rax; jmp *(%rsp)", "\x53\x48\x8b\x47\x08\xff\x24\x24", 0},
		{"an endless loop: 1: jmp 1b", "\xeb\xfe", 0},
		{"an index: mov 8(%rdi,%rsi),%rax; ret", "\x48\x8b\x44\x37\x08\xc3", 0},
		{"a vector: mov 8(%rdi),%rax; movaps %xmm0,-24(%rsp); ret", "\x48\x8b\x47\x08\x0f\x29\x44\x24\xe8\xc3", 0},
	} {
		a := arches[0]
		f := followed(caller(t, a, 512), a, []byte(tt.code))
		if got, ok := f.returned(base, objectAt); ok != (tt.want != 0) || ok && got != tt.want {
			t.Errorf("%s: %#x, %v, want %#x", tt.what, got, ok, tt.want)
		}
	}
}

// FuzzReturned follows code that is anything.
func FuzzReturned(f *testing.F) {
	const size = 512
	processes := make([]*process, len(arches))
	for i, a := range arches {
		processes[i] = caller(f, a, size)
	}
	f.Add(uint8(0), []byte("\x48\x8b\x47\x08\xc3"))
	f.Add(uint8(0), []byte("\x55\x48\x89\xe5\x48\x89\x7d\xf8\x48\x8b\x45\xf8\x48\x8b\x40\x08\x5d\xc3"))
	f.Add(uint8(1), []byte("\xe3\x20\x20\x08\x00\x04\x07\xfe"))
	f.Add(uint8(2), []byte("\x04\x00\x90\xe5\x1e\xff\x2f\xe1"))
	f.Fuzz(func(t *testing.T, which uint8, code []byte) {
		a := arches[int(which)%len(arches)]
		bounds.Hold(t, 256<<10, func() {
			of := followed(processes[int(which)%len(arches)], a, code)
			if p, ok := of.returned(base, objectAt); ok && p >= stackAt-2*madeStack && p < stackAt {
				t.Errorf("%#x is on the stack", p)
			}
			s := &follower{Constants: dataflow.Constants{Machine: dataflow.Of(a)}, f: of, sp: stackAt, thread: dataflow.Known(base + 0x180)}
			s.storage(dataflow.Known(objectAt))
		})
	})
}
