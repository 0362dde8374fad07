package r_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/r"
	"github.com/sfwalk/sfwalk/target/core"
)

// TestRest holds a program that stands still, and its core file, against what sys.calls has told.
func TestRest(t *testing.T) {
	p := gdbtest.StartRunning(t, program(t), "--no-echo", "--no-restore", "--file="+script(t, "rest.R"), "--args", oracle(t), script(t, "resting.R"))
	var want []string
	place := "" // of the innermost function: it has gone on
	for {
		line, err := p.Stdout.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "end\n" {
			break
		}
		name, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		want = append(want, name+" "+place)
		place = at
	}
	p.Rest(t)
	hold(t, languagetest.Attach(t, p.PID, r.Decorator{}, nil)[p.PID], want)
	path := filepath.Join(t.TempDir(), "core")
	gdbtest.Batch(t, nil, "attach "+strconv.Itoa(p.PID), "generate-core-file "+path, "detach")
	tg, err := core.Open(path, core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	hold(t, languagetest.All(t, tg, r.Decorator{}, nil)[p.PID], want)
}

// lineOf returns the place of a text in resting.R.
func lineOf(t *testing.T, text string) string {
	t.Helper()
	source, err := os.ReadFile("testdata/resting.R")
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(source), text)
	return fmt.Sprintf("%s#%d", script(t, "resting.R"), 1+strings.Count(before, "\n"))
}

// hold holds frames against the ones of sys.calls, which has no builtins.
func hold(t *testing.T, d *languagetest.Thread, want []string) {
	t.Helper()
	var got, natives []string
	for _, f := range d.Frames() {
		if f.Kind == "native" {
			natives = append(natives, f.Function)
			continue
		}
		place := fmt.Sprintf("%s#%d", f.File, f.Line)
		if len(got) == 0 {
			if place != lineOf(t, `.C("o_rest")`) {
				t.Errorf("the innermost function is at %s", place)
			}
			place = ""
		}
		got = append(got, f.Function+" "+place)
	}
	// What C has called has no srcref there; the builtin that has called C has one here.
	if i := slices.Index(want, "back #0"); i >= 0 {
		want[i] = "back " + lineOf(t, `.Call("o_call"`)
	}
	if !slices.Equal(got, want) || !slices.Equal(natives, []string{".C", ".Call"}) || len(d.Warnings()) > 0 {
		t.Errorf("%s\n%q\n%q\nwant %s\n%s", strings.Join(got, "\n"), natives, d.Warnings(), strings.Join(want, "\n"), dump(d))
	}
	// The functions of C stand within the builtins that have called them.
	for level, f := range d.Stack.Frames {
		if m := f.Module(); m == nil || filepath.Base(m.Path) != "oracle" {
			continue
		}
		outer := level + 1
		for outer < len(d.Stack.Frames)-1 && (d.Said.At[outer] == nil || len(d.Said.At[outer].Frames) == 0) {
			outer++
		}
		at := d.Said.At[outer]
		if at == nil || len(at.Frames) == 0 || at.Frames[0].Kind != "native" {
			t.Errorf("C's frame %d is not within its builtin\n%s", level, dump(d))
		}
	}
}
