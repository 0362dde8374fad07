package control

// The components of the extended state that NT_X86_XSTATE has (XSAVE; Intel SDM, volume 1, 13.1),
// and where the set says which of them the kernel saves (XCR0; struct xregs_state and
// user_xstateregs of Linux' asm/fpu).
const (
	StateMasks = 5 // k0 to k7
	StateUpper = 6 // the upper halves of zmm0 to zmm15
	State16    = 7 // zmm16 to zmm31

	xcr0At   = 464
	extended = 576 // bytes before the first component that has no fixed place
)

// NTXLayout is NT_X86_XSAVE_LAYOUT: where the components are. It has records of four 32-bit words:
// a component's number, its size, its offset in NT_X86_XSTATE, and 0 (struct x86_xfeat_component).
const NTXLayout uint32 = 0x205

const layoutRecord = 16

// At returns where the part begins in a set of its type. layout is NTXLayout of the machine that
// the set is of, nil if it is not known: the layout then follows from which components there are,
// and the set's size. ok is false if the set lacks the part, or nothing says where it is.
func (p *Part) At(set, layout []byte) (off int, ok bool) {
	off = p.Off
	if p.State != 0 {
		at, size := component(p.State, set, layout)
		if p.Off+p.Size > size {
			return 0, false
		}
		off += at
	}
	return off, off+p.Size <= len(set)
}

// component returns where a component is, and its size, which is 0 if the set has none.
func component(number int, set, layout []byte) (off, size int) {
	if len(set) < extended || word(set[xcr0At:], false)>>number&1 == 0 {
		return 0, 0
	}
	if layout == nil {
		return deduced(number, set)
	}
	for ; len(layout) >= layoutRecord; layout = layout[layoutRecord:] {
		if word32(layout) == uint64(number) {
			off, size = int(word32(layout[8:])), int(word32(layout[4:]))
			if off < extended || off > len(set) || size > len(set)-off {
				return 0, 0
			}
			return off, size
		}
	}
	return 0, 0
}

// A place is where a component is.
type place struct{ number, off, size int }

// The layouts of the two makers. AMD's processors have no bound registers (MPX, components 3 and
// 4), and no room for them.
var (
	intel = []place{{2, 576, 256}, {3, 960, 64}, {4, 1024, 64}, {StateMasks, 1088, 64}, {StateUpper, 1152, 512},
		{State16, 1664, 1024}, {9, 2688, 8}, {17, 2752, 64}, {18, 2816, 8192}, {19, 960, 128}}
	amd = []place{{2, 576, 256}, {StateMasks, 832, 64}, {StateUpper, 896, 512}, {State16, 1408, 1024}, {9, 2432, 8}}
)

// deduced is component for a set whose layout nobody tells. The set ends where its last component
// does, on one maker's processors.
func deduced(number int, set []byte) (off, size int) {
	const x87AndSSE = 3
	for _, list := range [][]place{intel, amd} {
		left, end, found := word(set[xcr0At:], false)&^x87AndSSE, 0, place{}
		for _, p := range list {
			if left>>p.number&1 == 0 {
				continue
			}
			left &^= 1 << p.number
			end = max(end, p.off+p.size)
			if p.number == number {
				found = p
			}
		}
		if left == 0 && end == len(set) {
			return found.off, found.size
		}
	}
	return 0, 0
}
