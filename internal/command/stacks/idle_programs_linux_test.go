package stacks_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/live"
)

// TestIdlePrograms takes stacks of programs that others wrote, and that wait. No stack may end
// early. The test installs the packages that it needs: make soak.
func TestIdlePrograms(t *testing.T) {
	gdbtest.NeedSoak(t)
	gdbtest.NeedAMD64(t)
	for _, p := range []program{
		{name: "Erlang", apt: "erlang-base", run: `erl -noinput -eval 'io:format("ready~n"), receive after infinity -> ok end.'`},
		{name: "Guile", apt: "guile-3.0", run: `guile -c '(begin (display "ready\n") (force-output) (sleep 100000))'`},
	} {
		t.Run(p.name, func(t *testing.T) {
			p.install(t)
			sh := gdbtest.StartRunning(t, "sh", "-c", "exec "+p.run)
			t.Cleanup(func() { unix.Kill(-sh.PID, unix.SIGKILL) })
			gdbtest.Await(t, "all stacks are whole", func() bool {
				s, err := targets.Process(context.Background(), sh.PID, live.Options{Timeout: 5 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				doc, _, err := report.Collect(s, &report.Flags{}) // Erlang registers objects of a form of its own, which is a warning
				if err != nil {
					t.Fatal(err)
				}
				return !slices.ContainsFunc(doc.Threads, func(th report.Thread) bool { return !th.Whole })
			})
		})
	}
}
