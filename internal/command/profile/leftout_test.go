package profile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/command/report"
)

// If something is left out of many files, one warning names the first of them. The warnings of a
// few files stay as they are.
func TestLeftOut(t *testing.T) {
	var l report.LeftOut
	var each []string
	for i := range 3 {
		for _, what := range []string{"symbols", "lines"} {
			err := fmt.Errorf("l%d.so: %s: %w", i, what, elf.ErrBudget)
			each = append(each, err.Error())
			if !l.Add(fmt.Sprintf("l%d.so", i), err) {
				t.Fatal("it is of this kind")
			}
		}
	}
	if l.Add("l3.so", errors.New("l3.so: no symbols")) {
		t.Error("another warning is taken for one of this kind")
	}
	if got := l.Warnings(false); !slices.Equal(got, each) {
		t.Errorf("of few files: %q", got)
	}
	l.Add("l3.so", elf.ErrBudget)
	want := "l0.so, l1.so, l2.so and 1 more files expand to too much, each or all together: of these, names and lines are missing, or come from other tables; --explain lists all (7 warnings)"
	if got := l.Warnings(false); len(got) != 1 || got[0] != want {
		t.Errorf("of many files: %q", got)
	}
	if got := l.Warnings(true); len(got) != 7 {
		t.Errorf("all that are asked for: %q", got)
	}
}

// Warnings that a recording's list has no room for are said to be left out, once.
func TestWarningList(t *testing.T) {
	var w warningList
	for i := range 3 * maxWarnings {
		w.add("file %d is bad", i/2)
	}
	last := w[len(w)-1]
	if len(w) != maxWarnings+1 || w[maxWarnings-1] != fmt.Sprintf("file %d is bad", maxWarnings-1) || !strings.Contains(last, "left out") {
		t.Errorf("%d warnings, the last %q", len(w), last)
	}
}
