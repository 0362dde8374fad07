package beam_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target/live"
)

// TestTasks holds processes that wait, and ones that were suspended anywhere, against what the run
// time system itself tells of them: stack, state, messages, links and name.
func TestTasks(t *testing.T) {
	dir := compiled(t)
	for _, m := range machines(t) {
		t.Run(m.name, func(t *testing.T) {
			p := m.start(t, dir, "-s", "parked", "start")
			suspended := 0
			for round := range 45 {
				write(t, p.Stdin, "\n")
				want := lines(t, p.Stdout)
				tg, err := live.Attach(context.Background(), p.PID, live.Options{})
				if err != nil {
					t.Fatal(err)
				}
				tasks, err := languagetest.Find(t, tg, decorator)[0].Runtime.(language.Tasker).Tasks(tg.Memory())
				tg.Close()
				if err != nil {
					t.Fatal(err)
				}
				suspended += holdAll(t, round, want, tasks)
				write(t, p.Stdin, "\n")
			}
			if suspended < 300 {
				t.Errorf("only %d processes were suspended", suspended)
			}
		})
	}
}

// functions writes the functions of frames.
func functions(frames []language.Frame) string {
	var list []string
	for _, f := range frames {
		list = append(list, f.Function)
	}
	return strings.Join(list, ";")
}

// holdAll holds processes against the lines of parked.erl. It returns how many of them are
// suspended.
func holdAll(t *testing.T, round int, want []string, tasks []language.Task) (suspended int) {
	t.Helper()
	got := map[string]*language.Task{}
	for i := range tasks {
		pid, _, _ := strings.Cut(tasks[i].Name, " ")
		got[pid] = &tasks[i]
	}
	if len(want) < 20 {
		t.Fatalf("only %d processes are told", len(want))
	}
	deepest := 0
	for _, line := range want {
		suspended += hold(t, round, line, got)
		deepest = max(deepest, strings.Count(line[strings.LastIndex(line, "\t"):], "parked:deep/2"))
	}
	if deepest != 41 { // parked.erl says so
		t.Errorf("a process is told with %d calls of parked:deep/2, want 41", deepest)
	}
	return suspended
}

// hold holds a process against a line of parked.erl. It returns 1 if it is suspended, else 0.
func hold(t *testing.T, round int, line string, tasks map[string]*language.Task) (suspended int) {
	t.Helper()
	f := strings.Split(line, "\t")
	if len(f) != 7 {
		t.Fatalf("%q", line)
	}
	x := tasks[f[0]]
	if x == nil {
		t.Fatalf("round %d: %s is not listed", round, f[0])
	}
	_, name, _ := strings.Cut(x.Name, " ")
	state, messages, _ := strings.Cut(x.State, ", ")
	count, _, _ := strings.Cut(messages, " ")
	if count == "" {
		count = "0"
	}
	for _, c := range []struct{ what, got, want string }{
		{"name", name, f[1]}, {"state", state, f[2]}, {"messages", count, f[3]}, {"links", strings.Join(x.Links, ","), f[4]}, {"frames", text(x.Frames), f[5]}, {"warning", x.Early, ""},
		// Each call, also of a recursion, is told by a backtrace of the run time system.
		{"functions", functions(x.Frames), f[6]},
	} {
		if c.got != c.want {
			t.Errorf("round %d: %s: %s\n\t%q, want\n\t%q", round, f[0], c.what, c.got, c.want)
		}
	}
	if f[2] == "suspended" {
		return 1
	}
	return 0
}
