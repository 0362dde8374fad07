package stacks_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
)

// TestProcesses attaches to several processes, of which one does not exist.
func TestProcesses(t *testing.T) {
	a, b := commandtest.StartDemo(t), commandtest.StartDemo(t)
	out, stderr, err := commandtest.Run("attach", strconv.Itoa(a.PID), "2147483647", strconv.Itoa(b.PID), strconv.Itoa(a.PID))
	if err == nil || !strings.Contains(stderr, "2147483647") {
		t.Errorf("error %v, standard error %q", err, stderr)
	}
	for _, p := range []int{a.PID, b.PID} {
		if n := strings.Count(out, fmt.Sprintf("Process %d\nThread %[1]d ", p)); n != 1 {
			t.Errorf("process %d is printed %d times", p, n)
		}
	}
	out, _, err = commandtest.Run("attach", strconv.Itoa(a.PID), strconv.Itoa(b.PID), "--json")
	if err != nil || strings.Count(out, "\n") != 2 {
		t.Errorf("error %v, %d documents", err, strings.Count(out, "\n"))
	}
	if _, _, err := commandtest.Run("attach", strconv.Itoa(a.PID), strconv.Itoa(b.PID), "--save", "x"); !isUsage(err) {
		t.Errorf("--save of two: error %v, want a usage error", err)
	}
	if _, _, err := commandtest.Run("attach", "--container", "no such container"); err == nil || !strings.Contains(err.Error(), "there is no such container") {
		t.Errorf("the command: %v", err)
	}
	if _, _, err := commandtest.Run("attach"); !isUsage(err) {
		t.Errorf("no process: error %v, want a usage error", err)
	}
}
