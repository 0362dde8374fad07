package v8_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/v8"
)

var wait = regexp.MustCompile(`^\d+ ms after the wait began$`)

// waitsFor returns what a thread waits for, sorted. How long a timer takes is left out.
func waitsFor(t *testing.T, told *language.Thread) (list []string) {
	t.Helper()
	for _, l := range told.Waits {
		switch {
		case l.Kind == "timer" && wait.MatchString(l.Name), l.Name == "":
			list = append(list, l.Kind)
		default:
			list = append(list, fmt.Sprintf("%s (%s)", l.Kind, l.Name))
		}
	}
	slices.Sort(list)
	return list
}

// TestWorkers holds the names of workers, what threads do, and what the loops of events wait for
// against what Node.js says of these.
func TestWorkers(t *testing.T) {
	script, err := filepath.Abs("testdata/handles.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes(t) {
		t.Run(strings.TrimPrefix(node, "/"), func(t *testing.T) {
			p := gdbtest.StartRunning(t, node, script, t.TempDir())
			line, err := p.Stdout.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			var want struct {
				Main             []string
				Indexer, Spinner int
			}
			if err := json.Unmarshal([]byte(line), &want); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			var indexer []string
			var states []string
			gdbtest.Await(t, "the workers are at work", func() bool {
				states = nil
				for tid, d := range languagetest.Attach(t, p.PID, v8.Decorator{}, nil) {
					if d.Said == nil {
						continue
					}
					told := &d.Said.Threads[0].Thread
					switch {
					case told.State == "":
						continue
					case tid == p.PID:
						if got := waitsFor(t, told); !slices.Equal(got, want.Main) {
							t.Errorf("the main thread waits for %q, want %q", got, want.Main)
						}
					case told.Name == "indexer":
						indexer = waitsFor(t, told)
					}
					states = append(states, fmt.Sprintf("%s: %s", told.Name, told.State))
				}
				slices.Sort(states)
				return slices.Equal(states, []string{
					": waits in the event loop", fmt.Sprintf("indexer: worker %d, waits in the event loop", want.Indexer),
					fmt.Sprintf("spinner: worker %d, runs JavaScript", want.Spinner),
				})
			})
			servers := slices.IndexFunc(indexer, func(s string) bool { return s == "TCP server (4 more)" })
			if servers < 0 || len(indexer) != 8+1+1 && len(indexer) != 8+1+1+1 {
				t.Errorf("the worker waits for %q", indexer)
			}
		})
	}
}
