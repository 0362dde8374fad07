package core

import "github.com/sfwalk/sfwalk/format/siginfo"

// Signal is a signal as the kernel noted it (NT_SIGINFO, NT_PRSTATUS).
type Signal = siginfo.Info

// dumps reports whether a signal ends a process with a core dump (signal(7)).
func dumps(s *Signal) bool {
	const quit, abort, cpuTime, fileSize = 3, 6, 24, 25
	switch s.Number {
	case quit, siginfo.SIGILL, siginfo.SIGTRAP, abort, siginfo.SIGBUS, siginfo.SIGFPE, siginfo.SIGSEGV, cpuTime, fileSize, siginfo.SIGSYS:
		return true
	}
	return false
}

// SignalMask implements [target.MaskedThread]. Of a 32-bit process, a core has the first 32 signals
// alone. The kernel lets a signal through that the thread died of, whether it was blocked or not.
func (t *Thread) SignalMask() (blocked, unknown uint64) {
	if t.blocked == 0 { // none are blocked, or the core does not have them
		return 0, ^uint64(0)
	}
	if t.file.arch.PtrSize == 4 {
		unknown = 0xffffffff << 32
	}
	if t.Died && t.Signal > 0 && t.Signal <= siginfo.Last {
		unknown |= 1 << (t.Signal - 1)
	}
	return t.blocked, unknown
}
