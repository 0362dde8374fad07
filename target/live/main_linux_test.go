package live

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// The test binary also serves as the other process that some tests need. This variable then has
// "ROLE PID".
const roleVariable = "SFWALK_LIVE_TEST_ROLE"

func TestMain(m *testing.M) {
	role, pid := "", ""
	if v := os.Getenv(roleVariable); v != "" {
		i := strings.LastIndexByte(v, ' ')
		role, pid = v[:i], v[i+1:]
	}
	id, _ := strconv.Atoi(pid)
	switch role {
	case "":
		os.Exit(m.Run())
	case "hold": // attaches, and stays in the middle of it
		hookStopped = func() {
			fmt.Println("ready")
			time.Sleep(time.Hour) // select {} would be a deadlock
		}
		_, err := Attach(context.Background(), id, Options{Timeout: patience, Consistent: true})
		fmt.Println(err)
	case "hold one", "hold all": // holds while it reads once more
		tg, err := Attach(context.Background(), id, Options{Timeout: patience, Consistent: role == "hold all"})
		if err != nil {
			break
		}
		hookStopped = func() {
			fmt.Println("ready")
			time.Sleep(time.Hour)
		}
		if tg.Consistent {
			err = tg.Retake(func() {})
		} else {
			err = tg.threads[0].Retake(func() {})
		}
		fmt.Println(err)
	case "stop in turn", "stop all", "stop one again", "stop all again": // Ctrl-Z stops it in the middle of that
		DeferStops()
		again := strings.HasSuffix(role, "again")
		stop := func() {
			hookStopped = func() {}
			unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGTSTP)
		}
		if !again {
			hookStopped = stop
		}
		tg, err := Attach(context.Background(), id, Options{Timeout: patience, Consistent: strings.HasPrefix(role, "stop all")})
		if err == nil && again {
			hookStopped = stop
			walk := func() {}
			if tg.Consistent {
				err = tg.Retake(walk)
			} else {
				err = tg.threads[0].Retake(walk)
			}
		}
		if err == nil {
			io.Copy(io.Discard, os.Stdin) // until it has been stopped
			os.Exit(0)
		}
		fmt.Println(err)
	case "hold a signal": // has stopped a thread when a signal was about to be delivered to it
		onOwnThread(func() {
			proc, err := check(id)
			if err != nil {
				fmt.Println(err)
				return
			}
			tr := &tracer{proc: proc, timeout: patience}
			tr.prepare = func(int) { // all threads are traced, and none was asked to stop yet
				syscall.Kill(id, syscall.SIGSTOP)
				for stop := false; !stop; stop = isStopped(id) {
					runtime.Gosched()
				}
			}
			err = tr.stopAll(context.Background())
			if x := tr.known[id]; err != nil || x.state != stopped || x.signal != int(syscall.SIGSTOP) {
				fmt.Println(err, x)
				return
			}
			fmt.Println("ready")
			time.Sleep(time.Hour)
		})
	case "trace": // is the tracer, as a debugger would be
		runtime.LockOSThread()
		fmt.Println(errors.Join(errors.New("ready"), unix.PtraceSeize(id)))
		time.Sleep(time.Hour)
	case "attach": // attaches, and prints the result
		target, err := Attach(context.Background(), id, Options{})
		fmt.Println(err)
		if err == nil {
			for _, m := range target.Modules().All() {
				if _, _, err := m.Image(); err != nil {
					fmt.Println(err)
				}
			}
			fmt.Println(target.Warnings())
		}
	}
	os.Exit(1)
}

// inRole returns a command that runs the test binary in another role.
func inRole(t testing.TB, role string, pid int) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", roleVariable, role, pid))
	return cmd
}

// startRole starts the test binary in another role and waits until it says "ready".
func startRole(t testing.TB, role string, pid int) *exec.Cmd {
	t.Helper()
	cmd := inRole(t, role, pid)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%s %d said %q (%v), not ready", role, pid, line, err)
	}
	return cmd
}

// build compiles a program of testdata into a folder of the test's own.
func build(t testing.TB, src string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), strings.TrimSuffix(src, ".c"))
	compile(t, out, src, flags...)
	return out
}

func compile(t testing.TB, out, src string, flags ...string) {
	t.Helper()
	args := append([]string{"-g", "-O1", "-pthread", "-o", out, filepath.Join("testdata", src)}, flags...)
	if msg, err := exec.Command(gdbtest.Tool(t, "cc"), args...).CombinedOutput(); err != nil {
		t.Fatalf("cc %q: %v\n%s", args, err, msg)
	}
}

// start builds and starts a program of testdata.
func start(t testing.TB, src string, args ...string) *gdbtest.Process {
	t.Helper()
	return gdbtest.StartRunning(t, build(t, src), args...)
}

// line reads a line of what a program prints.
func line(t testing.TB, p *gdbtest.Process) string {
	t.Helper()
	s, err := p.Stdout.ReadString('\n')
	if err != nil {
		t.Fatalf("process %d: %v", p.PID, err)
	}
	return strings.TrimSuffix(s, "\n")
}

// address reads a line with an address.
func address(t testing.TB, p *gdbtest.Process) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(line(t, p), 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// patience is what Attach gets as its Timeout: on a slow machine, too, all threads that can be
// stopped are.
const patience = time.Hour

// attach attaches, and lets go what is open when the test ends.
func attach(t testing.TB, pid int) *Target { return attachBy(t, pid, Options{Timeout: patience}) }

// eachWay runs a test with threads stopped one after the other, and with all stopped at once.
func eachWay(t *testing.T, test func(t *testing.T, opts Options)) {
	t.Run("in turn", func(t *testing.T) { test(t, Options{Timeout: patience}) })
	t.Run("consistent", func(t *testing.T) { test(t, Options{Timeout: patience, Consistent: true}) })
}

func attachBy(t testing.TB, pid int, opts Options) *Target {
	t.Helper()
	target, err := Attach(context.Background(), pid, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { target.Close() })
	return target
}

// threadsOf returns a target's threads.
func threadsOf(t testing.TB, target *Target) []*Thread {
	t.Helper()
	list, err := target.Threads()
	if err != nil {
		t.Fatal(err)
	}
	threads := make([]*Thread, len(list))
	for i, th := range list {
		threads[i] = th.(*Thread)
	}
	return threads
}

func registersOf(t testing.TB, th *Thread) *arch.Registers {
	t.Helper()
	var r arch.Registers
	if err := th.Registers(&r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// field returns one line of a thread's status file.
func field(t testing.TB, pid, tid int, key string) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, tid))
	if err != nil {
		t.Fatal(err)
	}
	return statusField(text, key)
}

// letGo fails the test if a thread of the process is traced or held.
func letGo(t testing.TB, pid int) {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/status", pid, task.Name()))
		if err != nil {
			continue // the thread has ended
		}
		if tracer, state := statusField(text, "TracerPid"), statusField(text, "State"); tracer != "0" || strings.HasPrefix(state, "t") {
			t.Errorf("thread %s of process %d: tracer %s, state %s after the attach", task.Name(), pid, tracer, state)
		}
	}
}

// wantError checks an error's kind and that it says what the user needs.
func wantError(t *testing.T, err, kind error, says ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("got error %v, want %v", err, kind)
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("error %q does not say %q", err, s)
		}
	}
	t.Log(err)
}

// output runs a command to its end.
func output(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return b.String()
}

func kill(t testing.TB, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}
