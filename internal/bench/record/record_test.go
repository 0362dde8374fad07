//go:build linux

package record

import (
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestMeasure measures for a moment: whether all that is measured runs.
func TestMeasure(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.Tool(t, "gcc")
	gdbtest.Perf(t)
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func(all []scenario) { scenarios = all }(scenarios)
	scenarios = []scenario{{40, 499}}
	s, err := Measure(t.Context(), d, Options{Rounds: 1, Duration: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range s.Goals { // Missing may say that samples were lost: on a busy machine, they may be
		if g.Ours.Number <= 0 || g.Theirs.Number <= 0 {
			t.Errorf("%+v", g)
		}
	}
	t.Log(s.Tables[0].String())
}

// TestMeasureFile measures a small file.
func TestMeasureFile(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.Tool(t, "gcc")
	gdbtest.Perf(t)
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := MeasureFile(t.Context(), d, FileOptions{Rounds: 1, Samples: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range s.Goals {
		if g.Ours.Number <= 0 || g.Theirs.Number <= 0 || g.Missing != "" {
			t.Errorf("%+v", g)
		}
	}
	t.Log(s.Tables[0].String())
}
