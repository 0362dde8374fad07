package stacks_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// lister is a run time of the program of toylanguage.c with one task, of which it notes whether the
// process is held as it is read.
type lister struct {
	hostile
	pid  int
	held []bool // of each call
	wait time.Duration
}

// Find implements [language.Decorator].
func (l *lister) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	found, err := toy{}.Find(p, m)
	if len(found) == 0 {
		return nil, err
	}
	return []language.Runtime{l}, err
}

// Tasks implements [language.Tasker].
func (l *lister) Tasks(target.Memory) ([]language.Task, error) {
	time.Sleep(l.wait)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", l.pid))
	if err != nil {
		return nil, err
	}
	l.held = append(l.held, strings.Contains(string(status), "\nState:\tt "))
	return []language.Task{{ID: 1, Kind: "toy task", Name: "one", State: "waiting"}}, nil
}

// TestTasksOfOneMoment: tasks are read while the process is held, but if that takes long: then it
// is not held at all, and a warning says that they are of different moments.
func TestTasksOfOneMoment(t *testing.T) {
	pid, _ := toyTarget(t)
	for _, wait := range []time.Duration{0, 150 * time.Millisecond} {
		l := &lister{pid: pid, wait: wait}
		s, err := targets.Process(t.Context(), pid, live.Options{Timeout: 30 * time.Second, Consistent: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		doc, err := report.TasksOf(s, &report.Flags{Decorators: []language.Decorator{l}})
		if err != nil || len(doc.Tasks) != 1 || doc.Tasks[0].Name != "one" {
			t.Fatalf("%+v, %v", doc, err)
		}
		warned := strings.Contains(strings.Join(doc.Warnings, "\n"), "different moments")
		last := l.held[len(l.held)-1]
		switch { // on a busy machine, a short list takes long, too
		case last == warned:
			t.Errorf("%v: held: %v, warnings %q", wait, l.held, doc.Warnings)
		case wait > 0 && !warned:
			t.Errorf("a list that takes %v is of one moment: %v", wait, l.held)
		}
		for _, held := range l.held[:len(l.held)-1] {
			if held {
				t.Errorf("%v: held: %v", wait, l.held)
			}
		}
	}
}
