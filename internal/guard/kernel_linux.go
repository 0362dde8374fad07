package guard

import (
	"runtime"
	"syscall"
	"unsafe"

	"github.com/sfwalk/sfwalk/arch/control"
)

// These are the kernel's, which package syscall lacks. golang.org/x/sys/unix has them, but is
// initialised too late for a guard that is to begin early.
const (
	ptraceCont       = 7
	ptraceSingleStep = 9
	ptraceDetach     = 17
	ptraceSyscall    = 24
	ptraceGetEvent   = 0x4201
	ptraceGetSigInfo = 0x4202
	ptraceSetSigInfo = 0x4203
	ptraceGetRegSet  = 0x4204
	ptraceSetRegSet  = 0x4205
	ptraceSeize      = 0x4206
	ptraceInterrupt  = 0x4207
	ptraceListen     = 0x4208
	ptracePeek       = 0x4209 // PTRACE_PEEKSIGINFO
	ptraceGetSigMask = 0x420a
	ptraceSetSigMask = 0x420b

	eventFork      = 1
	eventVfork     = 2
	eventClone     = 3
	eventExec      = 4
	eventVforkDone = 5
	eventExit      = 6
	eventStop      = 128

	// All stops but the stops of new threads are told: PTRACE_O_TRACESYSGOOD, FORK, VFORK, EXEC,
	// VFORKDONE, EXIT.
	traceAlways  = 1 | 1<<eventFork | 1<<eventVfork | 1<<eventExec | 1<<eventVforkDone | 1<<eventExit
	traceThreads = traceAlways | 1<<eventClone

	waitNoHang  = 1
	waitStopped = 2
	waitExited  = 4
	waitNoWait  = 0x1000000
	waitAll     = 0x40000000 // __WALL

	pollIn = 1

	sysCloseRange     = 436
	closeRangeCloexec = 4
)

type pollFD struct {
	fd      int32
	events  int16
	revents int16
}

// poll waits until a descriptor can be read, or, unless wait is true, not at all. It returns how
// many can be.
func poll(list []pollFD, wait bool) (int, error) {
	var none syscall.Timespec
	timeout := &none
	if wait {
		timeout = nil
	}
	n, _, e := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&list[0])), uintptr(len(list)), uintptr(unsafe.Pointer(timeout)), 0, 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}

// awaitAny waits until a traced thread or a child has something to tell, and leaves that to be
// taken.
func awaitAny() error {
	const all = 0 // P_ALL
	if _, _, e := syscall.Syscall6(syscall.SYS_WAITID, all, 0, 0, waitExited|waitStopped|waitNoWait|waitAll, 0, 0); e != 0 {
		return e
	}
	return nil
}

func tgkill(pid, tid int, signal syscall.Signal) error {
	if _, _, e := syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(pid), uintptr(tid), uintptr(signal)); e != 0 {
		return e
	}
	return nil
}

// SameMemory reports whether two processes have one memory.
func SameMemory(pid, other int) bool {
	const vm = 1 // KCMP_VM (linux/kcmp.h)
	order, _, e := syscall.Syscall6(control.ByName(runtime.GOARCH).Kcmp, uintptr(pid), uintptr(other), vm, 0, 0, 0)
	return e == 0 && order == 0
}
