package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// attaches is how often in a row a test attaches to a process, which must not notice.
func attaches(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("SFWALK_SOAK")); err == nil {
		return n
	}
	return 400
}

func TestUndisturbed(t *testing.T) { eachWay(t, testUndisturbed) }

func testUndisturbed(t *testing.T, opts Options) {
	n := attaches(t)
	p := start(t, "undisturbed.c")
	rounds := func() int {
		fmt.Fprint(p.Stdin, "?")
		v, err := strconv.Atoi(line(t, p))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	before, longest := rounds(), time.Duration(0)
	for i := range n {
		if i%100 == 99 {
			if now := rounds(); now == before {
				t.Fatalf("attach %d: the process does not go on", i)
			} else {
				before = now
			}
		}
		target, err := Attach(context.Background(), p.PID, opts)
		if err != nil {
			t.Fatal(err)
		}
		if len(target.threads) != 51 {
			t.Fatalf("attach %d: %d threads, want 51", i, len(target.threads))
		}
		for _, th := range target.threads {
			if th.Err != nil {
				t.Fatalf("attach %d: %v", i, th.Err)
			}
		}
		longest = max(longest, target.Pause)
		target.Close()
	}
	letGo(t, p.PID)
	if err := p.Exit(t); err != nil {
		t.Fatalf("%d attaches disturbed the process: %v", n, err)
	}
	t.Logf("%d attaches, longest pause %v", n, longest)
}

// No signal that arrives during an attach is lost.
func TestSignalsDelivered(t *testing.T) { eachWay(t, testSignalsDelivered) }

func testSignalsDelivered(t *testing.T, opts Options) {
	p := start(t, "signals.c")
	var stop atomic.Bool
	count := make(chan int)
	go func() {
		n := 0
		for ; !stop.Load(); n++ {
			target, err := Attach(context.Background(), p.PID, opts)
			if err != nil {
				t.Error(err)
				break
			}
			target.Close()
		}
		count <- n
	}()
	counts := func() (usr, rt, sum int) {
		fmt.Fprint(p.Stdin, "?")
		if _, err := fmt.Sscan(line(t, p), &usr, &rt, &sum); err != nil {
			t.Fatal(err)
		}
		return usr, rt, sum
	}
	each := min(500, 5*attaches(t))
	sum := 0
	for i := range each {
		// Real-time signals are queued, each with a value.
		sum += i
		queue(t, p.PID, 34, i)
		queue(t, p.PID, 34, 0)
		kill(t, p.PID, syscall.SIGUSR1)
		// SIGUSR1 is not queued, so the next one is sent only when this one has arrived.
		gdbtest.Await(t, "SIGUSR1 is delivered", func() bool {
			usr, _, _ := counts()
			return usr == i+1
		})
	}
	gdbtest.Await(t, "all real-time signals are delivered", func() bool {
		_, rt, got := counts()
		return rt == 2*each && got == sum
	})
	stop.Store(true)
	t.Logf("%d attaches", <-count)
	letGo(t, p.PID)
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
}

// queue sends a signal with a value (rt_sigqueueinfo(2)).
func queue(t *testing.T, pid, sig, value int) {
	t.Helper()
	var info struct {
		signo, errno, code, _ int32
		pid                   int32
		uid                   uint32
		value                 int32 // sival_int, where the union with a pointer begins
		_                     [100]byte
	}
	info.signo, info.code, info.value = int32(sig), -1 /* SI_QUEUE */, int32(value)
	if _, _, e := unix.Syscall(unix.SYS_RT_SIGQUEUEINFO, uintptr(pid), uintptr(sig), uintptr(unsafe.Pointer(&info))); e != 0 {
		t.Fatal(e)
	}
}

// A process that was stopped stays stopped, and goes on when it is told to.
func TestStoppedStaysStopped(t *testing.T) { eachWay(t, testStoppedStaysStopped) }

func testStoppedStaysStopped(t *testing.T, opts Options) {
	p := start(t, "undisturbed.c")
	p.Stop(t)
	for range 20 {
		target := attachBy(t, p.PID, opts)
		if n := len(target.threads); n != 51 {
			t.Fatalf("%d threads, want 51", n)
		}
		for _, th := range target.threads {
			if th.Err != nil {
				t.Fatal(th.Err)
			}
		}
		letGo(t, p.PID)
		gdbtest.Await(t, "all threads are stopped again", func() bool { return strings.Trim(p.States(t), "T") == "" })
	}
	if s := p.States(t); strings.Trim(s, "T") != "" {
		t.Fatalf("after the attach the threads' states are %s", s)
	}
	p.Continue(t)
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
}

// SIGSTOP that arrives during an attach stops the process afterwards.
func TestStopMeanwhile(t *testing.T) { eachWay(t, testStopMeanwhile) }

func testStopMeanwhile(t *testing.T, opts Options) {
	p := start(t, "undisturbed.c")
	t.Cleanup(func() { hookStopped = func() {} })
	hookStopped = func() { kill(t, p.PID, syscall.SIGSTOP) }
	attachBy(t, p.PID, opts)
	gdbtest.Await(t, "all threads are stopped", func() bool { return strings.Trim(p.States(t), "T") == "" })
	p.Continue(t)
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
}

// To kill us during an attach does not harm the process.
func TestKilledWhileAttaching(t *testing.T) {
	p := start(t, "undisturbed.c")
	for range 5 {
		holder := startRole(t, "hold", p.PID)
		if s := p.States(t); strings.Trim(s, "t") != "" {
			t.Fatalf("while it is held the threads' states are %s", s)
		}
		holder.Process.Kill()
		holder.Wait()
		letGo(t, p.PID)
		fmt.Fprint(p.Stdin, "?")
		line(t, p)
	}
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
}

// A process that was stopped stays so if we are killed.
func TestKilledWhileStopped(t *testing.T) {
	p := start(t, "undisturbed.c")
	p.Stop(t)
	holder := startRole(t, "hold", p.PID)
	if s := p.States(t); strings.Trim(s, "t") != "" {
		t.Errorf("while it is held the threads' states are %s", s)
	}
	holder.Process.Kill()
	holder.Wait()
	gdbtest.Await(t, "all threads are stopped again", func() bool { return strings.Trim(p.States(t), "T") == "" })
	p.Continue(t)
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
}

// A signal that was about to be delivered when we were killed is delivered: here it stops the
// process.
func TestKilledWithSignal(t *testing.T) {
	p := start(t, "idle.c") // with one thread, which gets the signal
	holder := startRole(t, "hold a signal", p.PID)
	holder.Process.Kill()
	holder.Wait()
	gdbtest.Await(t, "the process is stopped", func() bool { return p.States(t) == "T" })
	p.Continue(t)
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
}

// If the process is killed during an attach, the error says so, and its parent can still learn how
// it ended.
func TestTargetKilled(t *testing.T) { eachWay(t, testTargetKilled) }

func testTargetKilled(t *testing.T, opts Options) {
	p := start(t, "undisturbed.c")
	t.Cleanup(func() { hookStopped = func() {} })
	var once sync.Once
	hookStopped = func() {
		once.Do(func() { kill(t, p.PID, syscall.SIGKILL) })
		gdbtest.Await(t, "the process is dead", func() bool {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID))
			return err != nil || bytes.Contains(text, []byte(") Z ")) // its parent may have collected it
		})
	}
	target, err := Attach(context.Background(), p.PID, opts)
	if err == nil {
		t.Fatalf("threads: %+v", target.threads)
	}
	wantError(t, err, ErrExited, fmt.Sprintf("attach %d: the process has ended", p.PID))
	if err := p.Exit(t); err == nil || err.Error() != "signal: killed" {
		t.Errorf("its parent learns: %v", err)
	}
}

