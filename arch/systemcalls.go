package arch

import (
	"bytes"
	"slices"
)

// SystemCalls is how the registers of a thread on Linux tell in which system call it is.
type SystemCalls struct {
	// Futex are the numbers of futex and futex_time64. Restart is the number of restart_syscall, by
	// which the kernel goes on with a call with a timeout after a stop; the registers then have the
	// arguments of the first call.
	Futex   []uint64
	Restart uint64
	// Timers are the numbers of calls in which a scheduler waits until the next of its timers is
	// over, or a file can be read: nanosleep, clock_nanosleep, epoll_wait, epoll_pwait,
	// epoll_pwait2.
	Timers []uint64
	// Instructions are the forms of the instruction behind which a thread is while it is in a
	// system call. There are none where no walk reads the code there.
	Instructions [][]byte
	// Name returns the name of a call in which threads wait, as unistd.h has it, but for a leading
	// underscore: "read", "ppoll_time64"; "" of other calls.
	Name func(number uint64) string
	// Blocked returns the system call in which the thread was when something (a tracer, the signal
	// that its process died of) took it out. before is the code that ends at PC, at the code from
	// PC on: MaxSystemCall bytes each. ok is false if the thread was in no system call.
	Blocked func(r *Registers, before, at []byte) (c SystemCall, ok bool)
	// CutShort returns the call that something took the thread out of when it had written a part of
	// what it was to write, unless the file is one for which nobody waits (O_NONBLOCK). The kernel
	// does not make such a call once more. CutShort is nil where the registers do not tell.
	CutShort func(r *Registers, before []byte) (c SystemCall, ok bool)
}

// SystemCall is a system call in which a thread is.
type SystemCall struct {
	Number uint64
	Args   [6]uint64
	// Sure says that the call has not ended. The registers of some architectures tell no call that
	// a tracer has interrupted from one that has just returned: then it is false, and Args[0] may
	// be the result.
	Sure bool
}

// BehindSystemCall reports whether code ends in one of SystemCalls.Instructions.
func (a *Arch) BehindSystemCall(code []byte) bool {
	return a.SystemCalls != nil && slices.ContainsFunc(a.SystemCalls.Instructions, func(call []byte) bool {
		return bytes.HasSuffix(code, call)
	})
}

// MaxSystemCall is the length in bytes of the longest instruction of a system call.
const MaxSystemCall = 4

// SystemCallCode is how many bytes of code [Arch.Futex] takes, the middle of which is at PC.
const SystemCallCode = 2 * MaxSystemCall

// InterruptedCall reports whether the result of a system call says that the kernel is going to make
// it once more (ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK in the kernel's
// linux/errno.h), or that it ends because something has interrupted it (EINTR: epoll_wait and the
// others that signal(7) lists). Only tracers and core files see the first.
func InterruptedCall(result int64) bool {
	return result == -512 || result == -513 || result == -514 || result == -516 || result == -4
}

// ShortWrite reports whether a call has written a part of what it was to write, and would have
// waited for the rest: write and sendto, the arguments of which say how much that is.
func ShortWrite(name string, args *[6]uint64, result int64) bool {
	const dontWait = 0x40 // MSG_DONTWAIT
	part := result > 0 && uint64(result) < args[2]
	return part && (name == "write" || name == "sendto" && args[3]&dontWait == 0)
}

// Futex is a wait in futex(2).
type Futex struct {
	Word     uint64 // address of the 32-bit word
	Op       FutexOp
	Private  bool   // FUTEX_PRIVATE_FLAG
	Expected uint32 // the thread waits as long as the word has this value; of no meaning with FutexLockPI
	Timed    bool   // the wait ends when its time is over
}

// FutexOp is an operation of futex(2) that waits (linux/futex.h), without its flags.
type FutexOp uint32

// The operations that wait.
const (
	FutexWait          FutexOp = 0
	FutexLockPI        FutexOp = 6
	FutexWaitBitset    FutexOp = 9
	FutexWaitRequeuePI FutexOp = 11
	FutexLockPI2       FutexOp = 13
)

// FUTEX_PRIVATE_FLAG, and with it FUTEX_CLOCK_REALTIME.
const futexPrivate, futexFlags = 128, 128 | 256

// Futex returns what a thread waits for in futex(2). ok is false if the thread is not in that
// system call, or nobody can tell. code is [SystemCallCode] bytes, the middle of which is at PC.
func (a *Arch) Futex(r *Registers, code []byte) (w Futex, ok bool) {
	c := a.SystemCalls
	if c == nil || len(code) < SystemCallCode {
		return Futex{}, false
	}
	in, ok := c.Blocked(r, code[:MaxSystemCall], code[MaxSystemCall:])
	if !ok || in.Number != c.Restart && !slices.Contains(c.Futex, in.Number) {
		return Futex{}, false
	}
	args, op := &in.Args, uint32(in.Args[1])
	w = Futex{Word: args[0], Op: FutexOp(op &^ futexFlags), Private: op&futexPrivate != 0, Expected: uint32(args[2]), Timed: args[3] != 0}
	switch w.Op {
	case FutexWait, FutexLockPI, FutexWaitBitset, FutexWaitRequeuePI, FutexLockPI2:
		return w, w.Word != 0 && w.Word%4 == 0
	}
	return Futex{}, false
}
