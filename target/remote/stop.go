package remote

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// stop is a stop reply: why the target stopped, and in which thread.
type stop struct {
	kind   StopKind
	signal byte // gdb's number
	status int
	thread threadID
	known  bool // the reply names the thread
	// breakpoint says that the thread has come to a breakpoint: swbreak, hwbreak.
	breakpoint bool
	child      threadID // of Forked and VForked
}

// threadID is a thread as stubs name it: pPID.TID with the multiprocess extension, else TID.
type threadID struct {
	pid, tid int
	text     string // as the stub wrote it
}

func parseThreadID(text string) (id threadID, err error) {
	id.text = text
	rest, multi := bytes.CutPrefix([]byte(text), []byte("p"))
	if multi {
		pid, tid, ok := bytes.Cut(rest, []byte("."))
		if !ok {
			return id, fmt.Errorf("thread %q is not of the form pPID.TID", text)
		}
		n, err := strconv.ParseUint(string(pid), 16, 31)
		if err != nil {
			return id, fmt.Errorf("thread %q: %w", text, err)
		}
		id.pid, rest = int(n), tid
	}
	n, err := strconv.ParseUint(string(rest), 16, 31)
	if err != nil {
		return id, fmt.Errorf("thread %q: %w", text, err)
	}
	id.tid = int(n)
	return id, nil
}

// parseStop reads the stop reply of a target that there still is.
func parseStop(reply []byte) (s stop, err error) {
	if s, err = parseReply(reply); err != nil {
		return s, err
	}
	switch s.kind {
	case Exited, Killed, NoThread:
		return s, fmt.Errorf("the target has ended (%q)", short(reply))
	}
	return s, nil
}

// parseReply reads any stop reply (gdb's manual, "Stop Reply Packets").
func parseReply(reply []byte) (s stop, err error) {
	if len(reply) == 0 {
		return s, fmt.Errorf("the stub does not tell whether the target is stopped")
	}
	kind, rest := reply[0], reply[1:]
	switch kind {
	case 'T', 'S':
		if len(rest) < 2 {
			break
		}
		sig, ok := unhexByte(rest[0], rest[1])
		if !ok {
			break
		}
		s.signal = sig
		for _, pair := range strings.Split(string(rest[2:]), ";") {
			if err := s.pair(pair); err != nil {
				return s, err
			}
		}
		return s, nil
	case 'W', 'X':
		status, process, _ := strings.Cut(string(rest), ";")
		n, convErr := strconv.ParseUint(status, 16, 31)
		if convErr != nil {
			break
		}
		if text, ok := strings.CutPrefix(process, "process:"); ok {
			if pid, convErr := strconv.ParseUint(text, 16, 31); convErr == nil {
				s.thread.pid = int(pid)
			}
		}
		s.kind, s.status = Exited, int(n)
		if kind == 'X' {
			s.kind, s.signal = Killed, byte(n)
		}
		return s, nil
	case 'w':
		status, thread, ok := strings.Cut(string(rest), ";")
		n, convErr := strconv.ParseUint(status, 16, 32)
		if !ok || convErr != nil {
			break
		}
		s.kind, s.status, s.known = ThreadExited, int(int32(n)), true
		s.thread, err = parseThreadID(thread)
		return s, err
	case 'N':
		s.kind = NoThread
		return s, nil
	case 'E':
		return s, fmt.Errorf("the stub has no target: it answers %q", short(reply))
	}
	return s, fmt.Errorf("the stub answers %q where a stop reply was expected", short(reply))
}

// pair reads one of the items NAME:VALUE of a stop reply. Registers, which a stub may send along,
// are not read.
func (s *stop) pair(pair string) (err error) {
	name, v, _ := strings.Cut(pair, ":")
	switch name {
	case "thread":
		s.thread, err = parseThreadID(v)
		s.known = true
	case "swbreak", "hwbreak":
		s.breakpoint = true
	case "fork":
		s.kind = Forked
		s.child, err = parseThreadID(v)
	case "vfork":
		s.kind = VForked
		s.child, err = parseThreadID(v)
	case "vforkdone":
		s.kind = VForkDone
	case "exec":
		s.kind = Execed
	case "create":
		s.kind = Created
	}
	return err
}

// signals maps gdb's numbers of signals (include/gdb/signals.def) to Linux's numbers and names.
var signals = [...]struct {
	linux int
	name  string
}{
	1: {1, "SIGHUP"}, 2: {2, "SIGINT"}, 3: {3, "SIGQUIT"}, 4: {4, "SIGILL"}, 5: {5, "SIGTRAP"}, 6: {6, "SIGABRT"},
	8: {8, "SIGFPE"}, 9: {9, "SIGKILL"}, 10: {7, "SIGBUS"}, 11: {11, "SIGSEGV"}, 12: {31, "SIGSYS"}, 13: {13, "SIGPIPE"},
	14: {14, "SIGALRM"}, 15: {15, "SIGTERM"}, 16: {23, "SIGURG"}, 17: {19, "SIGSTOP"}, 18: {20, "SIGTSTP"}, 19: {18, "SIGCONT"},
	20: {17, "SIGCHLD"}, 21: {21, "SIGTTIN"}, 22: {22, "SIGTTOU"}, 23: {29, "SIGIO"}, 24: {24, "SIGXCPU"}, 25: {25, "SIGXFSZ"},
	26: {26, "SIGVTALRM"}, 27: {27, "SIGPROF"}, 28: {28, "SIGWINCH"}, 30: {10, "SIGUSR1"}, 31: {12, "SIGUSR2"}, 32: {30, "SIGPWR"},
}

// linuxSignal translates gdb's number of a signal to Linux's number and name.
func linuxSignal(n byte) (number int, name string) {
	switch {
	case int(n) < len(signals) && signals[n].linux != 0:
		return signals[n].linux, signals[n].name
	case n >= 45 && n <= 75: // GDB_SIGNAL_REALTIME_33 to 63
		return int(n) - 12, "SIG" + strconv.Itoa(int(n)-12)
	case n == 77 || n == 78: // REALTIME_32, REALTIME_64
		number = map[byte]int{77: 32, 78: 64}[n]
		return number, "SIG" + strconv.Itoa(number)
	case n == 0:
		return 0, ""
	}
	return int(n), "GDB signal " + strconv.Itoa(int(n))
}

// linuxSignal is [linuxSignal] for a stub that may send the system's own numbers, as lldb-server
// does.
func (s *session) linuxSignal(n byte) (number int, name string) {
	if !s.features[nativeSignals] || n == 0 {
		return linuxSignal(n)
	}
	if wire, ok := gdbSignal(int(n)); ok {
		return linuxSignal(wire)
	}
	return int(n), "SIG" + strconv.Itoa(int(n))
}

// nativeSignals is the feature of lldb-server that numbers of signals are the system's.
const nativeSignals = "native-signals"

// gdbSignal translates Linux's number of a signal to gdb's.
func gdbSignal(number int) (n byte, ok bool) {
	for i := range 256 {
		if i > 0 && i < len(signals) && signals[i].linux == number || i >= len(signals) && number >= 32 {
			if linux, _ := linuxSignal(byte(i)); linux == number {
				return byte(i), true
			}
		}
	}
	return 0, false
}
