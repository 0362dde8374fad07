package live

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/sfwalk/sfwalk/target"
)

// These errors say why a process, or one thread of it, cannot be read. Errors of [Attach] wrap one
// of them and say what the user can do about it.
var (
	ErrUnsupported   = errors.New("live processes cannot be read on this system")
	ErrNoProcess     = errors.New("no such process")
	ErrNoThread      = errors.New("the process has no such thread")
	ErrNotProcess    = errors.New("thread, not a process")
	ErrSelf          = errors.New("a process cannot attach to itself")
	ErrZombie        = errors.New("process has exited and is a zombie")
	ErrKernelThread  = errors.New("kernel thread")
	Err32Bit         = errors.New("32-bit process")
	ErrOtherClass    = errors.New("thread executes code of another width than its program")
	ErrMachine       = errors.New("program is for another architecture")
	ErrTraced        = errors.New("traced by another process")
	ErrPermission    = errors.New("operation not permitted")
	ErrNotStopped    = errors.New("thread cannot be stopped")
	ErrNoUserContext = target.ErrNoUserContext

	// ErrExited says that the process has ended, or runs another program since execve(2).
	ErrExited = errors.New("process has ended or runs another program")
)

// refusal is a sentence for the user. kind is one of the errors above.
type refusal struct {
	kind error
	text string
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.kind }

// refuse returns an error that says why Attach refuses pid.
func refuse(kind error, pid int, format string, args ...any) error {
	return &refusal{kind, fmt.Sprintf("attach %d: ", pid) + fmt.Sprintf(format, args...)}
}

// errNoHost says that this system's processes cannot be read.
var errNoHost = &refusal{ErrUnsupported,
	"attach: live processes can be read on linux/amd64, linux/arm64 and linux/s390x only, this is " + runtime.GOOS + "/" + runtime.GOARCH}

var (
	errClosed        = errors.New("target is closed")
	errConsistent    = errors.New("the threads were read at one moment: all are read once more, or none")
	errNotConsistent = errors.New("the threads were read one after the other: they are read once more one by one")
)
