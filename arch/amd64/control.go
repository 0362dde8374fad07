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
	regsFlags   = 144
	regsRSP     = 152
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
	StepLeaves:       stepLeaves,
	LoadsFlags:       loadsFlags,
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

// The flags' instructions (Intel SDM, volume 2), and the flag by which the processor steps.
const (
	opPUSHF  = 0x9c
	opPOPF   = 0x9d
	opIRET   = 0xcf
	trapFlag = 1 << 8
)

// flagsInstruction returns the opcode of an instruction behind its prefixes of size, how long it is if it has no
// operands, and how many bytes it pushes or pops; 0 for the opcode if code ends before.
func flagsInstruction(code []byte) (opcode byte, length int, size uint64) {
	const operandSize, rex, rexMask = 0x66, 0x40, 0xf0
	size = 8
	for i, b := range code {
		switch {
		case b == operandSize:
			size = 2
		case b&rexMask != rex:
			return b, i + 1, size
		}
	}
	return 0, 0, 0
}

// stepLeaves finds the trap flag that pushf has pushed.
func stepLeaves(code, before, after []byte) (addr uint64, bits byte, ok bool) {
	opcode, length, size := flagsInstruction(code)
	if opcode != opPUSHF || len(before) < regsRSP+8 || len(after) < regsRSP+8 {
		return 0, 0, false
	}
	order := binary.LittleEndian
	sp := order.Uint64(after[regsRSP:])
	if order.Uint64(after[regsRIP:]) != order.Uint64(before[regsRIP:])+uint64(length) || sp != order.Uint64(before[regsRSP:])-size {
		return 0, 0, false // it was not executed
	}
	if order.Uint64(before[regsFlags:])&trapFlag != 0 {
		return 0, 0, false // it is the program's own
	}
	return sp + 1, trapFlag >> 8, true
}

func loadsFlags(code []byte) bool {
	opcode, _, _ := flagsInstruction(code)
	return opcode == opPOPF || opcode == opIRET
}
