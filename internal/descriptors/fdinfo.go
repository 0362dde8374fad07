package descriptors

import (
	"bytes"
	"strconv"
)

// field returns what follows a key at the beginning of a line.
func field(text []byte, key string) string {
	for line := range bytes.Lines(text) {
		if v, ok := bytes.CutPrefix(line, []byte(key)); ok {
			return string(bytes.TrimSpace(v))
		}
	}
	return ""
}

// lines counts the lines that begin with a word.
func lines(text []byte, word string) (n int) {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte(word)) {
			n++
		}
	}
	return n
}

// watched is a descriptor in an epoll's list, as it was when it came there. inode is 0 if the
// kernel does not say it.
type watched struct {
	fd    int
	inode uint64
}

// watchedFDs returns the list in an epoll's fdinfo: "tfd:  7 events: 19 data: 7  pos:0 ino:61af
// sdev:7", the inode in hexadecimal.
func watchedFDs(text []byte) (list []watched) {
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) < 2 || string(f[0]) != "tfd:" || line[len(line)-1] != '\n' {
			continue
		}
		fd, err := strconv.Atoi(string(f[1]))
		if err != nil {
			continue
		}
		w := watched{fd: fd}
		for _, x := range f[2:] {
			if hex, ok := bytes.CutPrefix(x, []byte("ino:")); ok {
				w.inode, _ = strconv.ParseUint(string(hex), 16, 64)
			}
		}
		list = append(list, w)
	}
	return list
}

// signalNames are Linux's, the same on all supported architectures (signal(7)).
var signalNames = [...]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
	9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
	16: "SIGSTKFLT", 17: "SIGCHLD", 18: "SIGCONT", 19: "SIGSTOP", 20: "SIGTSTP", 21: "SIGTTIN", 22: "SIGTTOU",
	23: "SIGURG", 24: "SIGXCPU", 25: "SIGXFSZ", 26: "SIGVTALRM", 27: "SIGPROF", 28: "SIGWINCH", 29: "SIGIO",
	30: "SIGPWR", 31: "SIGSYS",
}

// signalsOf returns the signals of a signalfd's fdinfo ("sigmask: 0000000000004002", bit 0 is
// SIGHUP); nil if they are many.
func signalsOf(info []byte) (list []string) {
	const most = 6
	mask, err := strconv.ParseUint(field(info, "sigmask:"), 16, 64)
	if err != nil {
		return nil
	}
	for n := 1; n <= 64; n++ {
		if mask>>(n-1)&1 == 0 {
			continue
		}
		name := "SIG" + strconv.Itoa(n)
		if n < len(signalNames) {
			name = signalNames[n]
		}
		if list = append(list, name); len(list) > most {
			return nil
		}
	}
	return list
}