func TestThreadsComeAndGo(t *testing.T) { eachWay(t, testThreadsComeAndGo) }

func testThreadsComeAndGo(t *testing.T, opts Options) {
	p := start(t, "storm.c", "8")
	for i := range min(200, attaches(t)) {
		target, err := Attach(context.Background(), p.PID, opts)
		if err != nil {
			t.Fatalf("attach %d: %v", i, err)
		}
		for _, th := range target.threads {
			if th.Err != nil {
				t.Errorf("attach %d: %v", i, th.Err)
			} else if r := registersOf(t, th); !r.Known.Has(hostArch.PC) {
				t.Errorf("attach %d: thread %d has no PC", i, th.ID())
			}
		}
		target.Close()
	}
	letGo(t, p.PID)
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
}

// execve(2) ends all other threads and gives one of them the process's ID.
func TestExecMeanwhile(t *testing.T) { eachWay(t, testExecMeanwhile) }

func testExecMeanwhile(t *testing.T, opts Options) {
	p := start(t, "execs.c", "400")
	good := 0
	atEnd := func() bool {
		args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
		return err == nil && string(args) == "execs\x000\x00more\x00"
	}
	for i := 0; !atEnd(); i++ {
		target, err := Attach(context.Background(), p.PID, opts)
		if err != nil {
			if !errors.Is(err, ErrExited) && !errors.Is(err, ErrNoProcess) {
				t.Fatalf("attach %d: %v", i, err)
			}
			continue
		}
		good++
		for _, th := range target.threads {
			// A thread in execve waits for the end of the others, which are stopped.
			if th.Err != nil && !(errors.Is(th.Err, ErrNotStopped) && strings.Contains(th.Err.Error(), "state D")) {
				t.Errorf("attach %d: %v", i, th.Err)
			}
		}
		target.Close()
		if i > 20000 {
			t.Fatal("the process does not come to an end")
		}
	}
	if good == 0 { // on a busy machine they are few
		t.Error("no attach succeeded")
	}
	letGo(t, p.PID)
	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
}

// Ctrl-Z during an attach stops us when no thread is held any more.
func TestJobControl(t *testing.T) {
	p := start(t, "undisturbed.c")
	for _, role := range []string{"stop in turn", "stop all", "stop one again", "stop all again"} {
		t.Run(role, func(t *testing.T) {
			cmd := inRole(t, role, p.PID)
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &said, &said
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			// The child needs a job of its own and a parent in the same session; else the kernel
			// does not stop it.
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
			wait := func() (ws unix.WaitStatus) {
				if _, err := unix.Wait4(cmd.Process.Pid, &ws, unix.WUNTRACED, nil); err != nil {
					t.Fatal(err)
				}
				return ws
			}
			ws := wait()
			if !ws.Stopped() || ws.StopSignal() != unix.SIGTSTP {
				t.Fatalf("it was not stopped by SIGTSTP: %#x", ws)
			}
			letGo(t, p.PID)
			kill(t, cmd.Process.Pid, unix.SIGCONT)
			in.Close()
			if ws = wait(); !ws.Exited() || ws.ExitStatus() != 0 {
				t.Errorf("it has ended with %#x: %s", ws, &said)
			}
		})
	}
	if err := p.Exit(t); err != nil {
		t.Error(err)
	}
}
