package stacks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/show"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/live"
)

// TestEveryOfSeveral: the rounds of several processes are added up, each process's by themselves.
func TestEveryOfSeveral(t *testing.T) {
	one := strconv.Itoa(commandtest.StartTarget(t, "threads.c", gdbtest.Plain, []string{"5"}).PID)
	other := strconv.Itoa(commandtest.StartTarget(t, "threads.c", gdbtest.Plain, []string{"2"}).PID)
	every := func(args ...string) string {
		t.Helper()
		out, stderr, err := commandtest.Run(append([]string{"attach", one, other, "--every", "10ms", "--count", "3", "--no-lines"}, args...)...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, stderr)
		}
		return out
	}
	samples := func(pid string, n int) string {
		return fmt.Sprintf(`Process %s\n%d samples of %d threads: (?s:.*)\n3 samples of 1 thread "threads": %s\n(?s:.*)`, pid, 3*n, n, pid)
	}
	if out := every("--merge"); !regexp.MustCompile("^"+samples(one, 5)+`\n\n`+samples(other, 2)+"$").MatchString(out) || strings.Count(out, "Process ") != 2 {
		t.Errorf("--merge:\n%s", out)
	}
	if out := every("--tree"); strings.Count(out, "Process ") != 2 || strings.Contains(out, "Round") {
		t.Errorf("--tree:\n%s", out)
	}
	docs := strings.Split(strings.TrimSpace(every("--merge", "--json")), "\n")
	if len(docs) != 2 {
		t.Fatalf("%d documents", len(docs))
	}
	for i, want := range []string{`"count":15`, `"count":6`} {
		commandtest.InPage(t, "sfwalk attach", docs[i])
		if !strings.Contains(docs[i], `"rounds":3`) || !strings.Contains(docs[i], want) {
			t.Errorf("want %s: %s", want, docs[i])
		}
	}
	file := filepath.Join(t.TempDir(), "out")
	if out := every("--merge", "-o", file); out != "" {
		t.Errorf("-o: %s", out)
	}
	if text, err := os.ReadFile(file); err != nil || strings.Count(string(text), "Process ") != 2 {
		t.Errorf("-o: %v\n%s", err, text)
	}
}

// TestEvery counts the rounds, and compares the samples that are added up with the samples of one
// round.
func TestEvery(t *testing.T) {
	p := commandtest.StartTarget(t, "threads.c", gdbtest.Plain, []string{"5"})
	pid := strconv.Itoa(p.PID)
	every := func(args ...string) string {
		t.Helper()
		out, stderr, err := commandtest.Run(append([]string{"attach", pid, "--every", "10ms", "--count", "4", "--no-lines"}, args...)...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, stderr)
		}
		return out
	}
	out := every()
	if n := len(regexp.MustCompile(`(?m)^Round [1-4] at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \w+\nThread `+pid+" ").FindAllString(out, -1)); n != 4 || strings.Count(out, "\nThread ") != 24 {
		t.Errorf("%d rounds:\n%s", n, out)
	}
	lines := strings.Split(strings.TrimSpace(every("--json")), "\n")
	var last time.Time
	for _, line := range lines {
		commandtest.InPage(t, "sfwalk attach", line)
		var doc struct {
			Taken   time.Time
			Threads []struct{ TID int }
		}
		if err := json.Unmarshal([]byte(line), &doc); err != nil || len(doc.Threads) != 6 || !doc.Taken.After(last) {
			t.Errorf("%v: %s", err, line)
		}
		last = doc.Taken
	}
	if len(lines) != 4 {
		t.Errorf("%d documents", len(lines))
	}
	if out := every("--merge"); !regexp.MustCompile(`^20 samples of 5 threads: \d+ "worker-0", (\d+ "worker-\d", ){3}\d+ "worker-4"\n#0 `).MatchString(out) || !strings.Contains(out, "\n4 samples of 1 thread \"threads\": "+pid+"\n  waits to read from fd 0: pipe") {
		t.Errorf("--merge:\n%s", out)
	}
	doc := every("--merge", "--json")
	commandtest.InPage(t, "sfwalk attach", doc)
	if !strings.Contains(doc, `"rounds":4`) || !strings.Contains(doc, `"count":20`) || strings.Count(doc, "\n") != 1 {
		t.Errorf("--merge --json: %s", doc)
	}
	once, _, err := commandtest.Run("attach", pid, "--no-lines", "--format", "folded")
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`\d+\n`).ReplaceAllStringFunc(once, func(n string) string {
		v, _ := strconv.Atoi(strings.TrimSpace(n))
		return fmt.Sprintln(4 * v)
	})
	if got := every("--format", "folded"); got != want {
		t.Errorf("--format folded:\n%s\nfour times that of one round:\n%s", got, want)
	}
	if out := every("--tree"); !regexp.MustCompile(`(?m)^20  `).MatchString(out) {
		t.Errorf("--tree:\n%s", out)
	}
}

// onRound calls do when the heading of a round is written.
type onRound struct {
	bytes.Buffer
	heading string
	do      func()
}

func (w *onRound) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(w.heading)) {
		w.do()
	}
	return w.Buffer.Write(p)
}

