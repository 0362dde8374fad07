//go:build linux

package big

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestMeasure: all subjects are measured on small programs, or say what they lack, and every cell
// has a value.
func TestMeasure(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.Tool(t, "gcc")
	gdbtest.Tool(t, "g++")
	gdbtest.Tool(t, "eu-stack")
	gdbtest.Tool(t, "gdb")
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Measure(t.Context(), d, Options{Rounds: 1, Small: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range s.Tables {
		for _, row := range table.Rows {
			for i, cell := range row {
				if cell == "" {
					t.Errorf("%v: nothing in column %q", row, table.Head[i])
				}
			}
		}
	}
	for _, g := range s.Goals {
		if g.Missing != "" {
			t.Logf("%s: %s", g.What, g.Missing)
		} else if g.Least > 0 && !g.Met() {
			t.Errorf("%s: %v of %v", g.What, g.Ours, g.Theirs)
		} else if !(g.Ours.Number > 0) || !(g.Theirs.Number > 0) {
			t.Errorf("%s, against %s: no result", g.What, g.Peer)
		}
	}
}
