package ruby_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/ruby"
)

// named returns what is known of threads, by their names, and their IDs.
func named(t *testing.T, pid int) (threads map[string]language.Thread, ids map[string]int) {
	t.Helper()
	threads, ids = map[string]language.Thread{}, map[string]int{}
	for id, d := range languagetest.Attach(t, pid, ruby.Decorator{}, nil) {
		if d.Said == nil {
			continue
		}
		for _, x := range d.Said.Threads {
			name := x.Name
			if id == pid {
				name = "main"
			}
			threads[name], ids[name] = x.Thread, id
		}
	}
	return threads, ids
}

// TestThreads holds names, states, locks and exceptions of threads against what the program does.
func TestThreads(t *testing.T) {
	for _, interpreter := range rubies(t) {
		t.Run(filepath.Base(interpreter), func(t *testing.T) {
			p := gdbtest.Start(t, interpreter, "testdata/threads.rb")
			threads, ids := named(t, p.PID)
			line, err := p.Stdout.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			states := strings.Fields(line)
			for _, x := range states {
				name, want, _ := strings.Cut(x, "=")
				if got := threads[name].State; got != want {
					t.Errorf("%s: %q, not %q", name, got, want)
				}
			}
			if len(states) != 3 || len(threads) != 4 {
				t.Errorf("%d threads: %+v; Ruby says %q", len(threads), threads, states)
			}
			for name, x := range threads {
				want := map[string]string{"failing": "Failing::Error"}[name]
				if x.Exception != want {
					t.Errorf("%s: the exception %q, not %q", name, x.Exception, want)
				}
				switch waits := x.Waits; {
				case name == "waiter":
					if len(waits) != 1 || waits[0].Kind != "Mutex" || waits[0].Owner != ids["holder"] || waits[0].Address == 0 {
						t.Errorf("waiter waits for %+v; the holder is %d", waits, ids["holder"])
					}
				case len(waits) > 0:
					t.Errorf("%s waits for %+v", name, waits)
				}
			}
		})
	}
}

// TestGVL has one thread keep the GVL while another one wants it.
func TestGVL(t *testing.T) {
	for _, interpreter := range rubies(t) {
		t.Run(filepath.Base(interpreter), func(t *testing.T) {
			p := gdbtest.StartRunning(t, interpreter, "testdata/threads.rb", "busy")
			var threads map[string]language.Thread
			var ids map[string]int
			gdbtest.Await(t, "the main thread waits for the GVL", func() bool {
				threads, ids = named(t, p.PID)
				waits := threads["main"].Waits
				return len(waits) > 0 && waits[0].Owner != 0 && len(threads["spins"].Holds) > 0
			})
			held, waited := threads["spins"].Holds[0], threads["main"].Waits[0]
			if held.Kind != "GVL" || waited.Kind != "GVL" || held.Address == 0 || waited.Address != held.Address || waited.Owner != ids["spins"] || held.Owner != ids["spins"] {
				t.Errorf("held %+v, waited for %+v; the holder is %d", held, waited, ids["spins"])
			}
			for name, x := range threads {
				if has := strings.Contains(x.State, "has the GVL"); has != (name == "spins") || name != "spins" && len(x.Holds) > 0 {
					t.Errorf("%s: %q", name, x.State)
				}
			}
		})
	}
}
