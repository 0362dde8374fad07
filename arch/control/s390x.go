package control

const nt390SystemCall = 0x307 // NT_S390_SYSTEM_CALL (elf.h)

// Offsets into the kernel's s390_regs (asm/ptrace.h).
const (
	regsAddress = 8 // of the PSW
	regsR2      = 32
	regsOrigR2  = 208
)

// S390X is the 64-bit z/Architecture.
var S390X = Control{
	Kcmp:             343,
	Breakpoint:       []byte{0x00, 0x01},
	BehindBreakpoint: 2,
	BreakpointCode:   TrapBRKPT,
	StepCodes:        []int{TrapHWBKPT, TrapUser},
	StateSets:        []uint32{NTPRStatus, NTFPRegs, NTVXRSLow, NTVXRSHigh, nt390SystemCall},
	StatusSize:       216,
	PC:               regsAddress,
	PCSize:           8,
	SystemCall:       Part{Note: nt390SystemCall, Size: 4},
	NoSystemCall:     []byte{0, 0, 0, 0},
	BeginAgain:       beginAgainS390X,
	Forgetting:       []uint64{162, 262, 119, 173, 7}, // nanosleep, clock_nanosleep, sigreturn, rt_sigreturn, restart_syscall
}

func beginAgainS390X(status []byte) bool {
	const svcSize = 2
	if int64(word(status[regsR2:], true)) != RestartBlock {
		return false
	}
	copy(status[regsR2:regsR2+8], status[regsOrigR2:])
	putWord(status[regsAddress:], true, word(status[regsAddress:], true)-svcSize)
	return true
}
