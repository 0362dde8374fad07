package remote

import (
	"bytes"
	"fmt"
	"strconv"
)

// stop is a stop reply: why the target stopped, and in which thread.
type stop struct {
	signal byte // gdb's number
	thread threadID
	known  bool // the reply names the thread
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

// parseStop reads a stop reply.
func parseStop(reply []byte) (s stop, err error) {
	if len(reply) == 0 {
		return s, fmt.Errorf("the stub does not tell whether the target is stopped")
	}
	switch reply[0] {
	case 'T', 'S':
		if len(reply) < 3 {
			break
		}
		sig, ok := unhexByte(reply[1], reply[2])
		if !ok {
			break
		}
		s.signal = sig
		for _, pair := range bytes.Split(reply[3:], []byte(";")) {
			if text, ok := bytes.CutPrefix(pair, []byte("thread:")); ok {
				if s.thread, err = parseThreadID(string(text)); err != nil {
					return s, err
				}
				s.known = true
			}
		}
		return s, nil
	case 'W', 'X':
		return s, fmt.Errorf("the target has ended (%q)", short(reply))
	case 'E':
		return s, fmt.Errorf("the stub has no target: it answers %q", short(reply))
	}
	return s, fmt.Errorf("the stub answers %q where a stop reply was expected", short(reply))
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
