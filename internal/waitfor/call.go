package waitfor

import (
	"bytes"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
)

// Action is what a thread does in a system call in which it waits.
type Action string

// The actions.
const (
	Read       Action = "read"
	Write      Action = "write"
	Accept     Action = "accept"
	Connect    Action = "connect"
	Open       Action = "open"
	Poll       Action = "poll" // until something can be done with any of some files
	Children   Action = "child"
	Sleep      Action = "sleep"
	Signals    Action = "signal"
	LockFile   Action = "file lock" // flock(2), or fcntl(2) with a lock
	Sync       Action = "sync"
	Control    Action = "ioctl"
	Complete   Action = "io_uring"
	Copy       Action = "copy"       // from FDs[0] to FDs[1]
	Semaphores Action = "semaphores" // of System V
	Message    Action = "message"    // a queue of System V
)

// Call is a system call, other than futex(2), in which a thread waits.
type Call struct {
	Name string // the kernel's: "recvmsg"
	Action
	// FDs are the files that its arguments name, of poll and select the first. Polled is how many
	// there are, of poll and select.
	FDs    []int
	Polled int
	// Child is the child's ID as the process has it; 0 for any of several. Group says that these
	// are a process group.
	Child int
	Group bool
	Path  string // of open; "" if it is not known
	ID    int    // of System V's semaphores and queues
	Least int    // how many completions of io_uring
	// Records says that a lock of a file is fcntl(2)'s.
	Records bool
	// Timed says that the call ends by itself, Timeout how long it takes at most, from its
	// beginning on; 0 if that is not known. Until says that it ends at a set time.
	Timed, Until bool
	Timeout      time.Duration
}

// Bounds of poll and select: files that are listed, and files that are looked at.
const (
	mostPolled = 4
	mostLooked = 1 << 16
)

// CallAt returns the call in which a thread is, by the call's name and arguments. ok is false if
// threads do not wait in that call.
func CallAt(a *arch.Arch, m target.Memory, name string, args [6]uint64) (c Call, ok bool) {
	c = Call{Name: name}
	r := reader{a, m, strings.HasSuffix(name, "_time64") || a.PtrSize == 8}
	base := strings.TrimSuffix(name, "_time64")
	if base == "socketcall" {
		if base, args, ok = r.socketCall(args); !ok {
			return Call{}, false
		}
		c.Name = base
	}
	file := func(do Action, list ...uint64) {
		c.Action = do
		for _, fd := range list {
			c.FDs = append(c.FDs, int(int32(fd)))
		}
	}
	switch base {
	case "read", "readv", "pread64", "preadv", "preadv2", "recv", "recvfrom", "recvmsg":
		file(Read, args[0])
	case "recvmmsg":
		file(Read, args[0])
		r.timeout(&c, args[4], 1)
	case "mq_timedreceive":
		file(Read, args[0])
		c.Timed = args[4] != 0
	case "write", "writev", "pwrite64", "pwritev", "pwritev2", "send", "sendto", "sendmsg", "sendmmsg":
		file(Write, args[0])
	case "mq_timedsend":
		file(Write, args[0])
		c.Timed = args[4] != 0
	case "accept", "accept4":
		file(Accept, args[0])
	case "connect":
		file(Connect, args[0])
	case "open":
		c.Action, c.Path = Open, r.text(args[0])
	case "openat", "openat2":
		c.Action, c.Path = Open, r.text(args[1])
	case "poll":
		r.milliseconds(&c, args[2])
		r.poll(&c, args[0], args[1])
	case "ppoll":
		r.timeout(&c, args[2], 1)
		r.poll(&c, args[0], args[1])
	case "select":
		r.timeout(&c, args[4], 1000) // microseconds
		r.selected(&c, args)
	case "pselect6":
		r.timeout(&c, args[4], 1)
		r.selected(&c, args)
	case "epoll_wait", "epoll_pwait":
		file(Poll, args[0])
		r.milliseconds(&c, args[3])
	case "epoll_pwait2":
		file(Poll, args[0])
		r.timeout(&c, args[3], 1)
	case "wait4", "waitpid":
		c.Action = Children
		c.child(int(int32(args[0])))
	case "waitid":
		c.Action = Children
		switch args[0] { // linux/wait.h
		case 1:
			c.child(int(int32(args[1])))
		case 2:
			c.Group = true
		case 3:
			c.FDs = []int{int(int32(args[1]))}
		}
	case "nanosleep":
		c.Action = Sleep
		r.timeout(&c, args[0], 1)
	case "clock_nanosleep":
		c.Action, c.Until = Sleep, args[1]&1 != 0 // TIMER_ABSTIME
		if !c.Until {
			r.timeout(&c, args[2], 1)
		}
	case "pause", "sigsuspend", "rt_sigsuspend":
		c.Action = Signals
	case "rt_sigtimedwait":
		c.Action = Signals
		r.timeout(&c, args[2], 1)
	case "flock":
		file(LockFile, args[0])
	case "fcntl", "fcntl64":
		switch args[1] { // F_SETLKW, F_SETLKW64, F_OFD_SETLKW
		case 7, 14, 38:
			file(LockFile, args[0])
			c.Records = true
		default:
			return Call{}, false
		}
	case "fsync", "fdatasync":
		file(Sync, args[0])
	case "ioctl":
		file(Control, args[0])
	case "io_uring_enter":
		if c.Least = int(uint32(args[2])); c.Least == 0 {
			return Call{}, false
		}
		file(Complete, args[0])
	case "splice", "copy_file_range":
		file(Copy, args[0], args[2])
	case "tee":
		file(Copy, args[0], args[1])
	case "sendfile", "sendfile64":
		file(Copy, args[1], args[0])
	case "semop":
		c.Action, c.ID = Semaphores, int(int32(args[0]))
	case "semtimedop":
		c.Action, c.ID = Semaphores, int(int32(args[0]))
		r.timeout(&c, args[3], 1)
	case "msgrcv", "msgsnd":
		c.Action, c.ID = Message, int(int32(args[0]))
	default:
		return Call{}, false
	}
	return c, true
}

