package python_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/python"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// TestTasks holds the tasks of asyncio against what a program says of its own: their names, the
// frames of their coroutines, and which one waits for which.
func TestTasks(t *testing.T) {
	for _, interpreter := range pythons(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) { holdTasks(t, interpreter, "testdata/tasks.py") })
	}
}

// TestTrioTasks does so with trio.
func TestTrioTasks(t *testing.T) {
	for _, interpreter := range pythonsWith(t, "trio") {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			// The task that runs what others send does not wait while the program tells this.
			holdTasks(t, interpreter, "testdata/trio_tasks.py", "<TrioToken.run_sync_soon task>")
		})
	}
}

// TestGreenlets does so with greenlets that do not run.
func TestGreenlets(t *testing.T) {
	for _, interpreter := range pythonsWith(t, "greenlet") {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) { holdTasks(t, interpreter, "testdata/greenlets.py") })
	}
}

// TestGevent does so with gevent's greenlets, but the one that tells them.
func TestGevent(t *testing.T) {
	for _, interpreter := range pythonsWith(t, "gevent") {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			holdTasks(t, interpreter, "testdata/gevent_tasks.py", "main")
		})
	}
}

// TestManyTasks bounds how often memory is read for tasks: each time is a system call, and the
// process is held meanwhile.
func TestManyTasks(t *testing.T) {
	for _, interpreter := range pythons(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			p := gdbtest.StartRunning(t, interpreter, "testdata/many_tasks.py")
			p.Rest(t)
			tg, tasker := taskerOf(t, p.PID)
			m := &counted{Memory: tg.Now()}
			list, err := tasker.Tasks(m)
			if err != nil || len(list) != 2001 {
				t.Fatalf("%d tasks, %v", len(list), err)
			}
			if m.reads > len(list) {
				t.Errorf("memory is read %d times for %d tasks", m.reads, len(list))
			}
		})
	}
}

// counted counts how often memory is read.
type counted struct {
	target.Memory
	reads int
}

func (m *counted) ReadMemory(addr uint64, p []byte) (int, error) {
	m.reads++
	return m.Memory.ReadMemory(addr, p)
}

// pythonsWith returns the interpreters of this machine that have a module.
func pythonsWith(t *testing.T, module string) (list []string) {
	t.Helper()
	for _, interpreter := range pythons(t) {
		if exec.Command(interpreter, "-c", "import "+module).Run() == nil {
			list = append(list, interpreter)
		}
	}
	if len(list) == 0 {
		gdbtest.Missing(t, "Python's module "+module)
	}
	return list
}

// holdTasks holds the tasks of a program against what it says of them, but for tasks of some names.
func holdTasks(t *testing.T, interpreter, program string, but ...string) {
	program, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	p := gdbtest.StartRunning(t, interpreter, program)
	line, err := p.Stdout.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	p.Rest(t)
	var told [][]any
	if err := json.Unmarshal([]byte(line), &told); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, x := range told {
		text := fmt.Sprint(x[0])
		if slices.Contains(but, text) {
			continue
		}
		for _, f := range x[1].([]any) {
			f := f.([]any)
			text += fmt.Sprintf("\n%v at %v:%v", f[0], f[1], f[2])
		}
		if x[2] != nil {
			text += fmt.Sprintf("\nawaited by %v", x[2])
		}
		if len(x) > 4 && x[4] != nil {
			y := x[4].([]any)
			text += fmt.Sprintf("\nwaits for %v %.0f %v", y[0], y[1], y[2])
		}
		want = append(want, fmt.Sprintf("%s\nof thread %.0f", text, x[3]))
	}
	var got []string
	for _, x := range tasks(t, p.PID) {
		text := x.task.Name
		if slices.Contains(but, text) {
			continue
		}
		for _, f := range x.task.Frames {
			text += fmt.Sprintf("\n%s at %s:%d", f.Function, f.File, f.Line)
		}
		for _, name := range x.awaitedBy {
			text += "\nawaited by " + name
		}
		for _, y := range x.task.Waits {
			text += fmt.Sprintf("\nwaits for %s %d %s", y.Kind, y.Address, y.Name)
		}
		if x.task.State != "waiting" || x.task.Early != "" {
			t.Errorf("%+v", x.task)
		}
		got = append(got, fmt.Sprintf("%s\nof thread %d", text, x.task.Thread))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(want) < 10 {
		t.Errorf("got:\n%s\n\nthe program says:\n%s", strings.Join(got, "\n\n"), strings.Join(want, "\n\n"))
	}
}

type task struct {
	task      language.Task
	awaitedBy []string
}

// tasks lists the tasks of a process.
func tasks(t *testing.T, pid int) (list []task) {
	t.Helper()
	tg, tasker := taskerOf(t, pid)
	found, err := tasker.Tasks(tg.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range found {
		var names []string
		for _, id := range x.AwaitedBy {
			for _, y := range found {
				if y.ID == id {
					names = append(names, y.Name)
				}
			}
		}
		list = append(list, task{x, names})
	}
	return list
}

// taskerOf attaches to a process for the time of a test, and returns Python's run time in it.
func taskerOf(t *testing.T, pid int) (*live.Target, language.Tasker) {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{Consistent: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	runtimes := languagetest.Find(t, tg, python.Decorator{})
	if len(runtimes) != 1 {
		t.Fatalf("%d run times", len(runtimes))
	}
	return tg, runtimes[0].Runtime.(language.Tasker)
}
