package show

import (
	"bytes"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/command/report"
)

// A task stands below each task that waits for it, equal ones are printed once, and tasks that wait
// for each other have an end.
func TestTasks(t *testing.T) {
	task := func(id uint64, name string, by ...uint64) report.Task {
		x := report.Task{ID: address.At(id), Language: "python", Kind: "asyncio task", Name: name, State: "waiting", Frames: []report.TaskFrame{{Function: "f", File: "a.py", Line: 3}}}
		for _, id := range by {
			x.AwaitedBy = append(x.AwaitedBy, address.At(id))
		}
		return x
	}
	tasks := []report.Task{task(1, "main"), task(2, "left", 1), task(3, "right", 1), task(4, "leaf", 2, 3), task(5, ""), task(6, "x", 7), task(7, "y", 6)}
	tasks[1].Frames[0].Line = 4
	tasks[4].Frames = nil
	want := `7 tasks

asyncio task "main" [waiting]
#0  f at a.py:3 [python]

  asyncio task "left" [waiting]
  #0  f at a.py:4 [python]

    asyncio task "leaf" [waiting]
    #0  f at a.py:3 [python]

  asyncio task "right" [waiting]
  #0  f at a.py:3 [python]

    asyncio task "leaf" [waiting]
    (see above)

asyncio task 0x5 [waiting]

asyncio task "x" [waiting]
#0  f at a.py:3 [python]

  asyncio task "y" [waiting]
  #0  f at a.py:3 [python]

    asyncio task "x" [waiting]
    (it waits for itself: a deadlock)
`
	print := func(tasks []report.Task) string {
		var out bytes.Buffer
		p := &textPrinter{}
		p.tasks(newTaskTree(tasks))
		if err := p.FlushTo(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got := print(tasks); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	want = `3 tasks

2 asyncio tasks "a", "b" [waiting]
#0  f at a.py:3 [python]

asyncio task "c" [running] on thread 7
#0  f at a.py:3 [python]
`
	tasks = []report.Task{task(1, "a"), task(2, "b"), task(3, "c")}
	tasks[2].State, tasks[2].TID = "running", 7
	if got := print(tasks); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
