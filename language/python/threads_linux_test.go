package python_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
)

// says starts a program of testdata, and reads the line of JSON that it writes of itself.
func says(t *testing.T, of any, interpreter, program string, args ...string) *gdbtest.Process {
	t.Helper()
	p := gdbtest.Start(t, interpreter, append([]string{absolute(t, program)}, args...)...)
	line, err := p.Stdout.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(line), of); err != nil {
		t.Fatalf("%s says %s: %v", program, line, err)
	}
	return p
}

// startThreads starts testdata/threads.py, and returns what it says of its threads' exceptions, by
// their names.
func startThreads(t *testing.T, interpreter string, args ...string) (p *gdbtest.Process, exceptions map[string]string) {
	t.Helper()
	p = says(t, &exceptions, interpreter, "threads.py", args...)
	return p, exceptions
}

// threadsByName returns what is known of threads, by their names.
func threadsByName(all map[uint64]*decorated) map[string]told {
	list := map[string]told{}
	for _, d := range all {
		if d.Said != nil {
			for _, x := range d.Said.Threads {
				list[x.Name] = told{d.Stack.Thread.ID(), x.Thread}
			}
		}
	}
	return list
}

type told struct {
	id int
	language.Thread
}

// TestThreads holds names of threads, and the exceptions that they handle, against what the module
// threading and traceback say of them in the process.
func TestThreads(t *testing.T) {
	for _, interpreter := range pythons(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			p, want := startThreads(t, interpreter)
			got := threadsByName(walk(t, p.PID))
			if len(want) < 20 {
				t.Fatalf("%d threads", len(want))
			}
			for name, exception := range want {
				if x, ok := got[name]; !ok {
					t.Errorf("no thread is called %q", name)
				} else if x.Exception != exception {
					t.Errorf("%s: %s, traceback says %s", name, x.Exception, exception)
				} else if daemon := slices.Contains(strings.Split(x.State, ", "), "daemon"); daemon != (name == "text") {
					t.Errorf("%s: %q", name, x.State)
				}
			}
		})
	}
}

// TestGIL has one thread keep the GIL while another one wants it.
func TestGIL(t *testing.T) {
	for _, interpreter := range pythons(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			if freeThreaded(t, interpreter) {
				gdbtest.Cannot(t, "this build has no GIL")
			}
			p, _ := startThreads(t, interpreter, "gil")
			var got map[string]told
			gdbtest.Await(t, "the main thread to wait for the GIL", func() bool {
				got = threadsByName(walk(t, p.PID))
				return len(got["MainThread"].Waits) > 0 && len(got["holder"].Holds) > 0
			})
			holder, main := got["holder"], got["MainThread"]
			if holder.State != "has the GIL" || main.State != "" {
				t.Errorf("holder %q, main thread %q", holder.State, main.State)
			}
			held, waited := holder.Holds[0], main.Waits[0]
			if held.Kind != "GIL" || held.Address == 0 || held.Owner != holder.id || waited.Address != held.Address || waited.Owner != 0 && waited.Owner != holder.id {
				t.Errorf("held %+v, waited for %+v; the holder is %d", held, waited, holder.id)
			}
			for name, x := range got {
				if name == "holder" || name == "MainThread" {
					continue
				}
				if len(x.Holds) > 0 || len(x.Waits) != 1 || x.Waits[0].Kind != "lock" || x.Waits[0].Name != "lock" || x.Waits[0].Owner != 0 {
					t.Errorf("%s: %+v", name, x.Thread)
				}
			}
		})
	}
}
