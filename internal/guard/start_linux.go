package guard

import (
	"os"
	"sync"
	"syscall"
)

const (
	// Name is os.Args[0] of a guard. It has no further arguments.
	Name = "inferior: guard of a held process"
	// FD is the guard's descriptor of the socket to its owner.
	FD = 3
)

// environment is a guard's. It has Go's run time not ask how much of the machine a control group
// may have.
var environment = []string{"GOMAXPROCS=2", "GOGC=off", "GODEBUG=containermaxprocs=0,updatemaxprocs=0"}

// Guard is a guard, as its owner has it.
type Guard struct {
	Socket *os.File
	PID    int
}

// Start starts a guard: this program, once more.
func Start() (*Guard, error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	mine, theirs := os.NewFile(uintptr(pair[0]), "guard"), os.NewFile(uintptr(pair[1]), "guard")
	defer theirs.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		mine.Close()
		return nil, err
	}
	defer null.Close()
	// os.StartProcess would first start a process to find out about pidfds.
	pid, err := syscall.ForkExec("/proc/self/exe", []string{Name}, &syscall.ProcAttr{
		Dir: "/", Env: environment, Files: []uintptr{null.Fd(), null.Fd(), null.Fd(), theirs.Fd()}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		mine.Close()
		return nil, err
	}
	return &Guard{mine, pid}, nil
}

// prepared is a guard for the next process.
var prepared struct {
	sync.Mutex
	guard *Guard
}

// Prepare starts the guard that the next Take returns.
func Prepare() {
	prepared.Lock()
	defer prepared.Unlock()
	if prepared.guard == nil {
		prepared.guard, _ = Start() // else Take says why
	}
}

// Take returns the guard that was prepared, or starts one.
func Take() (*Guard, error) {
	prepared.Lock()
	g := prepared.guard
	prepared.guard = nil
	prepared.Unlock()
	if g != nil {
		return g, nil
	}
	return Start()
}
