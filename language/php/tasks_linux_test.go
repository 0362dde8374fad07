package php_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/php"
	"github.com/sfwalk/sfwalk/target/live"
)

// TestTasks holds fibers and generators against what PHP's reflection says of each.
func TestTasks(t *testing.T) {
	gdbtest.Later(t, "php")
	interpreter := gdbtest.Tool(t, "php")
	if exec.Command(interpreter, "-r", `exit(class_exists("Fiber") ? 0 : 1);`).Run() != nil {
		gdbtest.Cannot(t, "this PHP has no fibers")
	}
	p := gdbtest.StartRunning(t, interpreter, filepath.Join("testdata", "tasks.php"))
	want := map[string][]expected{}
	text, task := "", ""
	for {
		line, err := p.Stdout.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, "\t") {
			text += line
			continue
		}
		if task != "" {
			want[task] = reflected(t, task, text)
		}
		if text, task = "", strings.TrimSpace(line); task == "end" {
			break
		}
	}
	p.Rest(t)
	tg, err := live.Attach(context.Background(), p.PID, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	numbers := map[uint64]string{}
	var list []language.Task
	for _, r := range languagetest.Find(t, tg, php.Decorator{}) {
		found, err := r.Runtime.(language.Tasker).Tasks(tg.Memory())
		if err != nil {
			t.Error(err)
		}
		list = append(list, found...)
	}
	for _, task := range list {
		numbers[task.ID] = fmt.Sprintf("%s %d", task.Kind, task.Number)
	}
	awaits := 0
	for _, task := range list {
		frames := want[numbers[task.ID]]
		delete(want, numbers[task.ID])
		if len(frames) != len(task.Frames) || task.State != "waiting" || task.Early != "" {
			t.Errorf("%+v, PHP says: %+v", task, frames)
			continue
		}
		for i := range frames {
			if !same(&language.Placed{Frame: task.Frames[i]}, &frames[i]) {
				t.Errorf("%s, frame %d: %+v, PHP says: %+v", numbers[task.ID], i, task.Frames[i], frames[i])
			}
		}
		for _, by := range task.AwaitedBy {
			awaits++
			if !strings.Contains(task.Frames[0].Function, "counting") || !strings.HasPrefix(numbers[by], "generator ") {
				t.Errorf("%+v is awaited by %s", task, numbers[by])
			}
		}
	}
	if len(want) > 0 || awaits != 1 {
		t.Errorf("missing: %v; %d tasks are awaited", want, awaits)
	}
}

// reflected reads what PHP's reflection says of a generator, in one line: what it runs, or of a
// fiber: a trace.
func reflected(t *testing.T, task, text string) []expected {
	t.Helper()
	frames := parseOracle(t, text)
	if strings.HasPrefix(task, "fiber ") {
		return frames
	}
	main := frames[len(frames)-1]
	return []expected{{function: frames[0].function, file: main.file, lines: main.lines}}
}
