package live

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// putUContext writes the fields of a struct ucontext that interruptedSP reads at offset off of
// stack: uc_stack.ss_sp is at 16, ss_size at 32, and uc_mcontext, at 40, has the interrupted RSP as
// its 16th word (asm-generic/ucontext.h, asm/sigcontext.h).
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

// putSigContext writes the parts of s390x's struct sigcontext that interruptedSP reads at address
// at, with the registers behind it (asm/sigcontext.h): the old mask, a pointer to the set that is
// at 16, and in that set the program status word's mask, and the interrupted R15 at 16+8*15.
func putSigContext(stack []byte, at uint64, off int, sp uint64) {
	binary.BigEndian.PutUint64(stack[off+8:], at+16)
	binary.BigEndian.PutUint64(stack[off+16:], 0x0705000180000000)
	binary.BigEndian.PutUint64(stack[off+16+16+8*15:], sp)
}

// A signal frame without a ucontext does not tell where the alternate stack is.
func TestInterruptedSPWithoutUContext(t *testing.T) {
	const sp, outer, text = 0x3ff80014000, 0x3ffe0001238, 0x1000000
	maps := []procmaps.Mapping{{Lo: text, Hi: text + 0x1000, Read: true, Exec: true, Inode: 1, Path: "/bin/program"}}
	for _, c := range []struct {
		name string
		put  func(stack []byte)
		want uint64
	}{
		{"one frame", func(s []byte) { putSigContext(s, sp+0x100, 0x100, outer) }, outer},
		{"two, the inner on the stack that it interrupted", func(s []byte) {
			putSigContext(s, sp+0x100, 0x100, sp+0x100+880)
			putSigContext(s, sp+0x800, 0x800, outer)
		}, outer},
		{"on the stack that it interrupted", func(s []byte) { putSigContext(s, sp+0x100, 0x100, sp+0x100+880) }, 0},
		{"the stack below", func(s []byte) { putSigContext(s, sp+0x100, 0x100, sp-0x8000) }, sp - 0x8000},
		{"copied from elsewhere", func(s []byte) { putSigContext(s, sp+0x2000, 0x100, outer) }, 0},
		{"no status of a program", func(s []byte) {
			putSigContext(s, sp+0x100, 0x100, outer)
			s[0x100+17] = 0
		}, 0},
		{"code is no stack", func(s []byte) { putSigContext(s, sp+0x100, 0x100, text+0x10) }, 0},
	} {
		stack := make([]byte, 0x1000)
		c.put(stack)
		if got, ok := interruptedSP(s390x.Arch, maps, sp, stack); got != c.want || ok != (c.want != 0) {
			t.Errorf("%s: %#x, %v, want %#x", c.name, got, ok, c.want)
		}
	}
}

func FuzzInterruptedSP(f *testing.F) {
	stack := make([]byte, 512)
	putUContext(stack, 0x20, 0x7f0000010000, 0x8000, 0x7ffe00001238)
	f.Add(uint64(0x7f0000014008), stack)
	f.Add(^uint64(0)-100, stack)
	stack = make([]byte, 512)
	putSigContext(stack, 0x3ff80014020, 0x20, 0x3ffe0001238)
	f.Add(uint64(0x3ff80014000), stack)
	f.Fuzz(func(t *testing.T, sp uint64, stack []byte) {
		for _, a := range []*arch.Arch{amd64.Arch, s390x.Arch} {
			var v uint64
			var ok bool
			if bounds.Hold(t, len(stack), func() { v, ok = interruptedSP(a, nil, sp, stack) }); !ok {
				continue
			}
			if v == 0 || v == sp {
				t.Fatalf("%s: SP %#x was interrupted at %#x", a.Name, sp, v)
			}
			maps := []procmaps.Mapping{{Lo: 0x1000, Hi: 0x3000, Read: true}, {Lo: sp &^ 0xfff, Hi: sp | 0xfff, Read: true}}
			if s, ok := stackSpan(maps, v, 128, stackCopy); ok && s.lo >= s.hi {
				t.Fatalf("%s: SP %#x: span %#x-%#x", a.Name, v, s.lo, s.hi)
			}
		}
	})
}
