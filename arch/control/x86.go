package control

// An x86Status is the layout of the set NT_PRSTATUS of an x86 processor: bytes of a word, and the
// registers' offsets.
type x86Status struct {
	word, ax, origAX, ip, flags, sp int
}

// get reads a register.
func (x *x86Status) get(status []byte, at int) uint64 {
	v := word32(status[at:])
	if x.word == 8 {
		v |= word32(status[at+4:]) << 32
	}
	return v
}

// put writes a register.
func (x *x86Status) put(status []byte, at int, v uint64) {
	for i := range x.word {
		status[at+i] = byte(v >> (8 * i))
	}
}

// signed is the value of a register with a sign.
func (x *x86Status) signed(v uint64) int64 {
	if x.word == 4 {
		return int64(int32(uint32(v)))
	}
	return int64(v)
}

// beginAgain implements Control.BeginAgain: syscall, int $0x80 and sysenter, behind which the
// kernel has an int $0x80, have two bytes.
func (x *x86Status) beginAgain(status []byte) bool {
	const syscallSize = 2
	number := x.get(status, x.origAX)
	if x.signed(x.get(status, x.ax)) != RestartBlock || x.signed(number) < 0 {
		return false
	}
	x.put(status, x.ax, number)
	x.put(status, x.ip, x.get(status, x.ip)-syscallSize)
	x.put(status, x.origAX, ^uint64(0))
	return true
}

// The flags' instructions (Intel SDM, volume 2), and the flag by which the processor steps.
const (
	opPUSHF  = 0x9c
	opPOPF   = 0x9d
	opIRET   = 0xcf
	trapFlag = 1 << 8
)

// flagsInstruction returns the opcode of an instruction behind its prefixes of size, how long it is
// if it has no operands, and how many bytes it pushes or pops; 0 for the opcode if code ends
// before.
func (x *x86Status) flagsInstruction(code []byte) (opcode byte, length int, size uint64) {
	const operandSize, rex, rexMask = 0x66, 0x40, 0xf0
	size = uint64(x.word)
	for i, b := range code {
		switch {
		case b == operandSize:
			size = 2
		case b&rexMask != rex || x.word != 8:
			return b, i + 1, size
		}
	}
	return 0, 0, 0
}

// stepLeaves implements Control.StepLeaves: it finds the trap flag that pushf has pushed.
func (x *x86Status) stepLeaves(code, before, after []byte) (addr uint64, bits byte, ok bool) {
	opcode, length, size := x.flagsInstruction(code)
	if opcode != opPUSHF || len(before) < x.sp+x.word || len(after) < x.sp+x.word {
		return 0, 0, false
	}
	sp := x.get(after, x.sp)
	if x.get(after, x.ip) != x.get(before, x.ip)+uint64(length) || sp != x.get(before, x.sp)-size {
		return 0, 0, false // it was not executed
	}
	if x.get(before, x.flags)&trapFlag != 0 {
		return 0, 0, false // it is the program's own
	}
	return sp + 1, trapFlag >> 8, true
}

// loadsFlags implements Control.LoadsFlags.
func (x *x86Status) loadsFlags(code []byte) bool {
	opcode, _, _ := x.flagsInstruction(code)
	return opcode == opPOPF || opcode == opIRET
}

// word32 reads 4 bytes.
func word32(b []byte) (v uint64) {
	for i := range 4 {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}
