package live

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// These are the requests of ptrace(2) that are needed and that golang.org/x/sys lacks. None of them
// blocks, so they need not tell the Go scheduler. They take pointers, so this file alone needs
// package unsafe.

// siginfo is the kernel's siginfo_t, as PTRACE_GETSIGINFO and waitid(2) fill it in.
type siginfo struct {
	signo, errno, code int32
	_                  int32
	pid                int32
	uid                uint32
	status             int32
	_                  [100]byte
}

func ptrace(request, tid int, addr uintptr, data unsafe.Pointer) error {
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, uintptr(data), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// iovec tells the kernel where p is, which is not empty.
func iovec(p []byte) unix.Iovec {
	v := unix.Iovec{Base: &p[0]}
	v.SetLen(len(p))
	return v
}

// registerSet reads one set into p and returns how many bytes the kernel has
// filled in.
func registerSet(tid int, note uint32, p []byte) (int, error) {
	iov := iovec(p)
	err := ptrace(unix.PTRACE_GETREGSET, tid, uintptr(note), unsafe.Pointer(&iov))
	return int(iov.Len), err
}

// signalMask reads which signals a stopped thread blocks: signal 1 in bit 0.
func signalMask(tid int) (mask uint64, err error) {
	err = ptrace(unix.PTRACE_GETSIGMASK, tid, unsafe.Sizeof(mask), unsafe.Pointer(&mask))
	return mask, err
}

// detach lets a stopped thread go on, and gives it signal unless that is 0.
func detach(tid, signal int) error {
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(tid), 0, uintptr(signal), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// stopSignal tells whether a traced thread has stopped, and which signal was being delivered to it;
// 0 if it has stopped for another reason.
//
// waitid tells both. Here it must not take what it tells (WNOWAIT): if we are killed while the
// thread is stopped, the kernel delivers only a signal that nobody was told of. But if the process
// is our own child, another part of this program that waits for it may have taken it.
// PTRACE_GETSIGINFO works on every stopped thread, so it decides.
func stopSignal(tid int) (stopped bool, signal int) {
	var info siginfo
	if ptrace(unix.PTRACE_GETSIGINFO, tid, 0, unsafe.Pointer(&info)) != nil {
		return false, 0
	}
	code, signal := info.code, int(info.signo)
	info = siginfo{}
	unix.RawSyscall6(unix.SYS_WAITID, unix.P_PID, uintptr(tid), uintptr(unsafe.Pointer(&info)),
		unix.WSTOPPED|unix.WNOHANG|unix.WALL|unix.WNOWAIT, 0, 0)
	if info.pid == int32(tid) {
		code, signal = info.status, int(info.status)&0x7f
	}
	// The status of an event is the signal with the event above it. The status of a signal is the
	// signal alone, and its si_code is something else.
	if code == int32(signal)|unix.PTRACE_EVENT_STOP<<8 {
		return true, 0
	}
	return true, signal
}

// isStopped reports whether a traced thread is stopped.
func isStopped(tid int) bool {
	var info siginfo
	return ptrace(unix.PTRACE_GETSIGINFO, tid, 0, unsafe.Pointer(&info)) == nil
}

// reap collects a traced thread that has ended. It must not be the main thread, because the parent
// collects the process's exit.
func reap(tid int) {
	var info siginfo
	const exited = unix.WEXITED | unix.WNOHANG | unix.WALL
	unix.RawSyscall6(unix.SYS_WAITID, unix.P_PID, uintptr(tid), uintptr(unsafe.Pointer(&info)), exited|unix.WNOWAIT, 0, 0)
	switch info.code { // waitid also reports stops, which must not be taken here
	case 1, 2, 3: // CLD_EXITED, CLD_KILLED, CLD_DUMPED
		unix.RawSyscall6(unix.SYS_WAITID, unix.P_PID, uintptr(tid), uintptr(unsafe.Pointer(&info)), exited, 0, 0)
	}
}
