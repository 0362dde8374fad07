package live

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/user"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
)

// check finds every reason to refuse pid that can be found without touching the process.
func check(pid int) (*proc, error) {
	if pid <= 0 {
		return nil, refuse(ErrNoProcess, pid, "process IDs are positive numbers")
	}
	if pid > math.MaxInt32 { // the kernel would look at its lower half
		return nil, refuse(ErrNoProcess, pid, "no such process")
	}
	if pid == os.Getpid() {
		return nil, refuse(ErrSelf, pid, "a process cannot attach to itself")
	}
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return nil, refuse(ErrUnsupported, pid, "/proc is not mounted, or belongs to another PID namespace: mount -t proc proc /proc")
	}
	p, err := openProc(pid)
	if errors.Is(err, unix.ENOENT) {
		if kill := unix.Kill(pid, 0); kill == nil || kill == unix.EPERM {
			return nil, refuse(ErrPermission, pid, "/proc hides this process (mount option hidepid): run as root")
		}
		return nil, refuse(ErrNoProcess, pid, "no such process")
	}
	if err == nil {
		if err = checkStatus(p); err == nil {
			err = checkExe(p)
		}
		if err != nil {
			p.dir.Close()
		}
	}
	var r *refusal
	switch {
	case err == nil:
		return p, nil
	case errors.As(err, &r):
		return nil, err
	case ended(err):
		return nil, refuse(ErrNoProcess, pid, "no such process: it has just ended")
	}
	return nil, fmt.Errorf("attach %d: %w", pid, err)
}

func checkStatus(p *proc) error {
	s, err := p.status("")
	if err != nil {
		return err
	}
	p.stopped = strings.HasPrefix(s.state, "T")
	if s.tgid != p.pid {
		return refuse(ErrNotProcess, p.pid, "%d is a thread of process %d: use `sfwalk attach %d --tid %d`", p.pid, s.tgid, s.tgid, p.pid)
	}
	if s.flags&kernelThread != 0 {
		return refuse(ErrKernelThread, p.pid, "a kernel thread, which has no user stack: as root, see /proc/%d/stack", p.pid)
	}
	if strings.HasPrefix(s.state, "Z") || strings.HasPrefix(s.state, "X") {
		ended, err := isZombie(p)
		if err != nil {
			return err
		}
		if ended {
			return refuse(ErrZombie, p.pid, "a zombie: it has exited, and stays until its parent %s has collected it", processName(s.ppid))
		}
	}
	if s.tracer != 0 {
		return tracedBy(p.pid, s.tracer)
	}
	return nil
}

// isZombie reports whether the whole process has ended. A main thread is a zombie, too, if it has
// ended and other threads live on; and may be one for a moment during execve(2).
func isZombie(p *proc) (bool, error) {
	for range 3 {
		tids, err := p.tasks()
		if err != nil {
			return false, err
		}
		s, err := p.status("")
		if err != nil || len(tids) > 1 || !strings.Contains("XZ", s.state[:1]) {
			return false, err
		}
	}
	return true, nil
}

func tracedBy(pid, tracer int) error {
	// A thread traces, and the kernel names that one (proc_pid_status(5)).
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tracer)); err == nil {
		if of, err := strconv.Atoi(statusField(status, "Tgid")); err == nil {
			tracer = of
		}
	}
	return refuse(ErrTraced, pid, "traced by %s: detach it first, or ask it for the stacks", processName(tracer))
}

// processName returns "gdb (pid 77)".
func processName(pid int) string {
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return fmt.Sprintf("pid %d", pid)
	}
	return fmt.Sprintf("%s (pid %d)", strings.TrimSuffix(string(comm), "\n"), pid)
}

