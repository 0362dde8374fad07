package perl_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/perl"
	"github.com/sfwalk/sfwalk/target/core"
)

// rest is a process that runs testdata/rest.pl and has come to rest.
type rest struct {
	*languagetest.Told
	want string // what perl says of the thread that runs it
}

func startRest(t *testing.T, interpreter string, args ...string) rest {
	t.Helper()
	script, err := filepath.Abs("testdata/rest.pl")
	if err != nil {
		t.Fatal(err)
	}
	p := languagetest.StartTold(t, interpreter, append([]string{script, oracleOf(t, interpreter)}, args...)...)
	p.Rest(t)
	return rest{p, p.Next(t)}
}

// hold holds all threads against what perl says of the one that runs.
func (p rest) hold(t *testing.T, all map[int]*languagetest.Thread) {
	t.Helper()
	found := 0
	for id, d := range all {
		if got, native := frames(d); strings.Contains(got, "main::inner") {
			found++
			if got != p.want || native == 0 {
				t.Errorf("thread %d: perl says\n%sand sfwalk, with %d subs in C\n%s", id, p.want, native, got)
			}
			if n := checkPlaces(t, d); n < 3 {
				t.Errorf("only %d places", n)
			}
		}
		if w := d.Warnings(); len(w) > 0 {
			t.Errorf("thread %d: %q", id, w)
		}
	}
	if found != 1 {
		t.Errorf("%d threads run the sub", found)
	}
}

// TestRest walks a process that stands still, and its core file.
func TestRest(t *testing.T) {
	for _, interpreter := range perls(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			p := startRest(t, interpreter)
			p.hold(t, languagetest.Attach(t, p.PID, perl.Decorator{}, nil))
			path := filepath.Join(t.TempDir(), "core")
			gdbtest.Batch(t, nil, "attach "+strconv.Itoa(p.PID), "generate-core-file "+path, "detach")
			tg, err := core.Open(path, core.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			p.hold(t, languagetest.All(t, tg, perl.Decorator{}, nil))
		})
	}
}

// TestThreads has the same subs run in a thread of Perl's.
func TestThreads(t *testing.T) {
	for _, interpreter := range perls(t) {
		if config(t, interpreter, "useithreads") != "define" {
			continue
		}
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			p := startRest(t, interpreter, "thread")
			// The interpreter of a thread has a program that nobody runs.
			p.want = p.want[:strings.LastIndex(p.want, "(main)")] + "\n"
			p.hold(t, languagetest.Attach(t, p.PID, perl.Decorator{}, nil))
		})
	}
}
