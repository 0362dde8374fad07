package stacks_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestHintsOfLocks: of threads that wait for locks, which the program deadlock.c makes, a line says
// so where the command itself does not say for which; idle threads are none of them.
func TestHintsOfLocks(t *testing.T) {
	program := gdbtest.Build(t, "deadlock.c", append([]string{"-pthread"}, gdbtest.Plain...)...)
	const two, says = "2 threads wait for locks", ": --consistent says for which, and who holds "
	for kind, want := range map[string]string{
		"normal": two + says + "them", "write": two + says + "them", "file": two + says + "them", "timed": two + says + "them",
		"inherit": two + says + "them", "gone": "1 thread waits for a lock" + says + "it",
		"join": two + " or the end of other threads" + says + "them",
		"cond": "", "sem": "", "barrier": "",
	} {
		t.Run(kind, func(t *testing.T) {
			pid := strconv.Itoa(gdbtest.Start(t, program, kind).PID)
			lines := func(flags ...string) string {
				others := func(line string) bool { return !isOfLocks(line) }
				return strings.Join(hintsBut(t, others, append([]string{"attach", pid}, flags...)...), "\n")
			}
			if got := lines(); got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if got := lines("--merge"); got != want {
				t.Errorf("with --merge %q, want %q", got, want)
			}
			if got := lines("--consistent"); got != "" {
				t.Errorf("%q, where the command has said it", got)
			}
		})
	}
}
