package core

import (
	"strconv"

	"github.com/sfwalk/sfwalk/arch"
)

// Signal is a signal as the kernel noted it (NT_SIGINFO, NT_PRSTATUS).
type Signal struct {
	Number   int
	Name     string // "SIGSEGV"
	Code     int    // si_code; 0 if the core has no siginfo
	CodeName string // "SEGV_MAPERR"; "" for a code without a name
	Addr     uint64 // the address that caused a fault
	HasAddr  bool
	Sender   int // the process that sent the signal; 0 if none did
}

// Numbers are Linux's, the same on all supported architectures (signal(7)).
var signalNames = [...]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
	9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
	16: "SIGSTKFLT", 17: "SIGCHLD", 18: "SIGCONT", 19: "SIGSTOP", 20: "SIGTSTP", 21: "SIGTTIN", 22: "SIGTTOU",
	23: "SIGURG", 24: "SIGXCPU", 25: "SIGXFSZ", 26: "SIGVTALRM", 27: "SIGPROF", 28: "SIGWINCH", 29: "SIGIO",
	30: "SIGPWR", 31: "SIGSYS",
}

const (
	sigill, sigtrap, sigbus, sigfpe, sigsegv = 4, 5, 7, 8, 11

	firstRealTime = 32
	lastSignal    = 64
)

// Codes of the signals that the processor causes (asm-generic/siginfo.h), and of signals that
// processes send.
var faultCodes = map[int][]string{
	sigill:  {1: "ILL_ILLOPC", 2: "ILL_ILLOPN", 3: "ILL_ILLADR", 4: "ILL_ILLTRP", 5: "ILL_PRVOPC", 6: "ILL_PRVREG", 7: "ILL_COPROC", 8: "ILL_BADSTK"},
	sigtrap: {1: "TRAP_BRKPT", 2: "TRAP_TRACE", 3: "TRAP_BRANCH", 4: "TRAP_HWBKPT", 5: "TRAP_UNK", 6: "TRAP_PERF"},
	sigbus:  {1: "BUS_ADRALN", 2: "BUS_ADRERR", 3: "BUS_OBJERR", 4: "BUS_MCEERR_AR", 5: "BUS_MCEERR_AO"},
	sigfpe:  {1: "FPE_INTDIV", 2: "FPE_INTOVF", 3: "FPE_FLTDIV", 4: "FPE_FLTOVF", 5: "FPE_FLTUND", 6: "FPE_FLTRES", 7: "FPE_FLTINV", 8: "FPE_FLTSUB"},
	sigsegv: {1: "SEGV_MAPERR", 2: "SEGV_ACCERR", 3: "SEGV_BNDERR", 4: "SEGV_PKUERR", 5: "SEGV_ACCADI", 6: "SEGV_ADIDERR", 7: "SEGV_ADIPERR", 8: "SEGV_MTEAERR", 9: "SEGV_MTESERR", 10: "SEGV_CPERR"},
}

var sentCodes = map[int]string{0: "SI_USER", -1: "SI_QUEUE", -2: "SI_TIMER", -3: "SI_MESGQ", -4: "SI_ASYNCIO", -5: "SI_SIGIO", -6: "SI_TKILL", 0x80: "SI_KERNEL"}

// signalName returns a signal's name, or "SIG35" and the like.
func signalName(n int) string {
	switch {
	case n > 0 && n < len(signalNames):
		return signalNames[n]
	case n >= firstRealTime && n <= lastSignal:
		return "SIG" + strconv.Itoa(n)
	}
	return "signal " + strconv.Itoa(n)
}

// parseSiginfo reads a siginfo_t: si_signo, si_errno, si_code, padding to the size of a word, then
// si_addr of a fault, or si_pid of a sender.
func parseSiginfo(data []byte, a *arch.Arch) *Signal {
	order, at := a.Order, 16
	if a.PtrSize == 4 {
		at = 12
	}
	if len(data) < at+8 {
		return nil
	}
	s := &Signal{Number: int(int32(order.Uint32(data))), Code: int(int32(order.Uint32(data[8:])))}
	if s.Number <= 0 || s.Number > lastSignal {
		return nil
	}
	s.Name = signalName(s.Number)
	names := faultCodes[s.Number]
	switch name, sent := sentCodes[s.Code]; {
	case sent:
		s.CodeName = name
		if s.Code == 0 || s.Code == -1 || s.Code == -6 {
			s.Sender = int(int32(order.Uint32(data[at:])))
		}
	case len(names) > 0 && s.Code > 0:
		if s.Code < len(names) {
			s.CodeName = names[s.Code]
		}
		s.Addr, s.HasAddr = a.Word(data[at:]), true
	}
	return s
}

// dumps reports whether the signal ends a process with a core dump (signal(7)).
func (s *Signal) dumps() bool {
	switch s.Number {
	case 3, sigill, sigtrap, 6, sigbus, sigfpe, sigsegv, 24, 25, 31:
		return true
	}
	return false
}
