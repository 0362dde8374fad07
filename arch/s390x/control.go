package s390x

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch"
)

const ntSystemCall = 0x307 // NT_S390_SYSTEM_CALL (elf.h)

// Offsets into the kernel's s390_regs (asm/ptrace.h).
const (
	regsAddress = 8 // of the PSW
	regsR2      = 32
	regsOrigR2  = 208
)

var control = arch.Control{
	Breakpoint:       []byte{0x00, 0x01},
	BehindBreakpoint: 2,
	BreakpointCode:   arch.TrapBRKPT,
	StepCodes:        []int{arch.TrapHWBKPT, arch.TrapUser},
	StateSets:        []uint32{arch.NTPRStatus, arch.NTFPRegs, ntVXRSLow, ntVXRSHigh, ntSystemCall},
	SystemCall:       arch.WidePart{Note: ntSystemCall, Size: 4},
	NoSystemCall:     []byte{0, 0, 0, 0},
	BeginAgain:       beginAgain,
	Forgetting:       []uint64{162, 262, 119, 173, 7}, // nanosleep, clock_nanosleep, sigreturn, rt_sigreturn, restart_syscall
}

func beginAgain(status []byte) bool {
	const svcSize = 2
	order := binary.BigEndian
	if int64(order.Uint64(status[regsR2:])) != arch.RestartBlock {
		return false
	}
	copy(status[regsR2:regsR2+8], status[regsOrigR2:])
	order.PutUint64(status[regsAddress:], order.Uint64(status[regsAddress:])-svcSize)
	return true
}
