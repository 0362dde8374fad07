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

// TestDeadlockOfMembers: a lock within a variable is named by the path to it, and gdb finds the
// lock by that; live and in a core.
func TestDeadlockOfMembers(t *testing.T) {
	program := gdbtest.Build(t, "deadlock_member.c", append([]string{"-pthread"}, gdbtest.Plain...)...)
	p := gdbtest.Start(t, program)
	pid := strconv.Itoa(p.PID)
	core := filepath.Join(t.TempDir(), "core")
	commandtest.GCore(t, p.PID, core)
	for _, args := range [][]string{{"attach", pid, "--consistent"}, {"core", core}} {
		out, errs, err := commandtest.Run(append(args, "--json")...)
		if err != nil {
			t.Fatalf("%v\n%s", err, errs)
		}
		commandtest.InPage(t, "sfwalk "+args[0], out)
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
			if w := th.Waits; w != nil && w.Address != "" {
				named[w.Member] = true
				said, err := exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-p", pid, "-ex", fmt.Sprintf(`printf "at %%#lx\n", (unsigned long) &(%s)`, w.Member)).CombinedOutput()
				if err != nil || !strings.Contains(string(said), "at "+w.Address+"\n") {
					t.Errorf("%s: %s is at %s; gdb: %v\n%s", args[0], w.Member, w.Address, err, said)
				}
			}
		}
		if len(named) != 2 || !named["queue.lock"] || !named["table[1][2].locks[1]"] {
			t.Errorf("%s: %v\n%s", args[0], named, out)
		}
		text, _, err := commandtest.Run(args...)
		if err != nil || strings.Count(text, " (queue.lock), held by ") != 2 || !strings.Contains(text, "(table[1][2].locks[1])") {
			t.Errorf("%s: %v\n%s", args[0], err, text)
		}
	}
	if text, _, _ := commandtest.Run("attach", pid, "--consistent", "--no-lines"); !strings.Contains(text, " (queue+8), held by ") {
		t.Errorf("--no-lines:\n%s", text)
	}
}
