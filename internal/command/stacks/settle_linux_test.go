package stacks_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
)

// busyAttaches is the number of attaches to a busy process.
func busyAttaches() int {
	if os.Getenv("SFWALK_SOAK") != "" {
		return 200
	}
	return 20
}

// Go and C call each other all the time: every stack is whole and of one moment, with threads
// stopped in turn and all at once.
func TestAttachBusyGo(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "goqsort", "CGO_ENABLED=1"))
	for _, args := range [][]string{nil, {"--consistent"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			calls := 0
			for n := range busyAttaches() {
				out, _, err := commandtest.Run(append([]string{"attach", strconv.Itoa(p.PID), "--json", "--no-lines"}, args...)...)
				if err != nil {
					t.Fatalf("attach %d: %v\n%s", n, err, out)
				}
				var doc struct {
					Consistent bool
					Threads    []struct {
						TID     int
						Stop    string
						HeldUS  *int64 `json:"held_us"`
						MovedOn bool   `json:"moved_on"`
						Frames  []struct {
							Level    int
							Function string
							MovedOn  bool `json:"moved_on"`
						}
					}
				}
				if err := json.Unmarshal([]byte(out), &doc); err != nil {
					t.Fatal(err)
				}
				for _, th := range doc.Threads {
					left, right := false, false
					for _, f := range th.Frames {
						left = left || strings.HasPrefix(f.Function, "main.left") || f.Function == "sort_left"
						right = right || strings.HasPrefix(f.Function, "main.right") || f.Function == "sort_right"
						if f.MovedOn {
							t.Fatalf("attach %d: frame %d of thread %d has moved on\n%s", n, f.Level, th.TID, out)
						}
						if f.Function == "sort_left" || f.Function == "sort_right" {
							calls++
						}
					}
					if th.Stop != "outermost" || th.MovedOn || th.HeldUS == nil || left && right {
						t.Fatalf("attach %d: thread %d: stop %q, moved on: %v, left %v, right %v\n%s", n, th.TID, th.Stop, th.MovedOn, left, right, out)
					}
				}
				if doc.Consistent != (len(args) > 0) {
					t.Errorf("attach %d: of one moment: %v", n, doc.Consistent)
				}
			}
			if t.Logf("%d calls of C", calls); calls == 0 {
				t.Error("no thread had called C: the test has not tested anything")
			}
		})
	}
}

// The snapshot has the frames that were printed, also of threads that were read once more.
func TestSaveBusy(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "pendulum.c", gdbtest.Plain...))
	for _, consistent := range []bool{false, true} {
		deep := 0
		for n := 0; n < 5 || n < 1000 && deep == 0; n++ {
			want, path := savedBy(t, p.PID, live.Options{Consistent: consistent}, &report.Flags{})
			got, _ := reopened(t, path, core.Options{}, &report.Flags{})
			equalAll(t, got, want)
			if len(want.Threads[0].Frames) > 45 {
				deep++
			}
			for _, f := range got.Threads[0].Frames {
				if f.MovedOn {
					t.Fatalf("frame %d has moved on", f.Level)
				}
			}
		}
		if deep == 0 {
			t.Error("no deep stack: the test has not tested anything")
		}
	}
}

// If a thread is not read once more, every stack that is not of one moment says that the thread has
// run on: in a frame, or where the stack ends early.
func TestRunOnIsSaid(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "goqsort", "CGO_ENABLED=1"))
	early := 0
	for n := 0; n < 20 || n < 1000 && early == 0; n++ {
		for _, th := range commandtest.Take(t, p.PID, &report.Flags{Once: true}).Threads {
			left, right := false, false
			for _, f := range th.Frames {
				if !f.MovedOn {
					left = left || strings.HasPrefix(f.Function, "main.left")
					right = right || strings.HasPrefix(f.Function, "main.right")
				}
			}
			if left && right {
				t.Fatalf("left and right: %+v", th)
			}
			if th.Whole || len(th.Frames) == 1 && th.Frames[0].Function == "clone3" {
				continue
			}
			if early++; !th.MovedOn || !strings.HasSuffix(th.Error, ": the thread has run on") || th.Detail != "the thread has run on" {
				t.Fatalf("stop %q: %s (%s), moved on: %v; %+v", th.Stop, th.Error, th.Detail, th.MovedOn, th.Frames)
			}
		}
	}
	if t.Logf("%d stacks ended early", early); early == 0 {
		t.Error("no stack has ended early: the test has not tested anything")
	}
}
