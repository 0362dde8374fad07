package live

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

func refused(t *testing.T, pid int) error {
	t.Helper()
	target, err := Attach(context.Background(), pid, Options{})
	if err == nil {
		target.Close()
		t.Fatalf("attach %d: no error", pid)
	}
	return err
}

func TestNoProcess(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	wantError(t, refused(t, pid), ErrNoProcess, fmt.Sprintf("attach %d: no such process", pid))
	wantError(t, refused(t, 0), ErrNoProcess)
	wantError(t, refused(t, -1), ErrNoProcess)
	// The kernel's numbers have 32 bits; what is in the others is not thrown away.
	for _, bit := range []int{31, 32, 40, 62} {
		high := 1 << bit
		wantError(t, refused(t, high), ErrNoProcess)
		wantError(t, refused(t, high+os.Getppid()), ErrNoProcess, "no such process")
	}
}

func TestUnsupported(t *testing.T) {
	defer func(a *arch.Arch) { hostArch = a }(hostArch)
	hostArch = nil
	wantError(t, refused(t, os.Getppid()), ErrUnsupported, runtime.GOOS+"/"+runtime.GOARCH)
}

func TestSelf(t *testing.T) { wantError(t, refused(t, os.Getpid()), ErrSelf) }

func TestThreadID(t *testing.T) {
	p := start(t, "idle.c", "1")
	tids, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.PID))
	if err != nil || len(tids) != 2 {
		t.Fatal(tids, err)
	}
	var tid int
	fmt.Sscan(tids[1].Name(), &tid)
	wantError(t, refused(t, tid), ErrNotProcess, fmt.Sprintf("%d is a thread of process %d: use `sfwalk attach %d --tid %d`", tid, p.PID, p.PID, tid))
}

func TestZombie(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	gdbtest.Await(t, "true is a zombie", func() bool {
		return strings.HasPrefix(field(t, cmd.Process.Pid, cmd.Process.Pid, "State"), "Z")
	})
	wantError(t, refused(t, cmd.Process.Pid), ErrZombie, fmt.Sprintf("(pid %d)", os.Getpid()))
}

func TestKernelThread(t *testing.T) {
	if comm, err := os.ReadFile("/proc/2/comm"); err != nil || string(comm) != "kthreadd\n" {
		gdbtest.Cannot(t, "process 2 is not kthreadd here: a PID namespace")
	}
	wantError(t, refused(t, 2), ErrKernelThread, "attach 2: a kernel thread")
}

// Test32Bit attaches to a 32-bit process. Where its architecture is not known, that is refused.
func Test32Bit(t *testing.T) {
	if runtime.GOARCH == "amd64" {
		p := gdbtest.StartRunning(t, tiny(t, gdbtest.Compiler386(t), "tiny32.c"))
		p.Rest(t)
		tg := attach(t, p.PID)
		th := threadsOf(t, tg)[0]
		if r := registersOf(t, th); tg.Arch().Name != "386" || th.Err != nil || !tg.Modules().IsCode(r.Value[tg.Arch().PC]) {
			t.Errorf("%s, %v, PC %#x", tg.Arch().Name, th.Err, r.Value[tg.Arch().PC])
		}
		return
	}
	if runtime.GOARCH != "s390x" {
		gdbtest.Cannot(t, "the compiler for "+runtime.GOARCH+" makes no 32-bit programs")
	}
	p := gdbtest.StartRunning(t, tiny(t, gdbtest.Tool(t, "cc"), "tiny32.c", "-m31"))
	wantError(t, refused(t, p.PID), Err32Bit, "a 32-bit process (EM_S390)")
}

// tiny makes a program without a libc, which must run here.
func tiny(t *testing.T, compiler, src string, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), strings.TrimSuffix(src, ".c"))
	args := append(flags, "-nostdlib", "-static", "-fno-pie", "-no-pie", "-fno-stack-protector", "-o", path, "testdata/"+src)
	if msg, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		gdbtest.Cannot(t, fmt.Sprintf("the compiler makes no such programs: %v %s", err, msg))
	}
	cmd := exec.Command(path)
	cmd.Stdin = strings.NewReader("")
	if err := cmd.Run(); err != nil {
		gdbtest.Cannot(t, fmt.Sprintf("the kernel runs no such programs: %v", err))
	}
	return path
}

