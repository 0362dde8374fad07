package racket_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/racket"
	"github.com/sfwalk/sfwalk/target/live"
)

// TestTasks holds Racket's threads that wait against what Racket has told of them, while the
// program runs and they are moved.
func TestTasks(t *testing.T) {
	gdbtest.NeedSoak(t)
	s := racketCS
	s.program = "tasks.rkt"
	p := s.start(t, "")
	moved := map[uint64]bool{}
	const stops, tasks = 200, 10
	for range stops {
		var list []language.Task
		text := p.AtRandom(t, func() {
			tg, err := live.Attach(context.Background(), p.PID, live.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			list = languagetest.Tasks(t, tg, racket.Decorator{})
		})
		var want []string
		_, rest, _ := strings.Cut(text, "task\t")
		for one := range strings.SplitSeq(rest, "task\t") {
			name, frames, _ := strings.Cut(one, "\n")
			_, told := s.told(frames)
			want = append(want, strings.Join(append([]string{name}, told...), "\n"))
		}
		var got []string
		for _, task := range list {
			if task.Early != "" {
				t.Errorf("%s: %s", task.Name, task.Early)
			}
			if task.State == "running" || len(task.Frames) > 0 && task.Name == "thunk_0" {
				continue // the one that has told it
			}
			if want := map[bool]string{true: "sleeping", false: "waiting"}[task.Name == "naps"]; task.State != want {
				t.Errorf("%s is %s", task.Name, task.State)
			}
			lines := []string{task.Name}
			for _, f := range task.Frames {
				if one := s.same(language.Placed{Frame: f}); one != "" {
					lines = append(lines, one)
				}
			}
			got = append(got, strings.Join(lines, "\n"))
			moved[task.ID] = true
		}
		slices.Sort(want)
		slices.Sort(got)
		if len(want) != tasks || !slices.Equal(want, got) {
			t.Fatalf("Racket says\n%s\nand sfwalk\n%s", strings.Join(want, "\n\n"), strings.Join(got, "\n\n"))
		}
	}
	if t.Logf("%d stops, %d places of %d threads", stops, len(moved), tasks); len(moved) <= tasks {
		t.Error("no thread was moved")
	}
}
