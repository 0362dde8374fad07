package guard

import (
	"syscall"
	"unsafe"
)

func ptrace(request, tid int, addr, data uintptr) error {
	_, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

func ptracePointer(request, tid int, addr uintptr, data unsafe.Pointer) error {
	_, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, uintptr(request), uintptr(tid), addr, uintptr(data), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// getSet reads a register set into b, and returns how many bytes it has.
func getSet(tid int, note uint32, b []byte) (int, error) {
	v := syscall.Iovec{Base: &b[0]}
	v.SetLen(len(b))
	err := ptracePointer(ptraceGetRegSet, tid, uintptr(note), unsafe.Pointer(&v))
	return int(v.Len), err
}

func putSet(tid int, note uint32, b []byte) error {
	if len(b) == 0 {
		return syscall.EINVAL
	}
	v := syscall.Iovec{Base: &b[0]}
	v.SetLen(len(b))
	return ptracePointer(ptraceSetRegSet, tid, uintptr(note), unsafe.Pointer(&v))
}

// siginfo is the kernel's siginfo_t (sigaction(2)).
type siginfo struct {
	signal, errno, si, _ int32
	rest                 [14]uint64
}

func (s *siginfo) number() int { return int(s.signal) }
func (s *siginfo) code() int   { return int(s.si) }

// sender is valid if code is not positive, addr if it is a fault's.
func (s *siginfo) sender() int  { return int(*(*int32)(unsafe.Pointer(&s.rest[0]))) }
func (s *siginfo) addr() uint64 { return s.rest[0] }

// sent makes a signal as kill(2) sends it.
func sent(signal, sender int) *siginfo {
	s := &siginfo{signal: int32(signal)}
	*(*int32)(unsafe.Pointer(&s.rest[0])) = int32(sender)
	return s
}

func getSigInfo(tid int, s *siginfo) error {
	return ptracePointer(ptraceGetSigInfo, tid, 0, unsafe.Pointer(s))
}

func setSigInfo(tid int, s *siginfo) error {
	return ptracePointer(ptraceSetSigInfo, tid, 0, unsafe.Pointer(s))
}

// peekSigInfo reads signals that wait for their delivery to a thread, from the one with number off
// on. It returns how many there are.
func peekSigInfo(tid, off int, s []siginfo) int {
	args := struct {
		off   uint64
		flags uint32
		nr    int32
	}{off: uint64(off), nr: int32(len(s))}
	n, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, ptracePeek, uintptr(tid), uintptr(unsafe.Pointer(&args)), uintptr(unsafe.Pointer(&s[0])), 0, 0)
	if e != 0 {
		return 0
	}
	return int(n)
}

// sigmask is the set of blocked signals (sigset_t of the kernel).
type sigmask [8]byte

func getSigMask(tid int, m *sigmask) error {
	return ptracePointer(ptraceGetSigMask, tid, unsafe.Sizeof(*m), unsafe.Pointer(m))
}

func setSigMask(tid int, m *sigmask) error {
	return ptracePointer(ptraceSetSigMask, tid, unsafe.Sizeof(*m), unsafe.Pointer(m))
}

// eventMessage returns the ID of a new thread or process.
func eventMessage(tid int) (int, error) {
	var v uintptr
	err := ptracePointer(ptraceGetEvent, tid, 0, unsafe.Pointer(&v))
	return int(v), err
}
