package control

// status386 is struct user_regs_struct32 (the kernel's asm/user32.h).
var status386 = x86Status{word: 4, ax: 24, origAX: 44, ip: 48, flags: 56, sp: 60}

var noCall386 = []byte{0xff, 0xff, 0xff, 0xff}

// I386 is 32-bit x86.
var I386 = Control{
	Kcmp:             349,
	Breakpoint:       []byte{0xcc}, // int3
	BehindBreakpoint: 1,
	BreakpointCode:   SignalKernel,
	StepCodes:        []int{TrapTrace, TrapBranch, TrapBRKPT},
	StateSets:        []uint32{NTPRStatus, NTPRXFPReg, NTXState},
	StatusSize:       68,
	PC:               status386.ip,
	PCSize:           status386.word,
	SystemCall:       Part{Note: NTPRStatus, Off: status386.origAX, Size: 4},
	NoSystemCall:     noCall386,
	ShadowStack:      ShadowStack{Field: "x86_Thread_features", Word: "shstk"},
	BeginAgain:       status386.beginAgain,
	StepLeaves:       status386.stepLeaves,
	LoadsFlags:       status386.loadsFlags,
	Forgetting:       []uint64{162, 267, 407, 119, 173, 0}, // nanosleep, clock_nanosleep, clock_nanosleep_time64, sigreturn, rt_sigreturn, restart_syscall
}