// Restarted returns the name of the call that restart_syscall goes on with: poll, a sleep, or
// futex; "" if it may be any of several. args are the arguments of that call, which registers still
// have. wchan is the kernel's function in which the thread sleeps, which not all kernels tell. Of
// 32 bits, it is not known which form of a time the call has.
func Restarted(a *arch.Arch, args [6]uint64, wchan string) (name string) {
	const clocks, flags = 16, 1 // of clock_nanosleep; an address is larger
	address := uint64(1) << 32
	if a.PtrSize == 4 {
		address = 1 << 27 // as poll's third argument, a day and a half
	}
	switch {
	case strings.Contains(wchan, "poll"):
		return "poll"
	case strings.Contains(wchan, "futex"):
		return ""
	case args[0] < clocks && args[1] <= flags && args[2] >= address:
		return "clock_nanosleep"
	case args[0] >= address && args[1] >= address: // no number of descriptors, no operation of futex
		return "nanosleep"
	}
	return ""
}

// child notes the first argument of wait4(2).
func (c *Call) child(id int) {
	switch {
	case id > 0:
		c.Child = id
	case id != -1:
		c.Group = true
	}
}

// reader reads what arguments point to.
type reader struct {
	arch   *arch.Arch
	memory target.Memory
	long   bool // times have 64 bits
}

func (r *reader) bytes(addr uint64, n int) ([]byte, bool) {
	b := make([]byte, n)
	got, _ := r.memory.ReadMemory(addr, b)
	return b[:got], got == n
}

// text reads a path.
func (r *reader) text(addr uint64) string {
	b, _ := r.bytes(addr, 256)
	path, _, ok := bytes.Cut(b, []byte{0})
	if !ok {
		return ""
	}
	return string(path)
}

// milliseconds notes poll's timeout.
func (r *reader) milliseconds(c *Call, arg uint64) {
	if n := int32(arg); n >= 0 {
		c.Timed, c.Timeout = true, time.Duration(n)*time.Millisecond
	}
}

// timeout reads a struct timespec, or timeval with another unit of the second word, if there is
// one.
func (r *reader) timeout(c *Call, addr uint64, unit int64) {
	if addr == 0 {
		return
	}
	c.Timed = true
	size := 8
	if !r.long {
		size = 4
	}
	b, ok := r.bytes(addr, 2*size)
	if !ok {
		return
	}
	var s, n int64
	if r.long {
		s, n = int64(r.arch.Order.Uint64(b)), int64(r.arch.Order.Uint64(b[8:]))
	} else {
		s, n = int64(int32(r.arch.Order.Uint32(b))), int64(int32(r.arch.Order.Uint32(b[4:])))
	}
	if s >= 0 && s < 1<<33 && n >= 0 && n < 1e9 {
		c.Timeout = time.Duration(s)*time.Second + time.Duration(n*unit)
	}
}

// poll reads the list of poll(2): fd, events and results, 8 bytes each.
func (r *reader) poll(c *Call, addr, n uint64) {
	c.Action = Poll
	b, _ := r.bytes(addr, int(8*min(uint64(uint32(n)), mostLooked)))
	for ; len(b) >= 8; b = b[8:] {
		if fd := int(int32(r.arch.Order.Uint32(b))); fd >= 0 {
			c.polled(fd)
		}
	}
	if c.Polled == 0 && c.Timed {
		c.Action = Sleep
	}
}

func (c *Call) polled(fd int) {
	if c.Polled++; len(c.FDs) < mostPolled {
		c.FDs = append(c.FDs, fd)
	}
}

// selected reads the three sets of select(2): a bit for each descriptor, in words of the
// processor's.
func (r *reader) selected(c *Call, args [6]uint64) {
	c.Action = Poll
	n := int(min(uint64(uint32(args[0])), mostLooked)) // programs have larger sets than FD_SETSIZE, too
	word := 8 * r.arch.PtrSize
	set := make([]bool, n)
	for _, addr := range args[1:4] {
		if addr == 0 {
			continue
		}
		b, ok := r.bytes(addr, (n+word-1)/word*r.arch.PtrSize)
		for i := 0; ok && i < n; i++ {
			if r.arch.Word(b[i/word*r.arch.PtrSize:])>>(i%word)&1 != 0 {
				set[i] = true
			}
		}
	}
	for fd, is := range set {
		if is {
			c.polled(fd)
		}
	}
	if c.Polled == 0 && c.Timed {
		c.Action = Sleep
	}
}

// socketCall returns the call that socketcall(2) makes, and its arguments, which are in memory.
func (r *reader) socketCall(args [6]uint64) (name string, inner [6]uint64, ok bool) {
	names := map[uint64]string{3: "connect", 5: "accept", 9: "send", 10: "recv", 11: "sendto", 12: "recvfrom", 16: "sendmsg", 17: "recvmsg", 18: "accept4"} // linux/net.h
	b, ok := r.bytes(args[1], r.arch.PtrSize)
	if name = names[args[0]]; !ok || name == "" {
		return "", inner, false
	}
	inner[0] = r.arch.Word(b)
	return name, inner, true
}
