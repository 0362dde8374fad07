package control

const ntARMSystemCall = 0x404 // NT_ARM_SYSTEM_CALL (elf.h)

// ARM64 is AArch64. The kernel goes back to the instruction of a system call before the thread
// stops, so that nothing is to do to begin the call again. FPSIMD comes before SVE, which has its
// registers, too.
var ARM64 = Control{
	Kcmp:           272,
	Breakpoint:     []byte{0x00, 0x00, 0x20, 0xd4}, // brk #0
	BreakpointCode: TrapBRKPT,
	StepCodes:      []int{TrapTrace, TrapUser},
	StateSets:      []uint32{NTPRStatus, NTFPRegs, NTSVE, NTARMTLS, ntARMSystemCall},
	StatusSize:     272,
	PC:             256,
	PCSize:         8,
	SystemCall:     Part{Note: ntARMSystemCall, Size: 4},
	NoSystemCall:   []byte{0xff, 0xff, 0xff, 0xff},
}
