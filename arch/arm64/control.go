package arm64

import "github.com/sfwalk/sfwalk/arch"

// Types of notes (elf.h).
const (
	ntTLS        = 0x401
	ntSystemCall = 0x404
	ntSVE        = 0x405
	ntGCS        = 0x410 // guarded control stack
)

// The kernel goes back to the instruction of a system call before the thread stops, so that nothing is to
// do to begin the call again. FPSIMD comes before SVE, which has its registers, too.
var control = arch.Control{
	Breakpoint:     []byte{0x00, 0x00, 0x20, 0xd4}, // brk #0
	BreakpointCode: arch.TrapBRKPT,
	StepCodes:      []int{arch.TrapTrace, arch.TrapUser},
	StateSets:      []uint32{arch.NTPRStatus, arch.NTFPRegs, ntSVE, ntTLS, ntSystemCall},
	SystemCall:     arch.WidePart{Note: ntSystemCall, Size: 4},
	NoSystemCall:   []byte{0xff, 0xff, 0xff, 0xff},
}
