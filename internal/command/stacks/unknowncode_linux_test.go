package stacks_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestUnknownCode: code without tables that is made hard to follow costs no more for many threads
// than for one. The same is true of a table with one long FDE, which is run for each PC.
func TestUnknownCode(t *testing.T) {
	program := gdbtest.Build(t, "unknown.c", "-O2")
	for _, args := range [][]string{{"8", "2000", "loops"}, {"300", "200", "forks"}, {"8", "400", "straight"}, {"8", "2000", "tables"}} {
		p := gdbtest.Start(t, program, args...)
		out, _ := commandtest.Bounded(t, "attach", strconv.Itoa(p.PID))
		if threads, _ := strconv.Atoi(args[0]); strings.Count(out, "Thread ") != threads+1 || strings.Count(out, "\n#") < 100*threads {
			t.Errorf("%v: %d threads, %d frames", args, strings.Count(out, "Thread "), strings.Count(out, "\n#"))
		}
		p.Exit(t)
	}
}
