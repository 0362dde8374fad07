package stacks_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// gdbGroups divides the threads of a process by their stacks as gdb prints them: by function, file
// and line.
func gdbGroups(t *testing.T, pid int) (groups []string, folded map[string]int) {
	t.Helper()
	by := map[string][]int{}
	folded = map[string]int{}
	for _, th := range gdbtest.Backtrace(t, pid) {
		var key, names []string
		for _, f := range th.Frames {
			key = append(key, fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line))
			names = append([]string{f.Function}, names...)
		}
		by[strings.Join(key, "\n")] = append(by[strings.Join(key, "\n")], th.TID)
		folded[strings.Join(names, ";")]++
	}
	for _, tids := range by {
		slices.Sort(tids)
		groups = append(groups, fmt.Sprint(tids))
	}
	slices.Sort(groups)
	return groups, folded
}

// TestMerge compares which threads have equal stacks with gdb's view of them.
func TestMerge(t *testing.T) {
	for _, src := range []string{"threads.c", "chain.c"} {
		p := commandtest.StartTarget(t, src, gdbtest.Plain, nil)
		want, _ := gdbGroups(t, p.PID)
		out, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--merge", "--json")
		if err != nil {
			t.Fatal(err)
		}
		commandtest.InPage(t, "sfwalk attach", out)
		var doc struct {
			Threads []struct{ TID, Stack int }
			Stacks  []struct {
				Count   int
				Threads []struct{ TID int }
				Frames  []struct{ Function string }
			}
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, s := range doc.Stacks {
			var tids []int
			for _, th := range s.Threads {
				tids = append(tids, th.TID)
			}
			slices.Sort(tids)
			got = append(got, fmt.Sprint(tids))
			if s.Count != len(tids) || len(s.Frames) == 0 || i > 0 && s.Count > doc.Stacks[i-1].Count {
				t.Errorf("%s: stack %d: count %d of %d threads, %d frames", src, i, s.Count, len(tids), len(s.Frames))
			}
			for _, th := range doc.Threads {
				if slices.Contains(tids, th.TID) != (th.Stack == i) {
					t.Errorf("%s: thread %d has stack %d, not %d", src, th.TID, th.Stack, i)
				}
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: threads with equal stacks:\n%s\ngdb:\n%s", src, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}

		if src == "threads.c" {
			text, _, _ := commandtest.Run("attach", strconv.Itoa(p.PID), "--merge")
			if !regexp.MustCompile(`^200 threads: \d+ "worker-0", (\d+ "worker-\d+", ){10}\d+ "worker-11" and 188 more\n#0  `).MatchString(text) || strings.Count(text, "\n\n") != 1 {
				t.Errorf("text\n%s", text)
			}
			text, _, _ = commandtest.Run("attach", strconv.Itoa(p.PID), "--merge", "--max-frames", "2", "--tid", fmt.Sprintf("%d,%d", doc.Stacks[0].Threads[0].TID, doc.Stacks[0].Threads[1].TID))
			if !strings.HasPrefix(text, "2 threads: ") || !strings.Contains(text, "(more frames follow)") {
				t.Errorf("--max-frames 2, two threads:\n%s", text)
			}
		}
	}
}

// TestTree adds up the numbers in the tree.
func TestTree(t *testing.T) {
	p := commandtest.StartTarget(t, "threads.c", gdbtest.Plain, []string{"20"})
	text, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--tree")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`(?m)^20  (__GI___)?clone3?`, `(?m)^20  (  )*wait_forever \(…\) at .*threads\.c:\d+$`, `(?m)^ 1  (  )*main \(…\) at .*threads\.c:\d+$`} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	out, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--tree", "--json")
	if err != nil {
		t.Fatal(err)
	}
	commandtest.InPage(t, "sfwalk attach", out)
	var doc struct {
		Threads []struct{ TID int }
		Tree    []struct{ Depth, Count, Self int }
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	self, roots := 0, 0
	for _, n := range doc.Tree {
		self += n.Self
		if n.Depth == 0 {
			roots += n.Count
		}
	}
	if len(doc.Threads) != 21 || self != 21 || roots != 21 {
		t.Errorf("%d threads, %d at roots, %d at leaves; want 21", len(doc.Threads), roots, self)
	}
}

// TestPictures has Go's pprof read the profile, and compares the folded stacks with gdb's.
func TestPictures(t *testing.T) {
	p := commandtest.StartTarget(t, "threads.c", gdbtest.Plain, []string{"20"})
	pid := strconv.Itoa(p.PID)
	path := filepath.Join(t.TempDir(), "x")
	if out, _, err := commandtest.Run("attach", pid, "--format", "pprof", "-o", path); err != nil || out != "" {
		t.Fatalf("error %v, output %q", err, out)
	}
	traces, err := exec.Command("go", "tool", "pprof", "-symbolize=none", "-traces", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, th := range gdbtest.Backtrace(t, p.PID) {
		var names []string
		for _, f := range th.Frames {
			names = append(names, regexp.QuoteMeta(f.Function))
		}
		want := fmt.Sprintf(`(?m)^ +tid: +%d\n +1 +%s`, th.TID, strings.Join(names, `( \(inline\))?\n +`))
		if !regexp.MustCompile(want).Match(traces) {
			t.Errorf("no %s in\n%s", want, traces)
		}
	}
	raw, err := exec.Command("go", "tool", "pprof", "-symbolize=none", "-raw", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	notes, err := exec.Command(gdbtest.Tool(t, "readelf"), "-n", gdbtest.Build(t, "threads.c", gdbtest.Plain...)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if id := regexp.MustCompile(`Build ID: (\w+)`).FindSubmatch(notes); id != nil && !strings.Contains(string(raw), string(id[1])) {
		t.Errorf("no build ID %s in\n%s", id[1], raw)
	}

	out, _, err := commandtest.Run("attach", pid, "--format", "folded")
	if err != nil {
		t.Fatal(err)
	}
	_, want := gdbGroups(t, p.PID)
	got := map[string]int{}
	for line := range strings.Lines(out) {
		i := strings.LastIndexByte(line, ' ')
		n, err := strconv.Atoi(strings.TrimSpace(line[i:]))
		if err != nil {
			t.Fatalf("line %q", line)
		}
		got[line[:i]] += n
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("folded stacks %v\ngdb: %v", got, want)
	}
	for format, begin := range map[string]string{"speedscope": `{"$schema":"https://www.speedscope.app/file-format-schema.json"`, "flamegraph": "<?xml"} {
		if out, _, err := commandtest.Run("attach", pid, "--format", format); err != nil || !strings.HasPrefix(out, begin) {
			t.Errorf("--format %s: error %v, output %.100q", format, err, out)
		} else if format == "flamegraph" {
			for _, want := range []string{`<title>main \(1 thread, [\d.]+%; program\)`, `<title>\S*start_thread \(\d+ threads?, [\d.]+%; library\)`, `<text id="title" [^>]*>threads\S*, \d+ threads</text>`} {
				if !regexp.MustCompile(want).MatchString(out) {
					t.Errorf("no %s in\n%s", want, out)
				}
			}
		}
	}
}

// TestSumUsage looks at flags that contradict each other.
func TestSumUsage(t *testing.T) {
	for _, args := range [][]string{
		{"attach", "1", "--merge", "--tree"}, {"attach", "1", "--merge", "--args"}, {"attach", "1", "--tree", "--registers"},
		{"attach", "1", "--format", "pprof", "--json"}, {"attach", "1", "--format", "minidump"}, {"attach", "1", "--format", "png"},
		{"attach", "1", "--format", "pprof", "--save", "x"}, {"core", "x", "--format", "minidump"}, {"minidump", "x", "--format", "breakpad", "--merge"},
		{"minidump", t.TempDir(), "--merge"}, {"remote", "x:1", "--format", "core"},
	} {
		if _, _, err := commandtest.Run(args...); !isUsage(err) {
			t.Errorf("%q: error %v, want a usage error", args, err)
		}
	}
}

func isUsage(err error) bool {
	_, ok := err.(exit.Usage)
	return ok
}