// checkExe finds out the architecture of the program, and refuses architectures that cannot be
// read. If the program cannot be opened, it counts as the machine's own; the size of the register
// set decides later.
func checkExe(p *proc) error {
	f, err := p.openat("exe", unix.O_RDONLY)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		return denied(p)
	}
	if err != nil {
		tids, _ := p.tasks() // a main thread that has ended has no program any more
		for i := 0; f == nil && i < len(tids); i++ {
			f, _ = p.openat(taskFile(tids[i], "exe"), unix.O_RDONLY)
		}
	}
	if f == nil {
		return nil
	}
	defer f.Close()
	var h [20]byte
	if _, err := io.ReadFull(f, h[:]); err != nil || string(h[:4]) != elf.ELFMAG {
		return nil
	}
	p.arch, err = programArch(p.pid, h)
	return err
}

// programArch returns the architecture of a program by the first bytes of its file, or says why its
// processes cannot be read.
func programArch(pid int, h [20]byte) (*arch.Arch, error) {
	var order binary.ByteOrder = binary.LittleEndian // of the program, which may be emulated
	if elf.Data(h[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	class, machine := elf.Class(h[elf.EI_CLASS]), elf.Machine(order.Uint16(h[18:]))
	switch {
	case class == hostArch.Class() && machine == hostArch.Machine:
		return hostArch, nil
	case class == hostArch.Class():
		return nil, refuse(ErrMachine, pid, "its program is for %v, not for %v", machine, hostArch.Machine)
	case narrowArch != nil && machine == narrowArch.Machine && class == narrowArch.Class():
		return narrowArch, nil
	case machine == hostArch.Machine:
		return nil, refuse(Err32Bit, pid, "a process with 32-bit addresses in 64-bit code (x32, ILP32): its stacks cannot be unwound")
	}
	return nil, refuse(Err32Bit, pid, "a 32-bit process (%v): only 64-bit ones can be unwound", machine)
}

// otherClass says that a thread executes code of another width than its program, which is for a.
func otherClass(a *arch.Arch, tid int) error {
	code, program := "32-bit", "64-bit"
	if a.Class() == elf.ELFCLASS32 {
		code, program = program, code
	}
	return &refusal{ErrOtherClass, fmt.Sprintf("thread %d executes %s code, and its program is a %s one: only frames of the program's own width can be unwound", tid, code, program)}
}

// denied finds out why the kernel denies access to a process.
func denied(p *proc) error {
	no := func(format string, args ...any) error {
		return refuse(ErrPermission, p.pid, "operation not permitted: "+format, args...)
	}
	s, err := p.status("")
	if err != nil {
		return err
	}
	if s.tracer != 0 {
		return tracedBy(p.pid, s.tracer)
	}
	self, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return no("%v", err)
	}
	caps, _ := strconv.ParseUint(statusField(self, "CapEff"), 16, 64)
	scope := 0
	if text, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil {
		scope, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	canTrace := caps&(1<<unix.CAP_SYS_PTRACE) != 0
	switch {
	case scope == 3:
		return no("kernel.yama.ptrace_scope is 3, which forbids it to everybody until the next boot")
	case canTrace:
		return no("though this process may trace others: a seccomp filter or a security module (SELinux, AppArmor) of its container forbids it, or the process belongs to another user namespace: attach from the host")
	case os.Geteuid() == 0:
		return no("this root has no CAP_SYS_PTRACE: start the container with --cap-add SYS_PTRACE, or attach from the host")
	case s.uid != os.Getuid():
		return no("the process belongs to %s: run as root or as that user", userName(s.uid))
	case scope > 0:
		return no("run as root, or allow ptrace (kernel.yama.ptrace_scope=0; it is %d)", scope)
	case statusField(self, "Seccomp") == "2":
		return no("a seccomp filter may forbid ptrace here: start the container with --cap-add SYS_PTRACE, or attach from the host")
	}
	return no("the process is protected (set-user-ID, file capabilities, or PR_SET_DUMPABLE): run as root")
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return fmt.Sprintf("user %s (uid %d)", u.Username, uid)
	}
	return fmt.Sprintf("uid %d", uid)
}
