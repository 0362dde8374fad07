package stub

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/inferior"
)

// Codes of signals (asm-generic/siginfo.h).
const (
	siUser   = 0
	siQueue  = -1
	siTkill  = -6
	siKernel = 0x80
)

// signal reads a siginfo_t of Linux: si_signo, si_errno, si_code, padding up to a multiple of a
// word, then si_addr of a fault, or si_pid of a sender. If there is none, the process is taken to
// have brought the signal upon itself.
func signal(number int, info []byte, a *arch.Arch, pid int) inferior.Signal {
	s, order, at := inferior.Signal{Number: number, Own: true}, a.Order, 12
	if a.PtrSize == 8 {
		at = 16
	}
	if len(info) < 24 || int(order.Uint32(info)) != number {
		return s
	}
	s.Code, s.Own = int(int32(order.Uint32(info[8:]))), false
	const sigill, sigbus, sigfpe, sigsegv = 4, 7, 8, 11
	switch {
	case s.Code == siUser || s.Code == siQueue || s.Code == siTkill:
		s.Sender = int(int32(order.Uint32(info[at:])))
		s.Own = s.Sender == pid
	case s.Code > 0 && s.Code != siKernel && (number == sigill || number == sigbus || number == sigfpe || number == sigsegv):
		s.Address, s.HasAddress = a.Word(info[at:]), true
	}
	return s
}
