package inferior

import "fmt"

// String returns the signal's name: "SIGSEGV", "signal 34".
func (s *Signal) String() string {
	if s.Number > 0 && s.Number < len(signalNames) {
		return "SIG" + signalNames[s.Number]
	}
	return fmt.Sprintf("signal %d", s.Number)
}

// signalNames are Linux's names (signal(7)), the same on all processors here.
var signalNames = [...]string{
	1: "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM", "STKFLT",
	"CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
}
