package python_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
				return len(got["transfer"].Waits) > 0 && len(got["report"].Waits) > 0 && len(got["passed"].Waits) > 0 && got["passed"].Waits[0].Kind == "Event" &&
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
			if x := passed.Waits[0]; x.Name != "event" || x.Owner != 0 || !x.Timed {
				t.Errorf("passed waits: %+v", x)
			}
		})
	}
}

// TestWaits holds the objects of the standard library for which threads wait, and who has them,
// against what the program says of them.
func TestWaits(t *testing.T) {
	for _, interpreter := range pythons(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			var want map[string][5]any
			p := says(t, &want, interpreter, "waits.py")
			var got map[string]told
			gdbtest.Await(t, "the threads to wait", func() bool {
				got = threadsByName(walk(t, p.PID))
				for name, x := range want {
					if len(got[name].Waits) != 1 || got[name].Waits[0].Kind != x[0] {
						return false
					}
				}
				return true
			})
			for name, x := range want {
				y := got[name].Waits[0]
				if said := fmt.Sprintf("%v %.0f %v %.0f %v", x[0], x[1], x[2], x[3], x[4]); said != fmt.Sprintf("%s %d %s %d %v", y.Kind, y.Address, y.Name, y.Owner, y.Timed) {
					t.Errorf("%s waits for %+v, the program says %s", name, y, said)
				}
				if y.Ends != (y.Kind == "Thread") {
					t.Errorf("%s: %+v", name, y)
				}
			}
			if len(want) < 16 {
				t.Errorf("%d threads", len(want))
			}
			// Who runs the work has the future, and who runs the body of a Condition's with
			// statement has its lock.
			holders := map[uint64]string{}
			for name, x := range got {
				for _, y := range x.Holds {
					holders[y.Address] = name
				}
			}
			if by := holders[got["result"].Waits[0].Address]; !strings.HasPrefix(by, "ThreadPoolExecutor-") {
				t.Errorf("%q has the future", by)
			}
			if by := holders[got["guarded"].Waits[0].Address]; by != "guards" {
				t.Errorf("%q has the lock of the Condition", by)
			}
		})
	}
}

// TestGuards has threads with locks that they give back in "finally": which ones they have is as
// the program says.
func TestGuards(t *testing.T) {
	for _, interpreter := range pythons(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			var want map[string][]uint64
			p := says(t, &want, interpreter, "guards.py")
			var got map[string]told
			gdbtest.Await(t, "the threads to wait", func() bool {
				got = threadsByName(walk(t, p.PID))
				for name := range want {
					if len(got[name].Waits) != 1 || got[name].Waits[0].Name != "done" {
						return false
					}
				}
				return true
			})
			for name, locks := range want {
				var has []uint64
				for _, x := range got[name].Holds {
					if x.Kind != "GIL" {
						has = append(has, x.Address)
					}
				}
				if slices.Sort(has); !slices.Equal(has, locks) {
					t.Errorf("%s has %#x, the program says %#x: %+v", name, has, locks, got[name].Holds)
				}
			}
			if len(want) < 12 {
				t.Errorf("%d threads", len(want))
			}
		})
	}
}

// TestOperations holds the tables of instructions against the interpreters.
func TestOperations(t *testing.T) {
	for _, interpreter := range pythons(t) {
		out, err := exec.Command(interpreter, "-c", "import sys; print(sys.version_info[1])").Output()
		if err != nil {
			t.Fatal(err)
		}
		name := "opcodes-3." + strings.TrimSpace(string(out)) + ".txt"
		got, err := exec.Command(interpreter, "generate/opcodes.py").Output()
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("layouts", name))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s says\n%s\n%s has (%v)\n%s", interpreter, got, name, err, want)
		}
	}
}

// ends is a program whose main thread is over: the module threading waits for the other one, whose
// ID the program prints.
const ends = `
import threading, time
def stays():
    print("ready\n%d" % threading.get_native_id(), flush=True)
    time.sleep(1200)
threading.Thread(target=stays, name="stays").start()
`

// TestShutdown has a main thread that waits for another one as the program ends.
func TestShutdown(t *testing.T) {
	for _, interpreter := range pythons(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			p := gdbtest.Start(t, interpreter, "-c", ends)
			var want int
			if _, err := fmt.Fscan(p.Stdout, &want); err != nil {
				t.Fatal(err)
			}
			var got language.Lock
			gdbtest.Await(t, "the main thread to wait", func() bool {
				waits := threadsByName(walk(t, p.PID))["MainThread"].Waits
				if len(waits) == 1 {
					got = waits[0]
				}
				return got.Ends
			})
			if got.Owner != want || got.Kind != "Thread" || got.Address == 0 || got.Timed {
				t.Errorf("%+v, the other thread is %d", got, want)
			}
		})
	}
}
