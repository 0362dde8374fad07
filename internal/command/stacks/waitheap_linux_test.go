package stacks_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestDeadlockOnHeap: a lock of an object on the heap is named by a path from a frame's variable,
// and gdb finds the lock by that in a frame of the thread; live and in a core.
func TestDeadlockOnHeap(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "deadlock_heap.cc", append([]string{"-pthread", "-std=c++17"}, gdbtest.Plain...)...))
	pid := strconv.Itoa(p.PID)
	core := filepath.Join(t.TempDir(), "core")
	commandtest.GCore(t, p.PID, core)
	for _, args := range [][]string{{"attach", pid, "--consistent"}, {"core", core}} {
		out, errs, err := commandtest.Run(append(args, "--json")...)
		if err != nil {
			t.Fatalf("%v\n%s", err, errs)
		}
		var doc struct {
			Threads []struct {
				Waits *struct{ Member, Address string } `json:"waits_for"`
			}
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatal(err)
		}
		named := map[string]bool{}
		for _, th := range doc.Threads {
			w := th.Waits
			if w == nil || w.Address == "" {
				continue
			}
			named[w.Member] = true
			said, err := exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-p", pid, "-ex",
				fmt.Sprintf(`thread apply all -q -s frame apply all -q -s printf "at %%#lx\n", (unsigned long) &(%s)`, w.Member)).CombinedOutput()
			if err != nil || !strings.Contains(string(said), "at "+w.Address+"\n") {
				t.Errorf("%s: %s is at %s; gdb: %v\n%s", args[0], w.Member, w.Address, err, said)
			}
		}
		if len(named) != 2 || !named["this->pool->mutex"] || !named["w->queue.locks[1]"] {
			t.Errorf("%s: %v\n%s", args[0], named, out)
		}
		text, _, err := commandtest.Run(args...)
		if err != nil || strings.Count(text, " (this->pool->mutex), held by ") != 2 || !strings.Contains(text, "\ndeadlock: ") {
			t.Errorf("%s: %v\n%s", args[0], err, text)
		}
	}
	if text, _, _ := commandtest.Run("attach", pid, "--consistent", "--no-lines"); strings.Contains(text, "pool") {
		t.Errorf("--no-lines:\n%s", text)
	}
}
