package control

// Offsets into struct user_regs_struct (sys/user.h).
const (
	regsRAX     = 80
	regsOrigRAX = 120
	regsRIP     = 128
	regsFlags   = 144
	regsRSP     = 152
)

var noCallAMD64 = []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// AMD64 is x86-64.
var AMD64 = Control{
	Breakpoint:       []byte{0xcc}, // int3
	BehindBreakpoint: 1,
	BreakpointCode:   SignalKernel,
	StepCodes:        []int{TrapTrace, TrapBranch, TrapBRKPT}, // the last after a system call
	StateSets:        []uint32{NTPRStatus, NTFPRegs, NTXState},
	StatusSize:       216,
	PC:               regsRIP,
	SystemCall:       Part{Note: NTPRStatus, Off: regsOrigRAX, Size: 8},
	NoSystemCall:     noCallAMD64,
	ShadowStack:      ShadowStack{Field: "x86_Thread_features", Word: "shstk"},
	BeginAgain:       beginAgainAMD64,
	StepLeaves:       stepLeaves,
	LoadsFlags:       loadsFlags,
	Forgetting:       []uint64{35, 230, 15, 219}, // nanosleep, clock_nanosleep, rt_sigreturn, restart_syscall
}

func beginAgainAMD64(status []byte) bool {
	const syscallSize = 2
	number := word(status[regsOrigRAX:], false)
	if int64(word(status[regsRAX:], false)) != RestartBlock || int64(number) < 0 {
		return false
	}
	putWord(status[regsRAX:], false, number)
	putWord(status[regsRIP:], false, word(status[regsRIP:], false)-syscallSize)
	copy(status[regsOrigRAX:], noCallAMD64)
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
	sp := word(after[regsRSP:], false)
	if word(after[regsRIP:], false) != word(before[regsRIP:], false)+uint64(length) || sp != word(before[regsRSP:], false)-size {
		return 0, 0, false // it was not executed
	}
	if word(before[regsFlags:], false)&trapFlag != 0 {
		return 0, 0, false // it is the program's own
	}
	return sp + 1, trapFlag >> 8, true
}

func loadsFlags(code []byte) bool {
	opcode, _, _ := flagsInstruction(code)
	return opcode == opPOPF || opcode == opIRET
}
