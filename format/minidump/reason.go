package minidump

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Reason returns what the process died of, in its system's words: "SIGSEGV / SEGV_MAPERR",
// "EXCEPTION_ACCESS_VIOLATION_READ", "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS"; numbers of what is
// unknown. It is "" if the dump has no exception.
func (f *File) Reason() string {
	if f.Exception == nil {
		return ""
	}
	return f.ReasonOf(f.Exception)
}

// ReasonOf is Reason of one of the dump's exceptions.
func (f *File) ReasonOf(x *Exception) string {
	flags := fmt.Sprintf("%#08x", x.Flags)
	reason := ""
	switch os := f.System.OS; {
	case !f.System.Known:
	case x.Words != "":
		return x.lldb()
	case os.IsWindows():
		reason = x.windows()
	case os.IsLinux():
		reason = x.linux(flags)
	case os.IsApple():
		reason = x.apple(f.System.Processor, flags)
	case os == Solaris:
		reason = solarisSignals()[x.Code]
	case os == Fuchsia && fuchsia()[x.Code] != "":
		reason = fuchsia()[x.Code] + " / " + flags
	}
	if reason == "" {
		reason = fmt.Sprintf("%#08x / %s", x.Code, flags)
	}
	return reason
}

// lldb returns LLDB's words without the address: "SIGSEGV: address not mapped to object",
// "breakpoint 1.1".
func (x *Exception) lldb() string {
	text, _, _ := strings.Cut(strings.TrimPrefix(x.Words, signalWords), " (fault address")
	return text
}

// lldbAddress returns the address that LLDB's words name, or else the PC.
func (x *Exception) lldbAddress() uint64 {
	_, text, _ := strings.Cut(x.Words, "address=0x")
	text, _, _ = strings.Cut(text, ")")
	if addr, err := strconv.ParseUint(text, 16, 64); err == nil {
		return addr
	}
	return x.Address
}

// MicrodumpReason returns the reason that a microdump has, in its writer's words: "SIGSEGV"; "" if
// it has none.
func (f *File) MicrodumpReason() string { return f.words }

// CrashAddress returns the address that the exception is about: of memory that could not be
// accessed, or of an instruction.
func (f *File) CrashAddress() uint64 {
	if f.Exception == nil {
		return 0
	}
	return f.AddressOf(f.Exception)
}

// AddressOf is CrashAddress of one of the dump's exceptions.
func (f *File) AddressOf(x *Exception) uint64 {
	addr := x.Address
	if x.Words != "" {
		addr = x.lldbAddress()
	}
	if f.System.Known && f.System.OS.IsWindows() && (x.Code == accessViolation || x.Code == inPageError) && len(x.Params) >= 2 {
		addr = x.Params[1]
	}
	if f.System.Known && f.System.Processor.AddressBits() == 32 {
		addr &= 1<<32 - 1
	}
	return addr
}

// HasAddress reports whether the exception is about an address. A signal of Linux is if the
// processor causes it. Another signal has the sender's process ID and user ID where the address
// would be, or nothing.
func (f *File) HasAddress(x *Exception) bool {
	if x.Words != "" || !f.System.Known || !f.System.OS.IsLinux() || x.Code >= uint32(len(linuxSignals)) {
		return x.Code != dumpRequested
	}
	if sentCodes()[x.Flags] != "" {
		return false
	}
	switch linuxSignals[x.Code] {
	case "SIGILL", "SIGTRAP", "SIGBUS", "SIGFPE", "SIGSEGV":
		return x.Flags != 0 || f.AddressOf(x) != 0
	}
	return false
}

// sentCodes are the codes of signals that the kernel or a process has sent (asm-generic/siginfo.h),
// as a dump has them: 0, SI_USER, is also what old clients note of all signals.
var sentCodes = sync.OnceValue(func() map[uint32]string {
	list := map[uint32]string{0x80: "SI_KERNEL"}
	for i, name := range []string{"SI_QUEUE", "SI_TIMER", "SI_MESGQ", "SI_ASYNCIO", "SI_SIGIO", "SI_TKILL"} {
		list[-uint32(i+1)] = name
	}
	return list
})

// CodeName returns the name of what has sent a signal of Linux: "SI_TKILL"; "" if no process and
// not the kernel is known to.
func (f *File) CodeName(x *Exception) string {
	if x.Words != "" || !f.System.Known || !f.System.OS.IsLinux() || x.Code >= uint32(len(linuxSignals)) {
		return ""
	}
	return sentCodes()[x.Flags]
}

const dumpRequested = 0xffffffff // Breakpad's: no signal came

var linuxSignals = []string{
	1: "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1", "SIGSEGV", "SIGUSR2", "SIGPIPE",
	"SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ",
	"SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
}

// harmless reports whether no process dies of a signal of Linux, unless it wants to: a debugger
// that attaches stops its target by SIGSTOP.
func harmless(signal uint32) bool {
	if signal >= uint32(len(linuxSignals)) {
		return false
	}
	switch linuxSignals[signal] {
	case "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGWINCH":
		return true
	}
	return false
}

// linuxCodes are the codes of signals that have their own (sigaction(2)), from 1 on.
var linuxCodes = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"SIGILL":  {"ILL_ILLOPC", "ILL_ILLOPN", "ILL_ILLADR", "ILL_ILLTRP", "ILL_PRVOPC", "ILL_PRVREG", "ILL_COPROC", "ILL_BADSTK"},
		"SIGBUS":  {"BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR", "BUS_MCEERR_AR", "BUS_MCEERR_AO"},
		"SIGFPE":  {"FPE_INTDIV", "FPE_INTOVF", "FPE_FLTDIV", "FPE_FLTOVF", "FPE_FLTUND", "FPE_FLTRES", "FPE_FLTINV", "FPE_FLTSUB"},
		"SIGSEGV": {"SEGV_MAPERR", "SEGV_ACCERR", "SEGV_BNDERR", "SEGV_PKUERR"},
	}
})

