package stacks_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// measured runs sfwalk as a process of its own. It returns the most memory that the process had, in
// KiB, and those lines of its output, or parts of a JSON document, that keep wants.
func measured(t *testing.T, keep func(part []byte) bool, args ...string) (peak int64, parts []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"sfwalk", "measure"} {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	peakFile, err := os.Create(filepath.Join(dir, "peak"))
	if err != nil {
		t.Fatal(err)
	}
	defer peakFile.Close()
	cmd := exec.Command(filepath.Join(dir, "measure"), append([]string{filepath.Join(dir, "sfwalk")}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr, cmd.ExtraFiles = &errs, []*os.File{peakFile}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	end := byte('\n')
	if slices.Contains(args, "--json") {
		end = '}'
	}
	for r := bufio.NewReader(out); err == nil; {
		var part []byte
		if part, err = r.ReadSlice(end); keep(part) {
			parts = append(parts, string(part))
		}
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != exit.SomeEarly {
		t.Fatalf("sfwalk %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	text, _ := os.ReadFile(peakFile.Name())
	if peak, err = strconv.ParseInt(string(text), 10, 64); err != nil {
		t.Fatal(err)
	}
	return peak, parts
}

// startDeep starts a program whose stack has depth calls, with a stack limit that allows them. Then
// the program blocks or, if busy is set, works on.
func startDeep(t *testing.T, depth int, busy bool) *gdbtest.Process {
	t.Helper()
	program := gdbtest.Build(t, "recurse.c", gdbtest.Plain...)
	if out, err := exec.Command("/bin/sh", "-c", "ulimit -s 1000000").CombinedOutput(); err != nil {
		gdbtest.Cannot(t, "ulimit -s: "+string(out))
	}
	const deep = `ulimit -s 1000000 && exec "$0" "$@"`
	if busy {
		return gdbtest.StartRunning(t, "/bin/sh", "-c", deep, program, strconv.Itoa(depth), "busy")
	}
	return gdbtest.Start(t, "/bin/sh", "-c", deep, program, strconv.Itoa(depth))
}

// calls counts in n the frames of the two functions that call each other.
func callCounter(n *int) func([]byte) bool {
	return func(line []byte) bool {
		for _, call := range []string{" in even", " in odd", `"function":"even"`, `"function":"odd"`} {
			*n += bytes.Count(line, []byte(call))
		}
		return bytes.HasPrefix(line, []byte("stop:")) || bytes.Contains(line, []byte(" in main "))
	}
}

// The memory of sfwalk does not grow with the depth of a stack, because frames are printed as they
// come. A deep stack takes at most 40 MiB more than a thousand frames: what is read ahead and what
// the collector of garbage has not seen yet take 20 to 32 MiB, at half a million calls as at four.
func TestDeepStackMemory(t *testing.T) {
	const grown = 40 << 10 // KiB
	shallow := startDeep(t, 1000, false)
	least, _ := measured(t, callCounter(new(int)), "attach", strconv.Itoa(shallow.PID))
	for _, tt := range []struct {
		depth int
		busy  bool
		args  []string
	}{
		{1_000_000, false, nil}, {1_000_000, true, nil}, {150_000, false, []string{"--json"}},
		{150_000, false, []string{"--consistent"}}, {150_000, false, []string{"open"}},
		{300_000, false, []string{"core"}}, {300_000, false, []string{"remote"}},
	} {
		p := startDeep(t, tt.depth, tt.busy)
		args := append([]string{"attach", strconv.Itoa(p.PID)}, tt.args...)
		switch file := filepath.Join(t.TempDir(), "core"); {
		case slices.Contains(tt.args, "open"):
			if _, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--max-frames", "1", "--save", file); err != nil {
				t.Fatal(err)
			}
			args = []string{"open", file}
		case slices.Contains(tt.args, "core"):
			commandtest.GCore(t, p.PID, file)
			args = []string{"core", file}
		case slices.Contains(tt.args, "remote"):
			args = []string{"remote", "localhost:" + commandtest.GDBServer(t, p.PID), "--resume"}
		}
		n := 0
		peak, lines := measured(t, callCounter(&n), args...)
		if n != tt.depth || strings.HasPrefix(strings.Join(lines, ""), "stop:") {
			t.Errorf("sfwalk %s: %d calls, want %d: %q", args[0], n, tt.depth, lines)
		}
		if peak > least+grown {
			t.Errorf("sfwalk %s %q: busy %v: %d KiB for %d frames, %d for 1000", args[0], tt.args, tt.busy, peak, tt.depth, least)
		}
		t.Logf("%s %q, busy %v: %d KiB for %d frames, %d KiB for 1000", args[0], tt.args, tt.busy, peak, tt.depth, least)
		if !tt.busy {
			p.Exit(t)
		} else if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
}

// If the user gives no --max-frames, there is a bound on the frames of all threads together, and a
// message says which flag shows more.
func TestUsualFrames(t *testing.T) {
	const depth, usual = 20_000, 7000
	p := commandtest.StartTarget(t, "recurse.c", gdbtest.Plain, []string{strconv.Itoa(depth)})
	th := commandtest.Take(t, p.PID, &report.Flags{UsualFrames: usual}).Threads[0]
	if n := len(th.Frames); n < usual-report.FrameShare || n > usual+report.LeastFrames || th.Whole || th.Stop != "limit" || !strings.Contains(th.Error, "--max-frames 0 shows all") {
		t.Errorf("%d frames, want %d at most: whole: %v, %q, %q", n, usual, th.Whole, th.Stop, th.Error)
	}
	for _, flags := range []*report.Flags{{UsualFrames: usual, FramesGiven: true}, {UsualFrames: usual, MaxFrames: 2 * depth}, {}} {
		if th := commandtest.Take(t, p.PID, flags).Threads[0]; len(th.Frames) < depth || !th.Whole {
			t.Errorf("%+v: %d frames, want %d: %s", flags, len(th.Frames), depth, th.Stop)
		}
	}
	threads := commandtest.StartTarget(t, "threads.c", gdbtest.Plain, nil)
	for _, th := range commandtest.Take(t, threads.PID, &report.Flags{UsualFrames: 1}).Threads {
		if !th.Whole {
			t.Errorf("thread %d has not its %d frames: %s", th.TID, report.LeastFrames, th.Stop)
		}
	}
}
