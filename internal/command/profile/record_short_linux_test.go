package profile

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// children is the processors' time of processes that this one has started and that have ended.
func children(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A server has a thread for each request, which takes a millisecond. The samples stand for all the
// time that the kernel says it took, and functions have their shares.
func TestRecordRequests(t *testing.T) {
	commandtest.CanRecord(t)
	gdbtest.NeedRoot(t)
	exe := gdbtest.Build(t, "requests.c", "-O2", "-pthread")
	out := filepath.Join(t.TempDir(), "p.folded")
	before := children(t)
	_, said, err := commandtest.Run("record", "-F", "499", "-o", out, "--", exe, "2", "4")
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	took := children(t) - before
	all, first, second := foldedCount(t, out, ""), foldedCount(t, out, ";one_third$"), foldedCount(t, out, ";two_thirds$")
	lost := 0 // some may be of other processes
	if m := regexp.MustCompile(`; (\d+) were lost`).FindStringSubmatch(said); m != nil {
		lost, _ = strconv.Atoi(m[1])
	}
	stand := func(samples int) time.Duration { return time.Duration(samples) * time.Second / 499 }
	// The first requests are not sampled: one by one, no thread runs for the time between two
	// samples.
	if stand(all+lost) < took/2 || stand(all) > took*11/10 {
		t.Errorf("the samples stand for %v of %v, and %d were lost\n%s", stand(all), took, lost, said)
	}
	if share := float64(first) / float64(first+second); math.Abs(share-1./3) > 0.08 {
		t.Errorf("one_third has %.0f %% of %d samples", 100*share, first+second)
	}
	if strings.Contains(said, "first sample") || !strings.Contains(said, "; sampled by processor, for there were many threads") {
		t.Errorf("processors are sampled, and it says %s", said)
	}
}

// A user who may not sample processors is told what is in no sample, and how much it is of the time
// that the kernel says the process took.
func TestRecordRequestsAsNobody(t *testing.T) {
	commandtest.CanRecord(t)
	gdbtest.NeedRoot(t)
	if text, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid"); strings.TrimSpace(string(text)) > "2" || strings.TrimSpace(string(text)) < "1" {
		gdbtest.Cannot(t, "kernel.perf_event_paranoid is "+strings.TrimSpace(string(text)))
	}
	program, err := os.Open(filepath.Join(commandtest.Install(t, "sfwalk"), "sfwalk"))
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	exe, err := os.Open(gdbtest.Build(t, "requests.c", "-O2", "-pthread"))
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	// The folder is root's alone.
	cmd := exec.Command("/proc/self/fd/3", "record", "-o", "-", "--format", "folded", "--", "/proc/self/fd/4", "1", "2")
	cmd.Args[0] = "sfwalk"
	cmd.ExtraFiles, cmd.Dir, cmd.SysProcAttr = []*os.File{program, exe}, "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	var text strings.Builder
	cmd.Stderr = &text
	before := children(t)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &text)
	}
	took, said := children(t)-before, text.String()
	m := regexp.MustCompile(`; \d+ threads ended before the first sample; [\d.]+ of ([\d.]+) s of processors' time are in no sample, for threads ran too shortly: .*as root`).FindStringSubmatch(said)
	if m == nil {
		t.Fatalf("nothing is said of what is missing: %s", said)
	}
	if strings.Contains(said, "sampled by processor") {
		t.Errorf("who may not sample processors has done so: %s", said)
	}
	// That of sfwalk is in what the kernel says of children.
	if seconds, err := strconv.ParseFloat(m[1], 64); err != nil || seconds > took.Seconds()*1.1 || seconds < 1.5 {
		t.Errorf("%v, %v, the kernel says %v: %s", seconds, err, took, said)
	}
}

// Where there are many threads, processors are sampled from the beginning on: threads that each
// take little are in the profile together.
func TestRecordSixHundredThreads(t *testing.T) {
	commandtest.CanRecord(t)
	gdbtest.NeedRoot(t)
	p := gdbtest.Start(t, gdbtest.Build(t, "threads.c", gdbtest.Plain...), "600")
	r := exec.Command(filepath.Join(commandtest.Install(t, "sfwalk"), "sfwalk"), "record", strconv.Itoa(p.PID), "-o", filepath.Join(t.TempDir(), "p.folded"))
	var said strings.Builder
	r.Stderr = &said
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Process.Kill(); r.Wait() })
	gdbtest.Await(t, "sfwalk records", func() bool {
		return len(links(r.Process.Pid, "anon_inode:[pidfd]")) > 0 && len(links(r.Process.Pid, "anon_inode:[perf_event]")) > 0
	})
	events := len(links(r.Process.Pid, "anon_inode:[perf_event]"))
	r.Process.Signal(syscall.SIGINT)
	if err := r.Wait(); err != nil || events > 600 || !strings.Contains(said.String(), "; sampled by processor") {
		t.Errorf("%d events, %v, %s", events, err, &said)
	}
}