func (x *Exception) linux(flags string) string {
	if x.Code == dumpRequested {
		return "DUMP_REQUESTED"
	}
	if x.Code == 0 {
		return "unknown signal" // of an old microdump
	}
	if x.Code >= uint32(len(linuxSignals)) {
		return ""
	}
	name := linuxSignals[x.Code]
	codes := linuxCodes()[name]
	switch {
	case codes == nil:
		return name
	case x.Flags >= 1 && x.Flags <= uint32(len(codes)):
		return name + " / " + codes[x.Flags-1]
	}
	return name + " / " + flags
}

const (
	accessViolation    = 0xc0000005
	inPageError        = 0xc0000006
	stackBufferOverrun = 0xc0000409
	simulatedWindows   = 0x0517a7ed // Crashpad's, for a dump without a crash
)

var windowsCodes = sync.OnceValue(func() map[uint32]string {
	return map[uint32]string{
		0x40010005:       "DBG_CONTROL_C",
		0x80000001:       "EXCEPTION_GUARD_PAGE",
		0x80000002:       "EXCEPTION_DATATYPE_MISALIGNMENT",
		0x80000003:       "EXCEPTION_BREAKPOINT",
		0x80000004:       "EXCEPTION_SINGLE_STEP",
		0xc0000008:       "EXCEPTION_INVALID_HANDLE",
		0xc000001d:       "EXCEPTION_ILLEGAL_INSTRUCTION",
		0xc0000025:       "EXCEPTION_NONCONTINUABLE_EXCEPTION",
		0xc0000026:       "EXCEPTION_INVALID_DISPOSITION",
		0xc000008c:       "EXCEPTION_BOUNDS_EXCEEDED",
		0xc000008d:       "EXCEPTION_FLT_DENORMAL_OPERAND",
		0xc000008e:       "EXCEPTION_FLT_DIVIDE_BY_ZERO",
		0xc000008f:       "EXCEPTION_FLT_INEXACT_RESULT",
		0xc0000090:       "EXCEPTION_FLT_INVALID_OPERATION",
		0xc0000091:       "EXCEPTION_FLT_OVERFLOW",
		0xc0000092:       "EXCEPTION_FLT_STACK_CHECK",
		0xc0000093:       "EXCEPTION_FLT_UNDERFLOW",
		0xc0000094:       "EXCEPTION_INT_DIVIDE_BY_ZERO",
		0xc0000095:       "EXCEPTION_INT_OVERFLOW",
		0xc0000096:       "EXCEPTION_PRIV_INSTRUCTION",
		0xc00000fd:       "EXCEPTION_STACK_OVERFLOW",
		0xc00000ff:       "EXCEPTION_BAD_FUNCTION_TABLE",
		0xc0000194:       "EXCEPTION_POSSIBLE_DEADLOCK",
		0xc0000374:       "EXCEPTION_HEAP_CORRUPTION",
		0xe0000008:       "Out of Memory",
		0xe06d7363:       "Unhandled C++ Exception",
		simulatedWindows: "Simulated Exception",
	}
})

// accesses are what a faulting instruction wanted: the first parameter of two exceptions.
var accesses = map[uint64]string{0: "_READ", 1: "_WRITE", 8: "_EXEC"}

func (x *Exception) windows() string {
	switch x.Code {
	case accessViolation, inPageError:
		name := "EXCEPTION_ACCESS_VIOLATION"
		if x.Code == inPageError {
			name = "EXCEPTION_IN_PAGE_ERROR"
		}
		if len(x.Params) >= 1 {
			name += accesses[x.Params[0]]
		}
		if x.Code == inPageError && len(x.Params) >= 3 {
			name += fmt.Sprintf(" / %#08x", uint32(x.Params[2])) // NTSTATUS
		}
		return name
	case stackBufferOverrun:
		if len(x.Params) >= 1 && fastFails()[x.Params[0]] != "" {
			return fastFails()[x.Params[0]]
		}
		return "EXCEPTION_STACK_BUFFER_OVERRUN"
	}
	return windowsCodes()[x.Code]
}

var solarisSignals = sync.OnceValue(func() map[uint32]string {
	return map[uint32]string{
		1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGIOT | SIGABRT", 7: "SIGEMT", 8: "SIGFPE", 9: "SIGKILL", 10: "SIGBUS",
		11: "SIGSEGV", 12: "SIGSYS", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 16: "SIGUSR1", 17: "SIGUSR2", 18: "SIGCLD | SIGCHLD", 19: "SIGPWR",
	}
})

var fuchsia = sync.OnceValue(func() map[uint32]string {
	return map[uint32]string{
		0x8: "GENERAL", 0x108: "FATAL_PAGE_FAULT", 0x208: "UNDEFINED_INSTRUCTION", 0x308: "SW_BREAKPOINT", 0x408: "HW_BREAKPOINT", 0x508: "UNALIGNED_ACCESS",
		0x8008: "THREAD_STARTING", 0x8108: "THREAD_EXITING", 0x8208: "POLICY_ERROR", 0x8308: "PROCESS_STARTING",
	}
})
