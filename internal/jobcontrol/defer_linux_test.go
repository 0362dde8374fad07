package jobcontrol

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain is also the program that is stopped.
func TestMain(m *testing.M) {
	if os.Getenv("SFWALK_TEST_JOB") == "" {
		os.Exit(m.Run())
	}
	if os.Getenv("SFWALK_TEST_JOB") == "ignores" {
		signal.Ignore(syscall.SIGTSTP)
	}
	Defer()
	in := bufio.NewScanner(os.Stdin)
	for fmt.Println("ready"); in.Scan(); fmt.Println("done " + in.Text()) {
		switch in.Text() {
		case "hold":
			Hold()
		case "release":
			Release()
		}
	}
	os.Exit(0)
}

type job struct {
	*exec.Cmd
	t   *testing.T
	in  *os.File
	out *bufio.Scanner
}

func start(t *testing.T, how string) *job {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "SFWALK_TEST_JOB="+how)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = os.Stderr
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = in
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	j := &job{cmd, t, w, bufio.NewScanner(out)}
	t.Cleanup(func() { w.Close(); in.Close(); cmd.Process.Kill(); cmd.Wait() })
	j.says("ready")
	return j
}

func (j *job) says(want string) {
	j.t.Helper()
	if !j.out.Scan() || j.out.Text() != want {
		j.t.Fatalf("it says %q, want %q", j.out.Text(), want)
	}
}

func (j *job) do(what string) {
	j.t.Helper()
	fmt.Fprintln(j.in, what)
	j.says("done " + what)
}

func (j *job) signal(sig syscall.Signal) {
	j.t.Helper()
	if err := syscall.Kill(j.Process.Pid, sig); err != nil {
		j.t.Fatal(err)
	}
}

// stopped waits until it has been stopped by a signal, and lets it go on.
func (j *job) stopped(sig syscall.Signal) {
	j.t.Helper()
	var ws unix.WaitStatus
	if _, err := unix.Wait4(j.Process.Pid, &ws, unix.WUNTRACED, nil); err != nil || !ws.Stopped() || ws.StopSignal() != sig {
		j.t.Fatalf("%#x, %v: want a stop by %v", ws, err, sig)
	}
	j.signal(syscall.SIGCONT)
}

func TestDefer(t *testing.T) {
	j := start(t, "defers")
	for _, sig := range []syscall.Signal{syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGTSTP} {
		j.signal(sig)
		j.stopped(sig)
		j.do("go on")
		j.do("hold")
		j.do("hold")
		j.signal(sig)
		j.do("answer") // a stopped process does not answer
		j.do("release")
		j.do("answer")
		fmt.Fprintln(j.in, "release")
		j.stopped(sig)
		j.says("done release")
	}
}

func TestIgnored(t *testing.T) {
	j := start(t, "ignores")
	j.signal(syscall.SIGTSTP)
	j.do("answer")
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", j.Process.Pid))
	if err != nil || !strings.Contains(string(text), "State:\tS") && !strings.Contains(string(text), "State:\tR") {
		t.Errorf("%v: %s", err, text)
	}
}
