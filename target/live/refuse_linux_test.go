package live

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
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

func Test32Bit(t *testing.T) {
	of, ok := map[string]struct{ flag, machine string }{"amd64": {"-m32", "EM_386"}, "s390x": {"-m31", "EM_S390"}}[runtime.GOARCH]
	if !ok {
		gdbtest.Cannot(t, "the compiler for "+runtime.GOARCH+" makes no 32-bit programs")
	}
	path := filepath.Join(t.TempDir(), "tiny32")
	args := []string{of.flag, "-nostdlib", "-static", "-fno-pie", "-no-pie", "-fno-stack-protector", "-o", path, "testdata/tiny32.c"}
	if msg, err := exec.Command(gdbtest.Tool(t, "cc"), args...).CombinedOutput(); err != nil {
		gdbtest.Cannot(t, fmt.Sprintf("the compiler makes no 32-bit programs: %v %s", err, msg))
	}
	cmd := exec.Command(path)
	cmd.Stdin = strings.NewReader("")
	if err := cmd.Run(); err != nil {
		gdbtest.Cannot(t, fmt.Sprintf("the kernel runs no 32-bit programs: %v", err))
	}
	p := gdbtest.StartRunning(t, path)
	wantError(t, refused(t, p.PID), Err32Bit, "a 32-bit process ("+of.machine+")")
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
	for _, after := range []time.Duration{0, time.Millisecond, 10 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(context.Background(), after)
		_, err := Attach(ctx, p.PID, Options{})
		cancel()
		wantError(t, err, context.DeadlineExceeded, fmt.Sprintf("attach %d: ", p.PID))
		letGo(t, p.PID)
	}
}
