package stacks_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// Memory that was read after a thread had run on is marked in the snapshot as in the printed stack.
func TestOpenMoved(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "mover.c", gdbtest.Plain...), "swing", "5000")
	for range 300 {
		want, path := saved(t, p.PID, &report.Flags{Once: true})
		moved := 0
		for _, f := range want.Threads[0].Frames {
			if f.MovedOn {
				moved++
			}
		}
		if moved == 0 {
			continue
		}
		end(t, p)
		got, _ := reopened(t, path, core.Options{}, &report.Flags{})
		equalAll(t, got, want)
		for i, f := range want.Threads[0].Frames {
			if i < len(got.Threads[0].Frames) && got.Threads[0].Frames[i].MovedOn != f.MovedOn {
				t.Fatalf("frame %d of %d has moved on: %v, want %v", i, len(want.Threads[0].Frames), !f.MovedOn, f.MovedOn)
			}
		}
		s, err := snapshot.Open(path, core.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if threads, _ := s.Threads(); !threads[0].(*snapshot.Thread).MovedOn {
			t.Error("the thread has not moved on, its frames have")
		}
		t.Logf("%d frames, %d of them had moved on", len(want.Threads[0].Frames), moved)
		return
	}
	t.Error("no stack has moved on: the test has not tested anything")
}
