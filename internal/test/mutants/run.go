//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/procdir"
)

// The bounds of SECURITY.md.
const (
	mostMemory = 256 << 20
	mostCPU    = 10 * time.Second
	// mostOutput is 64 MiB of stacks, as much as the input has, and what is around the names.
	mostOutput = 96 << 20
	// mostWait bounds the time of a run that takes no CPU time. The machine may be busy.
	mostWait = 3 * time.Minute
	// endCPU and endMemory end a run that is beyond the bounds already.
	endCPU    = 20 // seconds
	endMemory = 1 << 30
)

// outcome is what a run of the command has done.
type outcome struct {
	code   int
	cpu    time.Duration
	memory int64  // the most, bytes
	output int64  // bytes
	broken string // the bound, or promise, that it has broken; "" if it kept all
	said   []byte // the beginning of standard error
}

// run runs a command in a folder, and checks it against the bounds. The output is text.
func run(argv, env []string, dir string) outcome {
	ctx, cancel := context.WithTimeout(context.Background(), mostWait)
	defer cancel()
	stdout, stderr := &checked{}, &checked{}
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, env, stdout, stderr
	c.WaitDelay = 10 * time.Second
	// The kernel begins to count the most memory of a new process at its parent's.
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	if err := c.Start(); err != nil {
		return outcome{broken: err.Error()}
	}
	unix.Prlimit(c.Process.Pid, unix.RLIMIT_CPU, &unix.Rlimit{Cur: endCPU, Max: endCPU}, nil)
	unix.Prlimit(c.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 4 << 30, Max: 4 << 30}, nil)
	unix.Prlimit(c.Process.Pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	done := make(chan struct{})
	go endLarge(c.Process.Pid, done)
	err := c.Wait()
	close(done)
	x := outcome{code: c.ProcessState.ExitCode(), output: stdout.n + stderr.n, said: stderr.head}
	usage := c.ProcessState.SysUsage().(*syscall.Rusage)
	x.memory, x.cpu = int64(usage.Maxrss)<<10, c.ProcessState.UserTime()+c.ProcessState.SystemTime()
	var exit *exec.ExitError
	status, _ := c.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case ctx.Err() != nil:
		x.broken = fmt.Sprintf("it has not ended after %v", mostWait)
	case err != nil && !errors.As(err, &exit):
		x.broken = err.Error()
	default:
		x.judge(status, stdout.bad, stderr.bad)
	}
	return x
}

// judge notes what a command that has ended has broken. The texts say what is wrong with its
// outputs, or are empty.
func (x *outcome) judge(status syscall.WaitStatus, stdout, stderr string) {
	switch {
	case bytes.Contains(x.said, []byte("\ngoroutine ")) || bytes.Contains(x.said, []byte("fatal error: ")) || bytes.Contains(x.said, []byte("panic: ")):
		x.broken = "it panics"
	case x.memory > mostMemory:
		x.broken = fmt.Sprintf("%d MB of memory", x.memory>>20)
	case x.cpu > mostCPU:
		x.broken = fmt.Sprintf("%v of CPU time", x.cpu)
	case status.Signaled():
		x.broken = fmt.Sprintf("it died of %v", status.Signal())
	case x.code < 0 || x.code > 3:
		x.broken = fmt.Sprintf("its exit code is %d", x.code)
	case x.output > mostOutput:
		x.broken = fmt.Sprintf("%d MB of output", x.output>>20)
	case stdout != "":
		x.broken = "standard output has " + stdout
	case stderr != "":
		x.broken = "standard error has " + stderr
	}
}

// endLarge kills a process that takes so much memory that the machine may suffer.
func endLarge(pid int, done chan struct{}) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if procdir.Resident(pid) > endMemory {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// checked looks at an output, and drops it.
type checked struct {
	n    int64
	head []byte
	rest []byte // the beginning of a character
	bad  string
}

const mostHead = 64 << 10

// Write implements [io.Writer].
func (c *checked) Write(b []byte) (int, error) {
	n := len(b)
	c.n += int64(n)
	if room := mostHead - len(c.head); room > 0 {
		c.head = append(c.head, b[:min(room, n)]...)
	}
	if c.bad != "" {
		return n, nil
	}
	b = append(c.rest, b...)
	for len(b) > 0 && utf8.FullRune(b) {
		r, size := utf8.DecodeRune(b)
		if size == 1 && r == utf8.RuneError {
			c.bad = fmt.Sprintf("the byte %#x", b[0])
			return n, nil
		}
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
			c.bad = fmt.Sprintf("the character %U", r)
			return n, nil
		}
		b = b[size:]
	}
	c.rest = append(c.rest[:0], b...)
	return n, nil
}
