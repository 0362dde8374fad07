package native

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// These are the requests of ptrace(2) that golang.org/x/sys lacks. They take pointers, so this file alone
// needs package unsafe.

func ptrace(request, tid int, addr, data uintptr) error {
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

func ptracePointer(request, tid int, addr uintptr, data unsafe.Pointer) error {
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, uintptr(data), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// getSet reads a register set into b, and returns how many bytes it has.
func getSet(tid int, note uint32, b []byte) (int, error) {
	v := unix.Iovec{Base: &b[0]}
	v.SetLen(len(b))
	err := ptracePointer(unix.PTRACE_GETREGSET, tid, uintptr(note), unsafe.Pointer(&v))
	return int(v.Len), err
}

func putSet(tid int, note uint32, b []byte) error {
	if len(b) == 0 {
		return unix.EINVAL
	}
	v := unix.Iovec{Base: &b[0]}
	v.SetLen(len(b))
	return ptracePointer(unix.PTRACE_SETREGSET, tid, uintptr(note), unsafe.Pointer(&v))
}

// siginfo is the kernel's siginfo_t (sigaction(2)).
type siginfo [128]byte

func (s *siginfo) number() int { return int(int32(binary.NativeEndian.Uint32(s[0:]))) }
func (s *siginfo) code() int   { return int(int32(binary.NativeEndian.Uint32(s[8:]))) }

// sender is valid if code is not positive, addr if it is a fault's.
func (s *siginfo) sender() int  { return int(int32(binary.NativeEndian.Uint32(s[16:]))) }
func (s *siginfo) addr() uint64 { return binary.NativeEndian.Uint64(s[16:]) }

func getSigInfo(tid int, s *siginfo) error {
	return ptracePointer(unix.PTRACE_GETSIGINFO, tid, 0, unsafe.Pointer(s))
}

func setSigInfo(tid int, s *siginfo) error {
	return ptracePointer(unix.PTRACE_SETSIGINFO, tid, 0, unsafe.Pointer(s))
}

// peekSigInfo reads signals that wait for their delivery to a thread, from the one with number off on. It returns how
// many there are.
func peekSigInfo(tid, off int, s []siginfo) int {
	args := struct {
		off   uint64
		flags uint32
		nr    int32
	}{off: uint64(off), nr: int32(len(s))}
	n, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_PEEKSIGINFO, uintptr(tid), uintptr(unsafe.Pointer(&args)), uintptr(unsafe.Pointer(&s[0])), 0, 0)
	if e != 0 {
		return 0
	}
	return int(n)
}

// sigmask is the set of blocked signals (sigset_t of the kernel).
type sigmask [8]byte

func getSigMask(tid int, m *sigmask) error {
	return ptracePointer(unix.PTRACE_GETSIGMASK, tid, unsafe.Sizeof(*m), unsafe.Pointer(m))
}

func setSigMask(tid int, m *sigmask) error {
	return ptracePointer(unix.PTRACE_SETSIGMASK, tid, unsafe.Sizeof(*m), unsafe.Pointer(m))
}

// eventMessage returns the ID of a new thread or process.
func eventMessage(tid int) (int, error) {
	var v uintptr
	err := ptracePointer(unix.PTRACE_GETEVENTMSG, tid, 0, unsafe.Pointer(&v))
	return int(v), err
}

const (
	traceAlways  = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACEEXIT | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEVFORKDONE
	traceThreads = traceAlways | unix.PTRACE_O_TRACECLONE
)