// TestOtherClass attaches to programs that have changed to code of the other width (a far jump to
// the segment of such code). The kernel then gives the registers of that other architecture.
func TestOtherClass(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		gdbtest.Cannot(t, "code of both widths in one process is x86's")
	}
	for _, tt := range []struct{ name, compiler, want string }{
		{"64-bit code in a 32-bit program", gdbtest.Compiler386(t), "executes 64-bit code, and its program is a 32-bit one"},
		{"32-bit code in a 64-bit program", gdbtest.Tool(t, "cc"), "executes 32-bit code, and its program is a 64-bit one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := gdbtest.StartRunning(t, tiny(t, tt.compiler, "changes.c"))
			p.Rest(t)
			th := threadsOf(t, attach(t, p.PID))[0]
			wantError(t, th.Err, ErrOtherClass, fmt.Sprintf("thread %d %s", p.PID, tt.want))
			p.Exit(t)
		})
	}
}

// TestProgramArch reads the beginnings of programs as no kernel runs all of them.
func TestProgramArch(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		gdbtest.Cannot(t, "the programs are for x86")
	}
	for _, tt := range []struct {
		class   elf.Class
		machine elf.Machine
		want    string
		kind    error
		text    string
	}{
		{elf.ELFCLASS64, elf.EM_X86_64, "amd64", nil, ""},
		{elf.ELFCLASS32, elf.EM_386, "386", nil, ""},
		{elf.ELFCLASS32, elf.EM_X86_64, "", Err32Bit, "a process with 32-bit addresses in 64-bit code (x32, ILP32)"},
		{elf.ELFCLASS32, elf.EM_ARM, "", Err32Bit, "a 32-bit process (EM_ARM)"},
		{elf.ELFCLASS64, elf.EM_AARCH64, "", ErrMachine, "its program is for EM_AARCH64, not for EM_X86_64"},
	} {
		h := [20]byte{elf.EI_CLASS: byte(tt.class), elf.EI_DATA: byte(elf.ELFDATA2LSB), 18: byte(tt.machine)}
		a, err := programArch(7, h)
		if tt.kind != nil {
			wantError(t, err, tt.kind, "attach 7: "+tt.text)
		} else if err != nil || a.Name != tt.want {
			t.Errorf("%v, %v: %v, %v", tt.class, tt.machine, a, err)
		}
	}
}

func TestTraced(t *testing.T) {
	p := start(t, "idle.c")
	tracer := startRole(t, "trace", p.PID)
	wantError(t, refused(t, p.PID), ErrTraced, fmt.Sprintf("traced by exe (pid %d): detach it first", tracer.Process.Pid))
	if got := field(t, p.PID, p.PID, "TracerPid"); got == "0" {
		t.Error("the other tracer has lost the process")
	}
	tracer.Process.Kill()
	tracer.Wait()
	attach(t, p.PID)
}

// An ordinary user is told the reason. To attach to a process of one's own takes no privileges.
func TestOrdinaryUser(t *testing.T) {
	gdbtest.NeedRoot(t)
	const nobody = 65534
	// The user nobody must be able to reach the test binary.
	dir, err := os.MkdirTemp("", "live")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	binary, program := filepath.Join(dir, "live.test"), filepath.Join(dir, "idle")
	if err := os.WriteFile(binary, text, 0o755); err != nil {
		t.Fatal(err)
	}
	compile(t, program, "idle.c")
	as := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	asNobody := func(pid int) string {
		cmd := inRole(t, "attach", pid)
		cmd.Path, cmd.SysProcAttr = binary, as
		return output(t, cmd)
	}

	p := gdbtest.StartRunning(t, program)
	if got := asNobody(p.PID); !strings.Contains(got, "operation not permitted: the process belongs to user root (uid 0): run as root") {
		t.Errorf("attach to root's process: %s", got)
	} else {
		t.Log(got)
	}

	cmd := exec.Command(program)
	cmd.SysProcAttr = as
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	out.Read(make([]byte, 6))
	if got := asNobody(cmd.Process.Pid); got != "<nil>\n[]\n" {
		t.Errorf("attach to its own process: %s", got)
	}
}

func TestCancel(t *testing.T) {
	p := start(t, "vforks.c") // its main thread cannot be stopped
	gdbtest.Await(t, "the main thread waits for vfork", func() bool {
		return strings.HasPrefix(field(t, p.PID, p.PID, "State"), "D")
	})
	// By number and not by time: a thread in uninterruptible sleep is soon given up, and then the
	// attach is over.
	for _, looks := range []int{0, 1, quickRounds + 1} {
		_, err := Attach(&doneAfter{context.Background(), looks}, p.PID, Options{})
		wantError(t, err, context.DeadlineExceeded, fmt.Sprintf("attach %d: ", p.PID))
		letGo(t, p.PID)
	}
}

// doneAfter is done after so many looks at it.
type doneAfter struct {
	context.Context
	looks int
}

func (c *doneAfter) Err() error {
	if c.looks--; c.looks >= 0 {
		return nil
	}
	return context.DeadlineExceeded
}
