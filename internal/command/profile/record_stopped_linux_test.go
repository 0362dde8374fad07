package profile

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// recording is a running sfwalk record.
type recording struct {
	*exec.Cmd
	out  string // the file of the profile, folded stacks
	said bytes.Buffer
}

// startRecording starts to record a process, and waits until all of its threads are sampled on each
// processor.
func startRecording(t *testing.T, pid int, flags ...string) *recording {
	t.Helper()
	r := &recording{out: filepath.Join(t.TempDir(), "p.folded")}
	r.Cmd = exec.Command(filepath.Join(commandtest.Install(t, "sfwalk"), "sfwalk"), append([]string{"record", strconv.Itoa(pid), "-o", r.out}, flags...)...)
	r.Stderr = &r.said
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Process.Kill(); r.Wait() })
	threads := len(gdbtest.Glob(t, fmt.Sprintf("/proc/%d/task/*", pid)))
	gdbtest.Await(t, "sfwalk records", func() bool {
		return len(links(r.Process.Pid, "anon_inode:[perf_event]")) >= threads*runtime.NumCPU()
	})
	return r
}

// links returns which files of a process are that one.
func links(pid int, want string) (list []string) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, l := range files {
		if to, _ := os.Readlink(l); to == want {
			list = append(list, l)
		}
	}
	return list
}

// signal sends a signal to the recorder.
func (r *recording) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := r.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// state returns the state of a process, as ps(1) shows it.
func state(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return rest[:1]
}

// While the recorder is stopped, the rings overflow: the process runs on, and what was lost is
// counted and said.
func TestRecordOverflow(t *testing.T) {
	commandtest.CanRecord(t)
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "2", "5")
	r := startRecording(t, p.PID, "-F", "9999")
	// The events are enabled when all are open. Then samples keep a processor busy.
	opened := gdbtest.Ran(t, r.Process.Pid)
	gdbtest.Await(t, "sfwalk takes samples", func() bool { return gdbtest.Ran(t, r.Process.Pid) > opened+100*time.Millisecond })
	r.signal(t, syscall.SIGSTOP)
	gdbtest.Await(t, "sfwalk is stopped", func() bool { return state(t, r.Process.Pid) == "T" })
	before := gdbtest.Ran(t, p.PID)
	gdbtest.Await(t, "the process runs for a while", func() bool { return gdbtest.Ran(t, p.PID) > before+time.Second })
	r.signal(t, syscall.SIGCONT)
	r.signal(t, syscall.SIGINT)
	if err := r.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, &r.said)
	}
	m := regexp.MustCompile(`^(\d+) samples .*; (\d+) were lost: the machine was too busy`).FindStringSubmatch(r.said.String())
	if m == nil {
		t.Fatalf("nothing is said of what was lost: %s", &r.said)
	}
	taken, _ := strconv.Atoi(m[1])
	lost, _ := strconv.Atoi(m[2])
	// A second has 10,000 samples of 60 KiB, and the rings 8 MiB each.
	if n := foldedCount(t, r.out, ""); n != taken || taken == 0 || lost < 1000 {
		t.Errorf("%d samples are in the profile: %s", n, &r.said)
	}
	if got := state(t, p.PID); got != "R" && got != "S" {
		t.Errorf("the process is in state %s", got)
	}
}

// A process that is stopped stays so while it is recorded, by whatever means, and goes on when it
// is told to.
func TestRecordStopped(t *testing.T) {
	commandtest.CanRecord(t)
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "1", "5")
	gdbtest.Await(t, "its thread computes", func() bool { return gdbtest.Ran(t, p.PID) > 50*time.Millisecond })
	if err := syscall.Kill(p.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	gdbtest.Await(t, "the process is stopped", func() bool { return state(t, p.PID) == "T" })
	for _, flags := range [][]string{{"-F", "999"}, {"--wall"}} {
		out := filepath.Join(t.TempDir(), "p.folded")
		_, said, err := commandtest.Run(append([]string{"record", strconv.Itoa(p.PID), "-d", "300ms", "-o", out}, flags...)...)
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		n, wall := foldedCount(t, out, ";run;(deeper|half|three_tenths|one_fifth)"), flags[0] == "--wall"
		if wall && n == 0 || !wall && n > 0 {
			t.Errorf("%v: %d samples: %s", flags, n, said)
		}
		if got := state(t, p.PID); got != "T" {
			t.Errorf("%v: the process is in state %s", flags, got)
		}
	}
	before := gdbtest.Ran(t, p.PID)
	if err := syscall.Kill(p.PID, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	gdbtest.Await(t, "the process runs on", func() bool { return gdbtest.Ran(t, p.PID) > before+50*time.Millisecond })
}

// When the process is killed, its profile is written.
func TestRecordEnds(t *testing.T) {
	commandtest.CanRecord(t)
	for _, flag := range []string{"--no-cache", "--wall"} {
		p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "1", "5")
		r := &recording{}
		if flag == "--wall" {
			r.out = filepath.Join(t.TempDir(), "p.folded")
			r.Cmd = exec.Command(filepath.Join(commandtest.Install(t, "sfwalk"), "sfwalk"), "record", strconv.Itoa(p.PID), flag, "-F", "200", "-o", r.out)
			r.Stderr = &r.said
			if err := r.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { r.Process.Kill(); r.Wait() })
			gdbtest.Await(t, "sfwalk reads the process", func() bool {
				return len(links(r.Process.Pid, fmt.Sprintf("/proc/%d/mem", p.PID))) > 0
			})
		} else {
			r = startRecording(t, p.PID, flag, "-F", "999")
		}
		before := gdbtest.Ran(t, p.PID)
		gdbtest.Await(t, "the process runs", func() bool { return gdbtest.Ran(t, p.PID) > before+300*time.Millisecond })
		if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if err := r.Wait(); err != nil {
			t.Fatalf("%s: %v\n%s", flag, err, &r.said)
		}
		if n := foldedCount(t, r.out, ";run;(deeper|half|three_tenths|one_fifth)"); n == 0 {
			t.Errorf("%s: no sample has names: %s", flag, &r.said)
		}
	}
}
