package control

import "sync"

// cpuid is the instruction.
func cpuid(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)

// HostLayout returns NTXLayout of this machine, which its processor tells; nil if it has no XSAVE.
// The caller must not change it.
var HostLayout = sync.OnceValue(func() (layout []byte) {
	const (
		osxsave    = 1 << 27 // of leaf 1, ecx
		leaf       = 0xd     // Intel SDM, volume 2, CPUID
		supervisor = 1       // of ecx: not in what a user may save
		components = 63
	)
	if _, _, ecx, _ := cpuid(1, 0); ecx&osxsave == 0 {
		return nil
	}
	for i := uint32(2); i < components; i++ {
		size, off, ecx, _ := cpuid(leaf, i)
		if size == 0 || ecx&supervisor != 0 {
			continue
		}
		for _, v := range []uint32{i, size, off, 0} {
			layout = append(layout, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		}
	}
	return layout
})
