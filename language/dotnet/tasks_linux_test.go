package dotnet_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/dotnet"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

const notesSize = 4 << 20

// TestTasks stops testdata/tasks.cs, in which async methods of many kinds wait for each other, at
// random moments. While all of them wait, its own notes of who waits where for whom are what the
// tasks tell.
func TestTasks(t *testing.T) {
	rounds := 4
	if os.Getenv("SFWALK_SOAK") == "1" {
		rounds = 100
	}
	for _, d := range dotnets(t) {
		names := []string{"tasks.dll", "debug/tasks.dll"}
		if d.command == "" {
			names = names[:1]
		}
		for _, assembly := range names {
			t.Run(d.name+"/"+assembly, func(t *testing.T) {
				name := notesFile(t)
				p := d.start(t, assembly, name, "20", fmt.Sprint(rand.N(1000)))
				before, methods := int64(-1), 0
				for round := 0; round < rounds && !t.Failed(); {
					for range rand.N(100) {
						p.States(t) // it runs meanwhile
					}
					p.Stop(t)
					got, err := attached(t, p.PID)
					if n, want := noted(t, name); n%2 == 0 && n != before {
						if err != nil {
							t.Error(err)
						}
						if text := differ(want, waysOf(got)); text != "" {
							t.Errorf("in the tasks, and not in the notes (+), or the other way round (-):\n%s", text)
						}
						before, round, methods = n, round+1, methods+len(want)
					}
					p.Continue(t)
				}
				t.Logf("%d ways", methods)
			})
		}
	}
}

func notesFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(name, make([]byte, notesSize), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// noted returns the notes of the program, which are true if n is even.
func noted(t *testing.T, name string) (n int64, ways []string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	order := binary.LittleEndian
	return int64(order.Uint64(b)), strings.Split(string(b[16:16+order.Uint64(b[8:])]), "\n")
}

// attached lists the tasks of a process.
func attached(t *testing.T, pid int) ([]language.Task, error) {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	return tasksOf(t, tg, tg.Now())
}

func tasksOf(t *testing.T, tg target.Target, m target.Memory) ([]language.Task, error) {
	t.Helper()
	return languagetest.Find(t, tg, dotnet.Decorator{})[0].Runtime.(language.Tasker).Tasks(m)
}

// numbers are what the compiler numbers functions with that have no names.
var numbers = regexp.MustCompile(`\d+_\d+|(b__)\d+`)

// waysOf returns what the tasks tell, as the program notes it: the way from each method of its own
// to the outermost one that waits for it.
func waysOf(list []language.Task) (ways []string) {
	byID := map[uint64]*language.Task{}
	for i := range list {
		byID[list[i].ID] = &list[i]
	}
	var out func(x *language.Task, from int, before string)
	out = func(x *language.Task, from int, before string) {
		for _, f := range x.Frames[from:] {
			if before != "" {
				before += " < "
			}
			before += fmt.Sprintf("%s:%d", numbers.ReplaceAllString(f.Function, "$1"), f.Line)
		}
		if len(x.AwaitedBy) == 0 {
			ways = append(ways, before)
		}
		for _, id := range x.AwaitedBy {
			if by := byID[id]; by == nil {
				ways = append(ways, before+" < there is none")
			} else if len(before) < 1<<16 {
				out(by, 0, before)
			}
		}
	}
	for i := range list {
		for level, f := range list[i].Frames {
			if strings.HasPrefix(f.Function, "Waits.") {
				out(&list[i], level, "")
			}
		}
	}
	return ways
}

// differ says in what two lists differ.
func differ(want, got []string) string {
	count := map[string]int{}
	for _, w := range want {
		count[w]--
	}
	for _, w := range got {
		count[w]++
	}
	var text []string
	for w, n := range count {
		if n != 0 {
			text = append(text, fmt.Sprintf("%+d %s", n, w))
		}
	}
	slices.Sort(text)
	return strings.Join(text, "\n")
}
