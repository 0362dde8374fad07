package siginfo

import (
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
)

// Size is how many bytes the kernel keeps for a siginfo_t, on all architectures.
const Size = 128

// Info is a signal as the kernel noted it.
type Info struct {
	Number   int
	Name     string // "SIGSEGV"
	Code     int    // si_code; 0 if it is not known
	CodeName string // "SEGV_MAPERR"; "" for a code without a name
	Addr     uint64 // the address that caused a fault (si_addr, si_call_addr)
	HasAddr  bool
	Sender   int // the process that sent the signal, by its ID in the receiver's PID namespace; 0 if none did, or one outside of that

	Child   int // of SIGCHLD: the process that has ended, or stopped
	Status  int // its exit status, or its signal
	Call    int // of SIGSYS: the number of the system call
	HasCall bool
}

// Number returns the Info of a signal of which no more than the number is known. ok is false if
// there is no such signal.
func Number(n int) (s Info, ok bool) {
	return Info{Number: n, Name: Name(n)}, n > 0 && n <= Last
}

// Read reads a siginfo_t of a process of architecture a: si_signo, si_errno, si_code, padding to
// the size of a word, then what belongs to the code. data may be short: [Size] bytes at most are
// read. ok is false if data is too short, or there is no such signal.
func Read(data []byte, a *arch.Arch) (s Info, ok bool) {
	at := fields(a)
	if len(data) < at+a.PtrSize {
		return Info{}, false
	}
	number := func(off int) int {
		if len(data) < off+4 {
			return 0
		}
		return int(int32(a.Order.Uint32(data[off:])))
	}
	if s, ok = Number(number(0)); !ok {
		return Info{}, false
	}
	s.Code = number(8)
	if name, sent := sentCodes[s.Code]; sent {
		s.CodeName = name
		if s.Code == User || s.Code == Queue || s.Code == Tkill || s.Code == Mesgq {
			s.Sender = number(at)
		}
		return s, true
	}
	own, _ := codeOf(s.Number, s.Code)
	s.CodeName = own.name
	switch s.Number {
	case SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV:
		s.Addr, s.HasAddr = a.Word(data[at:]), s.Code > 0
	case SIGSYS:
		if s.Code > 0 && len(data) >= at+a.PtrSize+4 {
			s.Addr, s.HasAddr, s.Call, s.HasCall = a.Word(data[at:]), true, number(at+a.PtrSize), true
		}
	case SIGCHLD:
		if s.Code > 0 {
			s.Child, s.Status = number(at), number(at+8)
		}
	}
	return s, true
}

// fields returns where the members behind si_code begin.
func fields(a *arch.Arch) int {
	if a.PtrSize == 4 {
		return 12
	}
	return 16
}

// maxPID is the greatest process ID that the kernel gives (PID_MAX_LIMIT).
const maxPID = 1 << 22

// Plausible reports whether data, of [Size] bytes, may be a siginfo_t that the kernel has written,
// and not other data: the members that can have few values have such.
func Plausible(data []byte, a *arch.Arch) bool {
	s, ok := Read(data, a)
	if !ok || len(data) < Size {
		return false
	}
	errno, sent := a.Order.Uint32(data[4:]), false
	switch _, sent = sentCodes[s.Code]; {
	case errno > 4095, errno != 0 && s.Number != SIGSYS && s.Number != SIGTRAP && s.Code != Queue:
		return false
	case fields(a) == 16 && a.Order.Uint32(data[12:]) != 0: // padding
		return false
	case !sent && s.CodeName == "":
		return false
	}
	return s.Sender >= 0 && s.Sender <= maxPID && s.Child >= 0 && s.Child <= maxPID
}

// Fault reports whether the processor has caused the signal, and not a process or a timer.
func (s *Info) Fault() bool {
	switch s.Number {
	case SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV:
		return s.Code > 0
	}
	return false
}

// String says in a few words what came: "SIGSEGV at 0x0", "SIGFPE at 0x401136 (integer
// division)", "SIGUSR1 from PID 4242", "SIGCHLD: PID 4243 exited with 3".
func (s *Info) String() string {
	own, _ := codeOf(s.Number, s.Code)
	text := s.Name
	switch {
	case s.HasCall:
		text += fmt.Sprintf(" by system call %d", s.Call)
		if s.CodeName == "SYS_SECCOMP" {
			text += " (seccomp)"
		}
		return text
	case s.HasAddr:
		text += fmt.Sprintf(" at %#x", s.Addr)
	case s.Code == Kernel && (s.Number == SIGSEGV || s.Number == SIGBUS):
		text += " at an unknown address" // a general protection fault: the processor does not tell it
	case s.Code == Timer:
		text += " from a timer"
	case s.Sender != 0:
		text += fmt.Sprintf(" from PID %d", s.Sender)
	case s.Child != 0:
		text += fmt.Sprintf(": PID %d %s", s.Child, s.fate())
	}
	if own.phrase != "" {
		text += " (" + own.phrase + ")"
	}
	return text
}

// fate says what has happened to the process that SIGCHLD is about.
func (s *Info) fate() string {
	switch s.CodeName {
	case "CLD_EXITED":
		return fmt.Sprintf("exited with %d", s.Status)
	case "CLD_KILLED", "CLD_DUMPED":
		return "died of " + Name(s.Status)
	case "CLD_CONTINUED":
		return "goes on"
	}
	return "stopped by " + Name(s.Status&0xff)
}
