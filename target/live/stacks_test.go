package live

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/bounds"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// putUContext writes what interruptedSP looks at of a struct ucontext at offset
// off of stack: uc_stack.ss_sp is at 16, ss_size at 32, and uc_mcontext, at 40,
// has the interrupted RSP as its 16th word (asm-generic/ucontext.h, asm/sigcontext.h).
func putUContext(stack []byte, off int, base, size, sp uint64) {
	binary.LittleEndian.PutUint64(stack[off+16:], base)
	binary.LittleEndian.PutUint64(stack[off+32:], size)
	binary.LittleEndian.PutUint64(stack[off+40+15*8:], sp)
}

func TestInterruptedSP(t *testing.T) {
	const base, size, sp, outer, text = 0x7f0000010000, 0x8000, 0x7f0000014004, 0x7ffe00001238, 0x400000
	maps := []procmaps.Mapping{
		{Lo: text, Hi: text + 0x1000, Read: true, Exec: true, Inode: 1, Path: "/bin/program"},
		{Lo: outer &^ 0xfff, Hi: outer | 0xfff, Read: true, Write: true},
	}
	find := func(put func(stack []byte)) (uint64, bool) {
		stack := make([]byte, base+size-sp)
		put(stack)
		return interruptedSP(amd64.Arch, maps, sp, stack)
	}
	for _, c := range []struct {
		name string
		put  func(stack []byte)
		want uint64
	}{
		{"one frame", func(s []byte) { putUContext(s, 0x104, base, size, outer) }, outer},
		{"two on the same stack", func(s []byte) {
			putUContext(s, 0x104, base, size, base+0x5000)
			putUContext(s, 0x2004, base, size, outer)
		}, outer},
		{"what was left of another, and led to code", func(s []byte) {
			putUContext(s, 0x104, base, size, text+0x10)
			putUContext(s, 0x2004, base, size, outer)
		}, outer},
		{"of a stack that was mapped since", func(s []byte) { putUContext(s, 0x104, base, size, 0x7fff00001238) }, 0x7fff00001238},
		{"none", func([]byte) {}, 0},
		{"not aligned", func(s []byte) { putUContext(s, 0x100, base, size, outer) }, 0},
		{"another alternate stack", func(s []byte) { putUContext(s, 0x104, base+0x100000, size, outer) }, 0},
		{"an alternate stack not in use", func(s []byte) { putUContext(s, 0x104, 0x1000, 0x2000, outer) }, 0},
		{"the stack ends before the frame", func(s []byte) { putUContext(s, 0x1004, base, 0x4080, outer) }, 0},
		{"flags that are none", func(s []byte) {
			putUContext(s, 0x104, base, size, outer)
			s[0x104+24] = 4
		}, 0},
		{"disarmed meanwhile", func(s []byte) { // SS_AUTODISARM
			putUContext(s, 0x104, base, size, outer)
			s[0x104+24+3] = 0x80
		}, outer},
		{"too large", func(s []byte) { putUContext(s, 0x104, base, 1<<63, outer) }, 0},
	} {
		if got, ok := find(c.put); got != c.want || ok != (c.want != 0) {
			t.Errorf("%s: %#x, %v, want %#x", c.name, got, ok, c.want)
		}
	}
}

func FuzzInterruptedSP(f *testing.F) {
	stack := make([]byte, 512)
	putUContext(stack, 0x20, 0x7f0000010000, 0x8000, 0x7ffe00001238)
	f.Add(uint64(0x7f0000014008), stack)
	f.Add(^uint64(0)-100, stack)
	f.Fuzz(func(t *testing.T, sp uint64, stack []byte) {
		var v uint64
		var ok bool
		if bounds.Hold(t, len(stack), func() { v, ok = interruptedSP(amd64.Arch, nil, sp, stack) }); !ok {
			return
		}
		if v == 0 || v == sp {
			t.Fatalf("SP %#x was interrupted at %#x", sp, v)
		}
		maps := []procmaps.Mapping{{Lo: 0x1000, Hi: 0x3000, Read: true}, {Lo: sp &^ 0xfff, Hi: sp | 0xfff, Read: true}}
		if s, ok := stackSpan(maps, v, 128, stackCopy); ok && s.lo >= s.hi {
			t.Fatalf("SP %#x: span %#x-%#x", v, s.lo, s.hi)
		}
	})
}
