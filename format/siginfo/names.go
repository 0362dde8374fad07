package siginfo

import "strconv"

// Numbers are Linux's, the same on all supported architectures (signal(7)).
var signalNames = [...]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
	9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
	16: "SIGSTKFLT", 17: "SIGCHLD", 18: "SIGCONT", 19: "SIGSTOP", 20: "SIGTSTP", 21: "SIGTTIN", 22: "SIGTTOU",
	23: "SIGURG", 24: "SIGXCPU", 25: "SIGXFSZ", 26: "SIGVTALRM", 27: "SIGPROF", 28: "SIGWINCH", 29: "SIGIO",
	30: "SIGPWR", 31: "SIGSYS",
}

// Numbers of signals.
const (
	SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGCHLD, SIGIO, SIGSYS = 4, 5, 7, 8, 11, 17, 29, 31

	firstRealTime = 32
	Last          = 64 // the greatest number
)

// Values of si_code of any signal (asm-generic/siginfo.h).
const (
	User, Kernel, Queue, Timer, Mesgq, AsyncIO, SigIO, Tkill = 0, 0x80, -1, -2, -3, -4, -5, -6
)

var sentCodes = map[int]string{
	User: "SI_USER", Kernel: "SI_KERNEL", Queue: "SI_QUEUE", Timer: "SI_TIMER", Mesgq: "SI_MESGQ", AsyncIO: "SI_ASYNCIO",
	SigIO: "SI_SIGIO", Tkill: "SI_TKILL", -7: "SI_DETHREAD", -60: "SI_ASYNCNL",
}

// code is one value of si_code that a signal has of its own.
type code struct {
	name   string
	phrase string // what it means, in words; "" if the signal says that already
}

// codes are the values from 1 on (asm-generic/siginfo.h).
var codes = map[int][]code{
	SIGILL: {
		{"ILL_ILLOPC", "illegal opcode"}, {"ILL_ILLOPN", ""}, {"ILL_ILLADR", "illegal addressing mode"},
		{"ILL_ILLTRP", "illegal trap"}, {"ILL_PRVOPC", "privileged opcode"}, {"ILL_PRVREG", "privileged register"},
		{"ILL_COPROC", "coprocessor error"}, {"ILL_BADSTK", "internal stack error"}, {"ILL_BADIADDR", "unimplemented instruction address"},
	},
	SIGTRAP: {
		{"TRAP_BRKPT", "breakpoint"}, {"TRAP_TRACE", "single step"}, {"TRAP_BRANCH", "branch"},
		{"TRAP_HWBKPT", "hardware breakpoint or watchpoint"}, {"TRAP_UNK", ""}, {"TRAP_PERF", "perf event"},
	},
	SIGBUS: {
		{"BUS_ADRALN", "misaligned"}, {"BUS_ADRERR", "no memory behind it"}, {"BUS_OBJERR", "hardware error"},
		{"BUS_MCEERR_AR", "memory error"}, {"BUS_MCEERR_AO", "memory error"},
	},
	SIGFPE: {
		{"FPE_INTDIV", "integer division"}, {"FPE_INTOVF", "integer overflow"}, {"FPE_FLTDIV", "floating-point division by zero"},
		{"FPE_FLTOVF", "floating-point overflow"}, {"FPE_FLTUND", "floating-point underflow"}, {"FPE_FLTRES", "inexact floating-point result"},
		{"FPE_FLTINV", "invalid floating-point operation"}, {"FPE_FLTSUB", "subscript out of range"},
		8: {}, 9: {}, 10: {}, 11: {}, 12: {}, 13: {"FPE_FLTUNK", ""}, 14: {"FPE_CONDTRAP", "trap on condition"},
	},
	SIGSEGV: {
		{"SEGV_MAPERR", ""}, {"SEGV_ACCERR", "no permission"}, {"SEGV_BNDERR", "outside the bounds"}, {"SEGV_PKUERR", "protection key"},
		{"SEGV_ACCADI", ""}, {"SEGV_ADIDERR", ""}, {"SEGV_ADIPERR", ""}, {"SEGV_MTEAERR", "memory tag"}, {"SEGV_MTESERR", "memory tag"},
		{"SEGV_CPERR", "control-flow protection"},
	},
	SIGCHLD: {
		{"CLD_EXITED", ""}, {"CLD_KILLED", ""}, {"CLD_DUMPED", ""}, {"CLD_TRAPPED", ""}, {"CLD_STOPPED", ""}, {"CLD_CONTINUED", ""},
	},
	SIGIO: {
		{"POLL_IN", ""}, {"POLL_OUT", ""}, {"POLL_MSG", ""}, {"POLL_ERR", ""}, {"POLL_PRI", ""}, {"POLL_HUP", ""},
	},
	SIGSYS: {{"SYS_SECCOMP", ""}, {"SYS_USER_DISPATCH", ""}},
}

// codeOf returns what is known of a signal's own code; ok is false if the signal has none of this
// value.
func codeOf(number, value int) (c code, ok bool) {
	if list := codes[number]; value > 0 && value <= len(list) {
		c = list[value-1]
	}
	return c, c.name != ""
}

// Name returns a signal's name: "SIGSEGV"; "SIG35" of a real-time signal, as gdb has it; or
// "signal 99".
func Name(n int) string {
	switch {
	case n > 0 && n < len(signalNames):
		return signalNames[n]
	case n >= firstRealTime && n <= Last:
		return "SIG" + strconv.Itoa(n)
	}
	return "signal " + strconv.Itoa(n)
}
