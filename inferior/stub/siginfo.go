package stub

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/siginfo"
	"github.com/sfwalk/sfwalk/inferior"
)

// signal reads a siginfo_t of Linux. If there is none, the process is taken to have brought the
// signal upon itself.
func signal(number int, info []byte, a *arch.Arch, pid int) inferior.Signal {
	s := inferior.Signal{Number: number, Own: true}
	said, ok := siginfo.Read(info, a)
	if !ok || said.Number != number {
		return s
	}
	s.Code, s.Own, s.Sender = said.Code, false, said.Sender
	switch said.Code {
	case siginfo.User, siginfo.Queue, siginfo.Tkill:
		s.Own = s.Sender == pid
	}
	if number != siginfo.SIGTRAP && number != siginfo.SIGSYS {
		s.Address, s.HasAddress = said.Addr, said.HasAddr
	}
	return s
}
