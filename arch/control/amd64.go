package control

// statusAMD64 is struct user_regs_struct (sys/user.h).
var statusAMD64 = x86Status{word: 8, ax: 80, origAX: 120, ip: 128, flags: 144, sp: 152}

var noCallAMD64 = []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// AMD64 is x86-64.
var AMD64 = Control{
	Kcmp:             312,
	Breakpoint:       []byte{0xcc}, // int3
	BehindBreakpoint: 1,
	BreakpointCode:   SignalKernel,
	StepCodes:        []int{TrapTrace, TrapBranch, TrapBRKPT}, // the last after a system call
	StateSets:        []uint32{NTPRStatus, NTFPRegs, NTXState},
	StatusSize:       216,
	PC:               statusAMD64.ip,
	PCSize:           statusAMD64.word,
	SystemCall:       Part{Note: NTPRStatus, Off: statusAMD64.origAX, Size: 8},
	NoSystemCall:     noCallAMD64,
	ShadowStack:      ShadowStack{Field: "x86_Thread_features", Word: "shstk"},
	BeginAgain:       statusAMD64.beginAgain,
	StepLeaves:       statusAMD64.stepLeaves,
	LoadsFlags:       statusAMD64.loadsFlags,
	Forgetting:       []uint64{35, 230, 15, 219}, // nanosleep, clock_nanosleep, rt_sigreturn, restart_syscall
}
