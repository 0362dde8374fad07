//go:build linux

package attach

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestMeasure: all commands print stacks of the same length, and every cell has a value.
func TestMeasure(t *testing.T) {
	gdbtest.Tool(t, "gcc")
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Measure(context.Background(), d, Options{Rounds: 1, Small: true})
	if err != nil {
		t.Fatal(err)
	}
	frames := 0
	for _, table := range s.Tables {
		for _, row := range table.Rows {
			for i, cell := range row {
				// The command that does nothing has no cost, only pauses.
				if cell == "" && (row[0] != nothing || i > 4) {
					t.Errorf("%s: nothing in column %q", row[0], head[i])
				}
			}
			if row[0] == nothing {
				continue
			}
			n, err := strconv.Atoi(row[1])
			if err != nil {
				t.Fatal(err)
			}
			if row[0] == "gdb" {
				n += 3 // it ends at main
			}
			if frames == 0 {
				frames = n
			}
			if n != frames || n < 40 {
				t.Errorf("%s: %d frames, others %d", row[0], n, frames)
			}
		}
	}
	if len(s.Goals) == 0 {
		t.Error("no goals")
	}
}

// TestMeasureCalls: all commands call the function, and every cell has a value.
func TestMeasureCalls(t *testing.T) {
	gdbtest.Tool(t, "gcc")
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := MeasureCalls(context.Background(), d, Options{Rounds: 1, Small: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range s.Tables[0].Rows {
		for i, cell := range row {
			if cell == "" && (row[0] != nothing || i > 3) {
				t.Errorf("%s: nothing in column %q", row[0], callHead[i])
			}
		}
	}
	if len(s.Goals) != 3 {
		t.Errorf("%d goals", len(s.Goals))
	}
}

// TestMeasureLanguages: the decorators find all frames that the programs' threads have, and every
// cell has a value.
func TestMeasureLanguages(t *testing.T) {
	gdbtest.Tool(t, "gcc")
	gdbtest.Tool(t, "python3")
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := MeasureLanguages(context.Background(), d, Options{Rounds: 1, Small: true})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"Python, 1 × 100": pythonDepth, "Python, 2 × 100": 2 * pythonDepth, "C, 1 × 40": 0}
	goals := 14 + 1 // and the search for run times
	for _, i := range interpreters {
		if _, err := exec.LookPath(i.program); err == nil {
			want[fmt.Sprintf("%s, 1 × %d", i.language, interpreterDepth)] = interpreterDepth
		}
		goals++
	}
	goals++
	if _, err := exec.LookPath("erl"); err == nil {
		goals++ // time and memory
	}
	if _, err := exec.LookPath("javac"); err == nil {
		want["Java, 2 × 60"] = 2 * javaDepth
		goals++
	}
	if len(s.Goals) != goals {
		t.Errorf("%d goals, want %d", len(s.Goals), goals)
	}
	for _, table := range s.Tables {
		for _, row := range table.Rows {
			for i, cell := range row {
				if cell == "" {
					t.Errorf("%s: nothing in column %q of %q", table.Caption, table.Head[i], row)
				}
			}
		}
		name, is := strings.CutSuffix(strings.Trim(table.Caption, "*"), ", within sfwalk")
		if !is {
			continue
		}
		row := table.Rows[0]
		frames, err := strconv.Atoi(row[len(row)-1])
		// Of Java, the machine's own threads have frames, too, and main has ended by then; of the
		// others, so have the script and what waits.
		few := strings.HasPrefix(name, "Python") || strings.HasPrefix(name, "C,")
		if err != nil || frames < want[name] || few && frames != want[name] {
			t.Errorf("%s: %d frames, want %d", name, frames, want[name])
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("no row of %s", name)
	}
}

// TestCannotCall: where gdb cannot call, our own commands are measured, and the goal says why there
// is no ratio.
func TestCannotCall(t *testing.T) {
	gdbtest.Tool(t, "gcc")
	for _, setting := range gdbtest.RefuseVectors(t) {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := MeasureCalls(t.Context(), d, Options{Rounds: 1, Small: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range s.Tables[0].Rows {
		if row[0] == gdbCall {
			t.Errorf("gdb is measured: %v", row)
		}
	}
	if len(s.Goals) != 3 || !strings.HasPrefix(s.Goals[0].Missing, "gdb calls no functions here: Couldn't write") {
		t.Errorf("goals %+v", s.Goals)
	}
}

func TestWhyNot(t *testing.T) {
	killed := errors.New("signal: killed")
	for _, c := range []struct {
		said string
		err  error
		want string
	}{
		{"Reading symbols\nCouldn't write registers: No such process.\nDetaching\n", killed, "Couldn't write registers: No such process."},
		{"Reading symbols\n", killed, "signal: killed"},
		{"Reading symbols\nYou can't do that.\n\n", nil, "You can't do that."},
	} {
		if got := whyNot(c.said, c.err); got != c.want {
			t.Errorf("%q, %v: %q", c.said, c.err, got)
		}
	}
}

// TestMeasureValues: the commands see the same frames, and every cell has a value.
func TestMeasureValues(t *testing.T) {
	gdbtest.NeedSoak(t)
	gdbtest.Tool(t, "gcc")
	gdbtest.Tool(t, "gdb")
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := MeasureValues(context.Background(), d, Options{Rounds: 1, Small: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range s.Tables {
		for _, row := range table.Rows {
			for i, cell := range row {
				if cell == "" && (row[0] != nothing || i > 4) {
					t.Errorf("%s: nothing in column %q", row[0], localsHead[i])
				}
			}
		}
	}
	if len(s.Goals) != 4 {
		t.Errorf("%d goals, want 4", len(s.Goals))
	}
}

// TestNoRounds: a meter that is to measure nothing says so.
func TestNoRounds(t *testing.T) {
	m := &meter{}
	if err := m.each(context.Background(), nil, []*sample{{}}, nil); err == nil {
		t.Error("no error")
	}
}

// TestMeasureGoroutines: both commands show the goroutines, and every cell has a value.
func TestMeasureGoroutines(t *testing.T) {
	gdbtest.NeedSoak(t)
	gdbtest.Tool(t, "gcc")
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := MeasureGoroutines(context.Background(), d, Options{Rounds: 1, Small: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range s.Tables[0].Rows {
		for i, cell := range row {
			if cell == "" && (row[0] != nothing || i > 3) {
				t.Errorf("%s: nothing in column %q", row[0], goroutinesHead[i])
			}
		}
	}
	if len(s.Goals) != 3 {
		t.Errorf("%d goals", len(s.Goals))
	}
	for _, g := range s.Goals {
		if g.Missing != "" {
			t.Errorf("%s: %s", g.What, g.Missing)
		}
	}
}
