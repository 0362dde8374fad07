package pypy_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/pypy"
	"github.com/sfwalk/sfwalk/target/core"
)

// TestRest holds two threads that stand still, and their core file, against what they have told.
func TestRest(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Tool(t, "pypy3"), script(t, "rest.py"))
	var want [2][]string
	for i := range want {
		for {
			line, err := p.Stdout.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if line == "end\n" {
				break
			}
			want[i] = append(want[i], strings.TrimSpace(line))
		}
	}
	p.Rest(t)
	path := filepath.Join(t.TempDir(), "core")
	gdbtest.Batch(t, nil, "attach "+strconv.Itoa(p.PID), "generate-core-file "+path, "detach")
	tg, err := core.Open(path, core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	for _, all := range []map[int]*languagetest.Thread{languagetest.Attach(t, p.PID, pypy.Decorator{}, nil), languagetest.All(t, tg, pypy.Decorator{}, nil)} {
		for tid, d := range all {
			i := 0
			if tid != p.PID {
				i = 1
			}
			var got []string
			for _, f := range d.Frames() {
				got = append(got, fmt.Sprintf("%s %s %d", f.Function, f.File, f.Line))
			}
			if !slices.Equal(got, want[i]) || len(d.Warnings()) > 0 || !d.Stack.Whole {
				t.Errorf("%q\nwant %q\n%q\n%s", got, want[i], d.Warnings(), dump(d))
			}
		}
		if len(all) != len(want) {
			t.Errorf("%d threads", len(all))
		}
		checkCallback(t, all[p.PID])
	}
}

// checkCallback holds that a function of C stands between its caller and what it has called.
func checkCallback(t *testing.T, d *languagetest.Thread) {
	t.Helper()
	inside, seen := "", false
	for level, f := range d.Stack.Frames {
		at := d.Said.At[level]
		if at != nil && len(at.Frames) > 0 {
			inside = at.Frames[len(at.Frames)-1].Function
		}
		m := f.Module()
		if m == nil || !strings.HasPrefix(filepath.Base(m.Path), "libc") || inside == "" {
			continue
		}
		if !seen && (inside != "compares" || at != nil && at.Hidden) {
			t.Errorf("qsort stands in %s\n%s", inside, dump(d))
		}
		seen = true
	}
	if !seen {
		t.Errorf("qsort was not seen\n%s", dump(d))
	}
}
