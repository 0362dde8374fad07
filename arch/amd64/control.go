package amd64

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch"
)

// Offsets into struct user_regs_struct (sys/user.h).
const (
	regsRAX     = 80
	regsOrigRAX = 120
	regsRIP     = 128
)

var noSystemCall = []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

var control = arch.Control{
	Breakpoint:       []byte{0xcc}, // int3
	BehindBreakpoint: 1,
	BreakpointCode:   arch.SignalKernel,
	StepCodes:        []int{arch.TrapTrace, arch.TrapBranch, arch.TrapBRKPT}, // the last after a system call
	StateSets:        []uint32{arch.NTPRStatus, arch.NTFPRegs, ntXState},
	SystemCall:       arch.WidePart{Note: arch.NTPRStatus, Off: regsOrigRAX, Size: 8},
	NoSystemCall:     noSystemCall,
	ShadowStack:      arch.ShadowStack{Field: "x86_Thread_features", Word: "shstk"},
	BeginAgain:       beginAgain,
	Forgetting:       []uint64{35, 230, 15, 219}, // nanosleep, clock_nanosleep, rt_sigreturn, restart_syscall
}

func beginAgain(status []byte) bool {
	const syscallSize = 2
	order := binary.LittleEndian
	number := order.Uint64(status[regsOrigRAX:])
	if int64(order.Uint64(status[regsRAX:])) != arch.RestartBlock || int64(number) < 0 {
		return false
	}
	order.PutUint64(status[regsRAX:], number)
	order.PutUint64(status[regsRIP:], order.Uint64(status[regsRIP:])-syscallSize)
	copy(status[regsOrigRAX:], noSystemCall)
	return true
}
