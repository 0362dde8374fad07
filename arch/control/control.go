package control

// Control is what a debugger must know of a processor to hold a thread and to have it do something
// else, on Linux.
type Control struct {
	// Breakpoint is the instruction that stops a thread. The PC of the stopped thread is
	// BehindBreakpoint bytes behind the instruction's address.
	Breakpoint       []byte
	BehindBreakpoint uint64
	// BreakpointCode is si_code of the SIGTRAP of Breakpoint. StepCodes are the values of si_code
	// after a single step.
	BreakpointCode int
	StepCodes      []int
	// StateSets are the types of the register sets that make up the state of a thread, NT_PRSTATUS
	// first. Where a later set has all of an earlier one, both are listed: a thread may lack the
	// later one.
	StateSets []uint32
	// StatusSize is the size of the set NT_PRSTATUS, bytes, PC the place of the PC in it, and
	// PCSize how many bytes it has there: 8 or 4.
	StatusSize, PC, PCSize int
	// SystemCall is where the kernel keeps the number of the system call that a stopped thread is
	// in, and NoSystemCall what is there if it is in none. Until it has that value, the kernel may
	// change the PC of a thread that is resumed, to begin the call again.
	SystemCall   Part
	NoSystemCall []byte
	// BeginAgain changes status, the set NT_PRSTATUS of a stopped thread, so that the thread begins
	// its system call again. It does so if the kernel would go on with the call by what it has
	// noted for the thread (ERESTART_RESTARTBLOCK), and reports whether that is so. It is nil where
	// the kernel has changed the registers before the thread stops.
	BeginAgain func(status []byte) bool
	// Forgetting are the numbers of the system calls by which the kernel forgets what it has noted:
	// a thread must begin its system call again if it has made one of them in the meantime.
	Forgetting []uint64
	// StepLeaves finds what a step has written to memory that the program does not write when it
	// runs: x86's pushf pushes the flag that the kernel sets for the step, and the popf that
	// follows would have the program stop after each instruction. code is the memory at the PC
	// before the step, before and after are the sets NT_PRSTATUS then. The bits of the byte at addr
	// must be cleared if ok. It is nil where a step leaves nothing.
	StepLeaves func(code, before, after []byte) (addr uint64, bits byte, ok bool)
	// LoadsFlags reports whether the instruction that code begins with loads the processor's flags:
	// x86's popf and iret. If a thread has stepped over one, and steps once more without having
	// run, the kernel takes the flag of that step for the program's own. It is nil where the kernel
	// does not.
	LoadsFlags func(code []byte) bool
	// Kcmp is the number of the system call kcmp(2).
	Kcmp uintptr
	// ShadowStack says how the kernel tells that a thread has a shadow stack, on which it checks
	// return addresses.
	ShadowStack ShadowStack
}

// ShadowStack is where the kernel tells that a thread has a shadow stack: the line Field of
// /proc/TID/status has the word Word; or the first word of the register set Note has bit 0.
type ShadowStack struct {
	Field, Word string
	Note        uint32
}

// Part is the place of a register, or of a part of it, in one of the kernel's register sets.
type Part struct {
	Note uint32 // NT_PRFPREG, …
	Off  int    // bytes from the set's beginning
	Size int    // bytes
	// State is the component of NT_X86_XSTATE that Off counts from; 0 if Off counts from the set's
	// beginning. Where the component is depends on the processor: see [Part.At].
	State int
	// InUse is where the set says, by the bits Bits of a byte, that the part is not zero: who
	// writes the part sets them. Bits is 0 where it need not be said.
	InUse int
	Bits  byte
}

// Types of notes with register sets (elf.h).
const (
	NTPRStatus uint32 = 1
	NTFPRegs   uint32 = 2     // NT_PRFPREG, NT_FPREGSET
	NTXState   uint32 = 0x202 // NT_X86_XSTATE

	NTPRXFPReg uint32 = 0x46e62b7f // NT_PRXFPREG

	NTVXRSLow  uint32 = 0x309 // NT_S390_VXRS_LOW
	NTVXRSHigh uint32 = 0x30a // NT_S390_VXRS_HIGH
	NTSVE      uint32 = 0x405 // NT_ARM_SVE
	NTARMTLS   uint32 = 0x401 // NT_ARM_TLS
)

// RestartBlock is the result of a system call (ERESTART_RESTARTBLOCK, linux/errno.h) that the
// kernel goes on with by what it has noted for the thread.
const RestartBlock int64 = -516

// Values of si_code of SIGTRAP (linux, asm-generic/siginfo.h).
const (
	TrapUser     = 0 // of a step over a system call, sent by nobody
	TrapBRKPT    = 1
	TrapTrace    = 2
	TrapBranch   = 3
	TrapHWBKPT   = 4
	SignalKernel = 0x80
)

// ByName returns the Control of an architecture by Go's name of it, such as "amd64"; nil if there
// is none.
func ByName(name string) *Control {
	switch name {
	case "386":
		return &I386
	case "amd64":
		return &AMD64
	case "arm":
		return &ARM
	case "arm64":
		return &ARM64
	case "s390x":
		return &S390X
	}
	return nil
}

// word reads 8 bytes, the most significant one first if bigEndian. Package encoding/binary imports
// reflect, which is initialised after a guard has begun.
func word(b []byte, bigEndian bool) (v uint64) {
	for i := range 8 {
		if at := 8 * i; bigEndian {
			v |= uint64(b[i]) << (56 - at)
		} else {
			v |= uint64(b[i]) << at
		}
	}
	return v
}

// putWord writes what word reads.
func putWord(b []byte, bigEndian bool, v uint64) {
	for i := range 8 {
		if at := 8 * i; bigEndian {
			b[i] = byte(v >> (56 - at))
		} else {
			b[i] = byte(v >> at)
		}
	}
}
