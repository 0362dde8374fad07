package native

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/inferior"
)

// Start starts a program, and holds it before its first instruction: GDB's starti. cmd is started,
// with SysProcAttr.Ptrace set; its Wait may be called once the process has ended. If this program
// ends first, the process goes on, as [inferior.Process] says.
func Start(ctx context.Context, cmd *exec.Cmd) (p *Process, err error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Ptrace = true
	runtime.LockOSThread() // ptrace(2) wants one thread
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	}()
	pid := cmd.Process.Pid
	var status unix.WaitStatus
	for {
		if _, err := unix.Wait4(pid, &status, 0, nil); err == nil {
			break
		} else if err != unix.EINTR {
			return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
		}
	}
	if !status.Stopped() {
		return nil, fmt.Errorf("start %s: the process has ended", cmd.Path)
	}
	// The guard takes over from this thread.
	if _, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(pid), 0, uintptr(unix.SIGSTOP), 0, 0); e != 0 {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, e)
	}
	if p, err = Attach(ctx, pid, Options{}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	if err := unix.Kill(pid, unix.SIGCONT); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	// It stops for that signal before it executes anything.
	if err := p.Resume(inferior.Resume{}); err != nil {
		return nil, err
	}
	e, err := p.Wait(ctx)
	switch {
	case err != nil:
		return nil, err
	case e.Kind != inferior.Signalled || e.Signal.Number != int(unix.SIGCONT):
		return nil, fmt.Errorf("start %s: it has not stopped for SIGCONT but for event %d", cmd.Path, e.Kind)
	}
	return p, nil
}
