package arch

// Control is what a debugger must know of a processor to hold a thread and to have it do something
// else, on Linux.
type Control struct {
	// Breakpoint is the instruction that stops a thread. BehindBreakpoint is how many bytes behind its
	// address the PC of a thread is that it has stopped.
	Breakpoint       []byte
	BehindBreakpoint uint64
	// BreakpointCode is si_code of the SIGTRAP of Breakpoint, StepCodes are those of a single step.
	BreakpointCode int
	StepCodes      []int
	// StateSets are the types of the register sets that make up the state of a thread, NT_PRSTATUS first.
	// A set of which a later one has all is among them, too: a thread may lack the later one.
	StateSets []uint32
	// SystemCall is where the kernel keeps the number of the system call that a stopped thread is in,
	// and NoSystemCall what is there if it is in none. Until it has that value, the kernel may change
	// the PC of a thread that is resumed, to begin the call again.
	SystemCall   WidePart
	NoSystemCall []byte
	// BeginAgain changes status, the set NT_PRSTATUS of a stopped thread, so that the thread begins its
	// system call again. It does so if the kernel would go on with the call by what it has noted for the
	// thread (ERESTART_RESTARTBLOCK), and reports whether that is so. It is nil where the kernel has
	// changed the registers before the thread stops.
	BeginAgain func(status []byte) bool
	// Forgetting are the numbers of the system calls by which the kernel forgets what it has noted: a
	// thread must begin its system call again if it has made one of them in the meantime.
	Forgetting []uint64
	// StepLeaves finds what a step has written to memory that the program does not write when it runs: x86's
	// pushf pushes the flag that the kernel sets for the step, and the popf that follows would have the
	// program stop after each instruction. code is the memory at the PC before the step, before and after are
	// the sets NT_PRSTATUS then. The bits of the byte at addr must be cleared if ok. It is nil where a step
	// leaves nothing.
	StepLeaves func(code, before, after []byte) (addr uint64, bits byte, ok bool)
	// LoadsFlags reports whether the instruction that code begins with loads the processor's flags: x86's
	// popf and iret. If a thread has stepped over one, and steps once more without having run, the kernel
	// takes the flag of that step for the program's own. It is nil where the kernel does not.
	LoadsFlags func(code []byte) bool
	// ShadowStack says how the kernel tells that a thread has a shadow stack, on which it checks return
	// addresses.
	ShadowStack ShadowStack
}

// ShadowStack is where the kernel tells that a thread has a shadow stack: the line Field of
// /proc/TID/status has the word Word; or the first word of the register set Note has bit 0.
type ShadowStack struct {
	Field, Word string
	Note        uint32
}

// RestartBlock is the result of a system call (ERESTART_RESTARTBLOCK, linux/errno.h) that the kernel goes
// on with by what it has noted for the thread.
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
