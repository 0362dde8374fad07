package live

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/target"
)

// Look is Attach without threads: it stops none and reads no registers. The target has the modules
// and the memory of the process, which runs on meanwhile. A debugger that stops the threads itself
// uses it. The error wraps one of the errors of this package.
func Look(pid int) (*Target, error) {
	if hostArch == nil {
		return nil, errNoHost
	}
	p, err := check(pid)
	if err != nil {
		return nil, err
	}
	return p.look()
}

// LookAgain is Look for the process of t, which may be held by now: what is mapped may have
// changed.
func (t *Target) LookAgain() (*Target, error) {
	p, err := openProc(t.PID)
	if err != nil {
		return nil, refuse(ErrNoProcess, t.PID, "no such process: it has just ended")
	}
	p.arch = t.arch
	return p.look()
}

func (p *proc) look() (*Target, error) {
	f := &files{proc: p}
	t, err := f.look()
	if err != nil {
		f.closeOpened()
		p.dir.Close()
		var r *refusal
		switch {
		case errors.Is(err, ErrExited):
			err = refuse(ErrNoProcess, p.pid, "no such process: it has just ended")
		case !errors.As(err, &r):
			err = fmt.Errorf("attach %d: %w", p.pid, err)
		}
		return nil, err
	}
	return t, nil
}

func (f *files) look() (*Target, error) {
	tids, err := f.proc.tasks()
	if err != nil {
		return nil, err
	}
	if err := f.openAny(tids); err != nil {
		return nil, err
	}
	s := newAttachment(f.proc, f, false, 0)
	if err := s.readMaps(tids...); err != nil {
		return nil, err
	}
	if f.mem == nil { // the kernel has refused what every reader needs
		return nil, denied(f.proc)
	}
	return s.target()
}

// Present returns the process's memory as it is when it is read: nothing of it is kept.
func (t *Target) Present() target.Memory {
	if f, ok := t.files.(*files); ok {
		return present{f}
	}
	return t.memory
}

// Refused says why the kernel has refused to let this program trace process pid, and what to do
// about it. err is the kernel's error.
func Refused(pid int, err error) error {
	if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) {
		if ended(err) {
			return refuse(ErrNoProcess, pid, "no such process: it has just ended")
		}
		return fmt.Errorf("attach %d: %w", pid, err)
	}
	p, openErr := openProc(pid)
	if openErr != nil {
		return refuse(ErrNoProcess, pid, "no such process: it has just ended")
	}
	defer p.dir.Close()
	return denied(p)
}