// TestEveryEnds ends the process, or interrupts the command, in the third round.
func TestEveryEnds(t *testing.T) {
	for _, tt := range []struct{ how, says string }{{"exit", "the process has ended after "}, {"interrupt", ""}} {
		p := commandtest.StartTarget(t, "threads.c", gdbtest.Plain, []string{"1"})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		out := &onRound{heading: "Round 3 at ", do: func() { cancel() }}
		if tt.how == "exit" {
			out.do = func() {
				p.Stdin.Close()
				gdbtest.Await(t, "the process ends", func() bool { _, err := os.Stat(fmt.Sprintf("/proc/%d", p.PID)); return err != nil })
			}
		}
		var stderr bytes.Buffer
		args := []string{"attach", strconv.Itoa(p.PID), "--every", "10ms", "--no-lines"}
		root := commandtest.New(args)
		root.SetOut(out)
		root.SetErr(&stderr)
		root.SetArgs(args)
		if err := root.ExecuteContext(ctx); err != nil || !strings.Contains(stderr.String(), tt.says) || strings.Count(out.String(), "\nThread ") < 4 || strings.Contains(out.String(), "Round 4") {
			t.Errorf("%s: %v\n%s%s", tt.how, err, stderr.String(), out.String())
		}
	}
}

// TestEveryInterrupted: when the user interrupts a walk, its round counts.
func TestEveryInterrupted(t *testing.T) {
	p := commandtest.StartTarget(t, "threads.c", gdbtest.Plain, []string{"3"})
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	flags := &report.Flags{NoLines: true, JSON: true, Sum: report.SumFlags{Merge: true}}
	m := show.NewSum(flags)
	for flags.Sum.Later = true; m.Rounds < 2; interrupt() {
		s, err := targets.Process(context.Background(), p.PID, live.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := m.AddRound(cmd, s); err != nil {
			t.Fatalf("round %d: %v", m.Rounds+1, err)
		}
	}
	var out bytes.Buffer
	if err := m.Write(&out, m.Document); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Rounds  int
		Threads []struct{ Stack int }
		Stacks  []struct{ Count int }
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	samples := 0
	for _, s := range doc.Stacks {
		samples += s.Count
	}
	if doc.Rounds != 2 || samples != 2*(3+1) || len(doc.Threads) != samples {
		t.Errorf("%s", out.String())
	}
}

func TestEveryErrors(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"1 --count 3", "--every"},
		{"1 --every 1s --count 0", "want 1 or more"},
		{"1 --every 1ms", "10ms"},
		{"1 --every 0s", "10ms"},
		{"1 --every 1s --save x", "--save"},
		{"1 --every 1s -o x", "--output"},
		{"1 2 --merge -o x", "one process"},
		{"--cgroup no/such/group", "no process is in such a group"},
		{"--cgroup=", "--cgroup"},
	} {
		_, stderr, err := commandtest.Run(append([]string{"attach"}, strings.Fields(tt.args)...)...)
		if err == nil || !strings.Contains(stderr+err.Error(), tt.want) {
			t.Errorf("%s: %v %s", tt.args, err, stderr)
		}
	}
}

// TestPictureOfProcesses has the processes around their stacks.
func TestPictureOfProcesses(t *testing.T) {
	a, b := commandtest.StartTarget(t, "threads.c", gdbtest.Plain, []string{"3"}), commandtest.StartTarget(t, "chain.c", gdbtest.Plain, nil)
	pids := []string{strconv.Itoa(a.PID), strconv.Itoa(b.PID)}
	var want string
	for i, pid := range pids {
		out, _, err := commandtest.Run("attach", pid, "--format", "folded")
		if err != nil {
			t.Fatal(err)
		}
		want += regexp.MustCompile(`(?m)^.`).ReplaceAllString(out, fmt.Sprintf("%s (%s);$0", []string{"threads", "chain"}[i], pid))
	}
	got, _, err := commandtest.Run("attach", pids[0], pids[1], "--format", "folded")
	if sorted(got) != sorted(want) || err != nil {
		t.Errorf("%v:\n%s\neach process alone:\n%s", err, got, want)
	}
	file := filepath.Join(t.TempDir(), "p.pprof")
	if _, stderr, err := commandtest.Run("attach", pids[0], pids[1], "--format", "pprof", "-o", file); err != nil {
		t.Fatal(err, stderr)
	}
	out, err := exec.Command(gdbtest.Tool(t, "go"), "tool", "pprof", "-tags", file).CombinedOutput()
	if err != nil || !regexp.MustCompile(`pid: Total 5 of 5.*\n +4 .*: `+pids[0]+`\n +1 .*: `+pids[1]+`\n`).Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
}

func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestRealCgroup puts a process into a control group of its own.
func TestRealCgroup(t *testing.T) {
	p := commandtest.StartTarget(t, "chain.c", gdbtest.Plain, nil)
	made := commandtest.InCgroup(t, p, fmt.Sprintf("sfwalk-test-%d", p.PID))
	out, _, err := commandtest.Run("attach", "--cgroup", made)
	if err != nil || strings.Count(out, "Process ") != 1 || !strings.Contains(out, fmt.Sprintf("Process %d\n", p.PID)) {
		t.Errorf("%v\n%s", err, out)
	}
}
