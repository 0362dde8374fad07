package arch

import "github.com/sfwalk/sfwalk/trad"

// KernelRules say what Linux does on the processor: system calls, and frames of signals.
type KernelRules struct {
	// SystemResult is the register in which a system call returns its result.
	SystemResult trad.Reg
	// SyscallRewind is how many bytes the PC of a thread that a tracer has stopped in a system call
	// may lie before the PC in /proc/PID/syscall, which the kernel tells while the thread is
	// blocked: the length of the instruction that makes the call, where the kernel prepares to make
	// it once more before the tracer reads the registers; 0 where it does so after that.
	SyscallRewind uint64
	// Vsyscall is the address of a page of the kernel's, in every process, with functions that need
	// no stack; their code cannot be read everywhere. It is 0 where there is none.
	Vsyscall uint64
	// SystemCalls says in which system call a thread is. It is nil if that is not known.
	SystemCalls *SystemCalls
	// Trampolines are the forms of the code that a signal handler returns to.
	Trampolines []Trampoline
	// SignalFrames are the forms of what the kernel leaves on the stack for a handler; the first
	// that is there counts.
	SignalFrames []SignalFrame
	UContext     UContext
	// SignalHandler is where the kernel puts what a handler gets.
	SignalHandler SignalHandler
	// SigContext returns the interrupted SP of a signal frame that has no struct ucontext, if its
	// struct sigcontext is at addr, from where on b is the memory. Nil where the kernel makes none.
	SigContext func(addr uint64, b []byte) (sp uint64, ok bool)
}

// SignalHandler is where a signal handler finds its arguments, at its first instruction.
type SignalHandler struct {
	Number, Info trad.Reg // the signal's number, the address of struct siginfo
	UContext     uint64   // struct ucontext, bytes from SP
}

// Trampoline is one form of a signal trampoline: its machine code, and the frame
// that the kernel has made for it.
type Trampoline struct {
	Code    []byte
	PCs     []int    // offsets into Code at which a PC can stand, ascending
	Symbols []string // names of such code, for where it cannot be read
	// Row is the row of such code that occupies [lo, lo+n).
	Row func(lo uint64, n uint32) trad.Row
	// OnStack reports whether what is at SP can only be the frame that the kernel has made
	// for such code, whatever the code is. word reads the word at a distance from SP.
	OnStack func(sp uint64, word func(off int) uint64) bool
}
