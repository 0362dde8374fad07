package arch_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/i386"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// FuzzKernelRegs reads any bytes as each of the kernel's register sets: what is read of a set can
// be written and is read again.
func FuzzKernelRegs(f *testing.F) {
	arches := []*arch.Arch{amd64.Arch, arm64.Arch, s390x.Arch, i386.Arch}
	set := make([]byte, 1024)
	for i := range set {
		set[i] = byte(i)
	}
	for i := range arches {
		for j, k := range arches[i].KernelRegs {
			f.Add(set[:min(k.Size, len(set))], uint8(i), uint8(j))
			f.Add(set[:min(k.Size, len(set))/2], uint8(i), uint8(j))
		}
	}
	// struct user_sve_header of arm64: size, max_size, vl, max_vl, flags; Z registers of 16 bytes,
	// and then the FPSIMD state alone.
	for _, flags := range []byte{1, 0} {
		header := []byte{0, 4, 0, 0, 0, 4, 0, 0, 16, 0, 16, 0, flags, 0, 0, 0}
		for j := range arm64.Arch.KernelRegs {
			f.Add(append(header, set...), uint8(1), uint8(j))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, which, set uint8) {
		a := arches[int(which)%len(arches)]
		k := &a.KernelRegs[int(set)%len(a.KernelRegs)]
		bounds.Hold(t, 64<<10+4*k.Size, func() {
			var first, again arch.Registers
			k.Get(a, data, &first)
			written := make([]byte, k.Size)
			if !k.Put(a, &first, written) {
				return
			}
			k.Get(a, written, &again)
			for _, r := range a.Regs {
				v, ok := first.Get(r.Num)
				if got, there := again.Get(r.Num); ok && (!there || got != v) {
					t.Errorf("%s, note %#x, %s: %#x was read, then %#x, %t", a.Name, k.Note, r.Name, v, got, there)
				}
			}
		})
	})
}
