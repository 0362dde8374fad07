//go:build linux

package luatest

import (
	"context"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
)

// Cores stops a program at random moments. Its core file has the frames and the coroutines that the
// process has.
func Cores(t *testing.T, d language.Decorator, p *gdbtest.Process) {
	t.Helper()
	frames, tasks := 0, 0
	for range 3 {
		p.Stop(t)
		tg, err := live.Attach(context.Background(), p.PID, live.Options{Consistent: true})
		if err != nil {
			t.Fatal(err)
		}
		want, wantTasks := described(t, tg, d)
		tg.Close()
		path := filepath.Join(t.TempDir(), "core")
		gdbtest.Batch(t, nil, "attach "+strconv.Itoa(p.PID), "generate-core-file "+path, "detach")
		p.Continue(t)
		file, err := core.Open(path, core.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, gotTasks := described(t, file, d)
		file.Close()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("the process has\n%+v\nand the core\n%+v", want, got)
		}
		if !reflect.DeepEqual(gotTasks, wantTasks) {
			t.Errorf("the process has\n%+v\nand the core\n%+v", wantTasks, gotTasks)
		}
		frames, tasks = frames+len(want), tasks+len(wantTasks)
	}
	t.Logf("%d frames, %d coroutines", frames, tasks)
	if frames == 0 || tasks == 0 {
		t.Error("there is nothing to compare")
	}
}

// described returns the frames of all threads of a target, and its tasks.
func described(t *testing.T, tg target.Target, d language.Decorator) (frames []language.Placed, tasks []language.Task) {
	t.Helper()
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	all := languagetest.All(t, tg, d, nil)
	for _, th := range threads {
		frames = append(frames, all[th.ID()].Frames()...)
	}
	return frames, languagetest.Tasks(t, tg, d)
}
