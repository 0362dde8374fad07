package v8_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/v8"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// tasksOf lists the tasks of a target.
func tasksOf(t testing.TB, tg target.Target, m target.Memory) ([]language.Task, error) {
	t.Helper()
	p := &language.Process{Arch: tg.Arch(), Memory: tg.Memory(), Modules: tg.Modules(), Threads: tg.Threads}
	runtimes, err := language.Find(p, []language.Decorator{v8.Decorator{}})
	if err != nil || len(runtimes) != 1 {
		t.Fatalf("%d run times: %v", len(runtimes), err)
	}
	return runtimes[0].Runtime.(language.Tasker).Tasks(m)
}

// waits is what a program has said of a function that waits, or what was found.
type waits struct {
	file  string
	line  int
	ready bool
	by    []string // who waits for it, sorted
}

func (w waits) String() string {
	return fmt.Sprintf("%s:%d, ready: %t, awaited by %s", w.file, w.line, w.ready, strings.Join(w.by, ", "))
}

// functionsOf returns the functions of tasks by their names, which are all different.
func functionsOf(t testing.TB, list []language.Task) map[string]waits {
	t.Helper()
	first := map[uint64]string{}
	for _, x := range list {
		first[x.ID] = x.Frames[0].Function
	}
	found := map[string]waits{}
	for _, x := range list {
		for i, f := range x.Frames {
			w := waits{file: f.File, line: f.Line, ready: i == 0 && x.State == "ready"}
			if i+1 < len(x.Frames) {
				w.by = []string{x.Frames[i+1].Function}
			} else {
				for _, id := range x.AwaitedBy {
					w.by = append(w.by, first[id])
				}
			}
			slices.Sort(w.by)
			if _, twice := found[f.Function]; twice {
				t.Errorf("%s is there twice", f.Function)
			}
			found[f.Function] = w
		}
	}
	return found
}

// functionsSaid returns what the program has announced; ok is false while it announces something.
func functionsSaid(t testing.TB, file string) (said map[string]waits, ok bool) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	number, rest, found := strings.Cut(string(text), "\n")
	n, err := strconv.Atoi(number)
	rest, _, ends := strings.Cut(rest, "\n\n")
	if !found || !ends || err != nil || n%2 != 0 || n == 0 {
		return nil, false
	}
	var list []struct {
		Name, Generator string
		Line            int
		Ready           bool
		Children        []string
	}
	if err := json.NewDecoder(bytes.NewReader([]byte(rest))).Decode(&list); err != nil {
		t.Fatalf("%v: %q", err, rest)
	}
	said = map[string]waits{}
	add := func(name, by string) {
		w := said[name]
		w.by = append(w.by, by)
		said[name] = w
	}
	for _, x := range list {
		w := said[x.Name]
		digits := strings.TrimLeft(x.Name[strings.LastIndexByte(x.Name, '.')+1:], "abcdefghijklmnopqrstuvwxyz")
		w.file, w.line, w.ready = "/made/f"+digits+".js", x.Line, x.Ready
		by := x.Name
		if x.Generator != "" {
			w.ready = false
			g := said[x.Generator]
			g.file, g.line, g.ready, by = w.file, 13, x.Ready, x.Generator
			said[x.Generator] = g
			add(x.Generator, x.Name)
		}
		said[x.Name] = w
		for _, child := range x.Children {
			add(child, by)
		}
	}
	for name, w := range said {
		slices.Sort(w.by)
		w.by = slices.Compact(w.by)
		said[name] = w
	}
	return said, true
}

// TestTasks stops a program at random moments and holds the async functions that wait against what
// the program has said of the same moment.
func TestTasks(t *testing.T) {
	stops := 20
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 100
	}
	script, err := filepath.Abs("testdata/tasks.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes(t) {
		for _, flags := range [][]string{{"--no-opt"}, {"--expose-gc"}, {"--expose-gc", "--always-sparkplug"}} {
			t.Run(fmt.Sprint(strings.TrimPrefix(node, "/"), flags), func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "tasks")
				p := gdbtest.StartRunning(t, node, append(flags, script, file, "60", strconv.Itoa(len(flags)))...)
				compared, functions, ready, wrong, collects := 0, 0, 0, 0, 0
				for n := 0; compared < stops && n < 50*stops; n++ {
					for range 1 + n%50 {
						p.States(t) // it runs meanwhile
					}
					p.Stop(t)
					if want, ok := functionsSaid(t, file); ok {
						tg, err := live.Attach(context.Background(), p.PID, live.Options{Consistent: true})
						if err != nil {
							t.Fatal(err)
						}
						list, err := tasksOf(t, tg, tg.Now())
						tg.Close()
						if err != nil && strings.Contains(err.Error(), "garbage collector") {
							collects++
						} else {
							if err != nil {
								t.Error(err)
							}
							got := functionsOf(t, list)
							compared++
							functions += len(want)
							for name, w := range want {
								if w.ready {
									ready++
								}
								if g, ok := got[name]; !ok || g.String() != w.String() {
									if wrong++; wrong < 10 {
										t.Errorf("%s: %v, want %v", name, g, w)
									}
								}
							}
							for name := range maps.Keys(got) {
								if _, ok := want[name]; !ok {
									if wrong++; wrong < 10 {
										t.Errorf("%s: %v, want none", name, got[name])
									}
								}
							}
						}
					}
					if err := syscall.Kill(p.PID, syscall.SIGCONT); err != nil {
						t.Fatal(err)
					}
				}
				t.Logf("%d stops, %d functions, %d of them ready, %d wrong; %d stops in the garbage collector", compared, functions, ready, wrong, collects)
				if compared < stops {
					t.Errorf("only %d stops", compared)
				}
			})
		}
	}
}
