package control

// ARM is 32-bit Arm. No live process of it is held: what is known serves stubs that let a debugger
// set breakpoints, in A32 code.
var ARM = Control{
	Kcmp:           378,
	Breakpoint:     []byte{0xf0, 0x01, 0xf0, 0xe7}, // udf, the kernel's own (arch/arm/kernel/ptrace.c)
	BreakpointCode: TrapBRKPT,
	StepCodes:      []int{TrapTrace, TrapUser},
	StateSets:      []uint32{NTPRStatus, 0x400}, // NT_ARM_VFP
	StatusSize:     72,
	PC:             60,
	PCSize:         4,
}
