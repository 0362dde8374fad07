package live

import (
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
)

// ProcDir returns a path of the process's folder in /proc. It leads to this process until the
// target is closed, and never to another one that has its ID later.
func (t *Target) ProcDir() string {
	f, ok := t.files.(*files)
	if !ok {
		return ""
	}
	return "/proc/self/fd/" + strconv.Itoa(int(f.proc.dir.Fd()))
}

// Blocked returns the system call in which the kernel has a thread now, with the thread's stack
// pointer, and the function of the kernel in which it sleeps; "" for one that is not known. ok is
// false if the thread runs, or has ended. An earlier SP says whether it is still the call of that
// moment.
func (t *Target) Blocked(tid int) (c arch.SystemCall, sp uint64, function string, ok bool) {
	f, ok := t.files.(*files)
	if !ok || f.closed.Load() {
		return c, 0, "", false
	}
	text, sp, _, ok := f.proc.blocked(tid)
	words := strings.Fields(string(text)) // the number, six arguments, SP and PC; -1, SP and PC outside of calls
	if !ok || len(words) != 3+len(c.Args) {
		return c, 0, "", false
	}
	number, err := strconv.ParseUint(words[0], 10, 64)
	for i := range c.Args {
		var wrong error
		if c.Args[i], wrong = strconv.ParseUint(words[1+i], 0, 64); wrong != nil {
			err = wrong
		}
	}
	c.Number, c.Sure = number, true
	if err == nil && t.arch.SystemCalls != nil && number == t.arch.SystemCalls.Restart {
		where, _ := f.proc.readFile(taskFile(tid, "wchan"))
		function = strings.TrimRight(string(where), "0\n")
	}
	return c, sp, function, err == nil
}

// Stopped reports whether a signal had stopped the process (SIGSTOP, job control) before it was
// attached to.
func (t *Target) Stopped() bool {
	f, ok := t.files.(*files)
	return ok && f.proc.stopped
}
