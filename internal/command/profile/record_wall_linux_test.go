package profile

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Threads that run and threads that wait are sampled: each as often as the others, for as long as
// the recording takes. The stack of the thread that waits is gdb's.
func TestRecordWall(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "2", "5")
	var want []uint64 // where each caller's call is
	for _, f := range gdbtest.Backtrace(t, p.PID)[0].Frames {
		if !f.Physical() {
			continue
		}
		if len(want) > 0 {
			f.PC--
		}
		want = append(want, f.PC)
	}
	out := filepath.Join(t.TempDir(), "p.pb.gz")
	if _, said, err := commandtest.Run("record", strconv.Itoa(p.PID), "--wall", "-d", "4s", "-o", out); err != nil || !strings.Contains(said, "; stopped ") {
		t.Fatalf("%v\n%s", err, said)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	x, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	samples, spent := map[int64]int64{}, map[int64]time.Duration{}
	waits, computes := int64(0), int64(0)
	for _, s := range x.Sample {
		tid := s.NumLabel["tid"][0]
		samples[tid] += s.Value[0]
		spent[tid] += time.Duration(s.Value[1])
		var names []string
		var at []uint64
		for _, l := range s.Location {
			at = append(at, l.Address)
			for _, line := range l.Line { // inlined calls come before the function that they are in
				names = append(names, line.Function.Name)
			}
		}
		switch state := s.Label["state"]; {
		case tid == int64(p.PID):
			if slices.Equal(at, want) && slices.Equal(state, []string{"sleeping"}) {
				waits += s.Value[0]
			}
		case slices.Contains(names, "deeper") && slices.Equal(state, []string{"running"}):
			computes += s.Value[0]
		}
	}
	t.Logf("%v %v; %d wait, %d compute", samples, spent, waits, computes)
	main := samples[int64(p.PID)]
	if len(samples) != 3 || main < 2 {
		t.Fatalf("samples of each thread: %v", samples)
	}
	for tid, n := range samples {
		if n != main || spent[tid] != spent[int64(p.PID)] {
			t.Errorf("thread %d: %d samples for %v, want %d for %v", tid, n, spent[tid], main, spent[int64(p.PID)])
		}
	}
	// A sample counts for the time since the one before; the first, for a twentieth of a second.
	if all := spent[int64(p.PID)]; all > time.Duration(x.DurationNanos)+time.Second/20 {
		t.Errorf("samples count for %v, in a recording of %v", all, time.Duration(x.DurationNanos))
	}
	// On a busy machine, a thread that was stopped needs some time until it waits again.
	if waits < main*8/10 || computes < 2*main*8/10 {
		t.Errorf("of %d samples of each thread, %d of the main thread wait in %#x, and %d of the others compute\n%v", main, waits, want, computes, x)
	}
	if x.SampleType[1].Type != "wall" || x.PeriodType.Type != "wall" || x.Period != int64(time.Second)/20 {
		t.Errorf("%v", x.SampleType)
	}
}

// A command is recorded with what it begins, and gives its exit code. A program that another one
// becomes is walked by its own tables.
func TestRecordWallCommand(t *testing.T) {
	exe := gdbtest.Build(t, "shares.c", "-O2", "-pthread")
	out := filepath.Join(t.TempDir(), "p.folded")
	script := fmt.Sprintf("%[1]s 1 3 2 >&2 & %[1]s 1 5 1 >&2; wait; exec %[1]s 1 7 1 >&2", exe)
	if _, said, err := commandtest.Run("record", "--wall", "-F", "100", "-o", out, "--", "sh", "-c", script); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, depth := range []int{3, 7} { // the one of depth 5 may have ended before its parent was looked at
		found := false
		for l := range strings.Lines(string(text)) {
			found = found || strings.HasPrefix(l, "shares [") && strings.Contains(l, ";run;"+strings.Repeat("deeper;", depth+1)) && !strings.Contains(l, strings.Repeat("deeper;", depth+2))
		}
		if !found {
			t.Errorf("no stack of depth %d\n%s", depth, text)
		}
	}
}

// When sfwalk is killed, no thread stays stopped or traced.
func TestRecordWallKilled(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "2", "5")
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		out := filepath.Join(t.TempDir(), "p.folded")
		r := exec.Command(filepath.Join(commandtest.Install(t, "sfwalk"), "sfwalk"), "record", strconv.Itoa(p.PID), "--wall", "-F", "1000", "-o", out)
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Process.Kill(); r.Wait() })
		gdbtest.Await(t, "sfwalk reads the process", func() bool {
			links, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.Process.Pid))
			for _, l := range links {
				if to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", r.Process.Pid, l.Name())); to == fmt.Sprintf("/proc/%d/mem", p.PID) {
					return true
				}
			}
			return false
		})
		if err := r.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		r.Wait()
		if _, err := os.Stat(out); (err == nil) != (signal == syscall.SIGINT) {
			t.Errorf("%v: the profile: %v", signal, err)
		}
		gdbtest.Await(t, "no thread is traced", func() bool {
			for _, file := range gdbtest.Glob(t, fmt.Sprintf("/proc/%d/task/*/status", p.PID)) {
				status, err := os.ReadFile(file)
				if err != nil || !strings.Contains(string(status), "TracerPid:\t0\n") || strings.Contains(string(status), "(stopped)") {
					return false
				}
			}
			return true
		})
		before := gdbtest.Ran(t, p.PID)
		gdbtest.Await(t, "the process runs on", func() bool { return gdbtest.Ran(t, p.PID) > before+50*time.Millisecond })
	}
}
