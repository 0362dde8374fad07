package python_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
)

// TestLocks has two threads in a deadlock: which lock each of them waits for and holds is as the
// program has it.
func TestLocks(t *testing.T) {
	program, err := filepath.Abs("testdata/locks.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, interpreter := range pythons(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			p := gdbtest.Start(t, interpreter, program)
			var got map[string]told
			gdbtest.Await(t, "the threads to wait", func() bool {
				got = threadsByName(walk(t, p.PID))
				return len(got["transfer"].Waits) > 0 && len(got["report"].Waits) > 0 && len(got["passed"].Waits) > 0 && got["passed"].Waits[0].Kind == "lock" &&
					len(got["owner"].Holds) > 0 && len(got["owner"].Waits) > 0 && len(got["consumer"].Waits) > 0 && len(got["early"].Waits) > 0 && got["early"].Waits[0].Kind == "RLock"
			})
			transfer, report, passed := got["transfer"], got["report"], got["passed"]
			if len(transfer.Waits) != 1 || len(report.Waits) != 1 || len(transfer.Holds) != 1 || len(report.Holds) != 1 || len(passed.Holds) != 0 {
				t.Fatalf("transfer %+v\nreport %+v\npassed %+v", transfer, report, passed)
			}
			check := func(what string, got language.Lock, kind, name string, owner, level int) {
				t.Helper()
				if got.Kind != kind || got.Name != name || got.Owner != owner || got.Level != level || got.Timed {
					t.Errorf("%s: %+v", what, got)
				}
			}
			check("transfer waits", transfer.Waits[0], "lock", "audit", 0, 0)
			check("transfer holds", transfer.Holds[0], "RLock", "account.balance_lock", transfer.id, 0)
			check("report waits", report.Waits[0], "RLock", "argument", transfer.id, 0)
			check("report holds", report.Holds[0], "lock", "audit", report.id, 1)
			check("early waits", got["early"].Waits[0], "RLock", "vault.door", got["late"].id, 0)
			if transfer.Waits[0].Address != report.Holds[0].Address || report.Waits[0].Address != transfer.Holds[0].Address {
				t.Errorf("transfer %+v\nreport %+v", transfer, report)
			}
			// Condition.wait has let the lock go, within its with statement.
			if x, y := got["owner"], got["consumer"]; len(x.Holds) != 1 || x.Holds[0].Name != "shared" || len(y.Holds) != 0 {
				t.Errorf("owner %+v\nconsumer %+v", x, y)
			}
			if x := passed.Waits[0]; x.Name != "waiter" || x.Owner != 0 || !x.Timed {
				t.Errorf("passed waits: %+v", x)
			}
		})
	}
}
