//go:build linux

package against

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/report"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestMeasure: this build is compared with the last commit's build, in all works.
func TestMeasure(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.Tool(t, "gcc")
	gdbtest.Tool(t, "g++")
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(d.Root, ".git")); err != nil {
		gdbtest.Cannot(t, "the tree is not git's")
	}
	changes, err := git(t.Context(), d.Root, "status", "--porcelain")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Measure(t.Context(), d, Options{Commit: "HEAD", Small: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Goals) != 2*len(works) && changes == "" {
		t.Errorf("%d goals of %d works", len(s.Goals), len(works))
	}
	for _, g := range s.Goals {
		if g.Missing != "" && changes != "" {
			t.Logf("%s: %s; there are changes, which the bench may need", g.What, g.Missing)
		} else if !(g.Ours.Number > 0) || !(g.Theirs.Number > 0) {
			t.Errorf("%s: no result: %s", g.What, g.Missing)
		}
	}
	if _, err := Measure(t.Context(), d, Options{Commit: "no-such-commit"}); err == nil {
		t.Error("no error for a commit that is not there")
	}
}

func TestLastRelease(t *testing.T) {
	gdbtest.Tool(t, "git")
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull) // it may sign commits and tags
	dir := t.TempDir()
	do := func(args ...string) {
		t.Helper()
		if _, err := git(t.Context(), dir, append([]string{"-c", "user.name=x", "-c", "user.email=x"}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	do("init")
	do("commit", "--allow-empty", "-m", "first")
	if got := lastRelease(t.Context(), dir); got != "" {
		t.Errorf("without a release: %q", got)
	}
	do("tag", "v0.1.0")
	do("commit", "--allow-empty", "-m", "second")
	if got := lastRelease(t.Context(), dir); got != "v0.1.0" {
		t.Errorf("%q", got)
	}
}

// TestCompare: what has lost is measured once more, and what cannot be done is not measured.
func TestCompare(t *testing.T) {
	ms := func(n time.Duration) report.Value { return report.Time(n * time.Millisecond) }
	for _, c := range []struct {
		what  string
		now   []time.Duration // in each round; before it was 100
		times int
		met   bool
	}{
		{"no loss", []time.Duration{104}, 1, true},
		{"noise", []time.Duration{110, 101}, 2, true},
		{"loss", []time.Duration{110, 107}, 2, false},
	} {
		times := 0
		got, err := new(both).compare(t.Context(), work{c.what, func(context.Context, *both) ([]report.Goal, error) {
			times++
			return []report.Goal{{Ours: ms(c.now[times-1]), Theirs: ms(100)}, {Ours: ms(100), Theirs: ms(100)}}, nil
		}})
		if err != nil || times != c.times || got[0].Met() != c.met || !got[1].Met() {
			t.Errorf("%s: %v after %d times, %v", c.what, got, times, err)
		}
	}
	broken := errors.New("broken")
	for _, why := range []error{fmt.Errorf("%w: no such command", build.ErrMissing), broken} {
		got, err := new(both).compare(t.Context(), work{"", func(context.Context, *both) ([]report.Goal, error) { return nil, why }})
		if errors.Is(why, broken) {
			if !errors.Is(err, broken) {
				t.Errorf("%v: %v", why, err)
			}
		} else if err != nil || !slices.Equal(got, []report.Goal{{What: "CPU", Missing: why.Error()}}) {
			t.Errorf("%v: %v, %v", why, got, err)
		}
	}
}
