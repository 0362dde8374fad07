package ruby_test

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/ruby"
	"github.com/sfwalk/sfwalk/target/live"
)

// tasks returns the tasks of a process.
func tasks(t *testing.T, pid int) []language.Task {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	runtimes := languagetest.Find(t, tg, ruby.Decorator{})
	if len(runtimes) != 1 {
		t.Fatalf("%d run times", len(runtimes))
	}
	list, err := runtimes[0].Runtime.(language.Tasker).Tasks(tg.Memory())
	if err != nil {
		t.Error(err)
	}
	return list
}

// inspected matches what Fiber#inspect writes. Where there is no place in a file, the address is of
// the function in C that the fiber runs.
var inspected = regexp.MustCompile(`^#<Fiber:0x([0-9a-f]+)( .+)? \((\w+)( by resuming)?\)>$`)

// TestFibers holds the fibers of a program, their states and frames, against what Ruby says of
// them.
func TestFibers(t *testing.T) {
	for _, interpreter := range rubies(t) {
		t.Run(filepath.Base(interpreter), func(t *testing.T) {
			p := gdbtest.Start(t, interpreter, "testdata/fibers.rb")
			list := map[uint64]language.Task{}
			for _, x := range tasks(t, p.PID) {
				list[x.ID] = x
			}
			held, awaited := 0, 0
			for {
				line, err := p.Stdout.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if line == "\n" {
					break
				}
				f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
				m := inspected.FindStringSubmatch(f[0])
				if m == nil {
					t.Fatalf("Ruby says %q", f[0])
				}
				id, _ := strconv.ParseUint(m[1], 16, 64)
				state, want := m[3], f[1:]
				if m[4] != "" {
					state = "resuming"
				}
				if _, known := list[id]; !known && m[2] == "" && state != "resumed" {
					for _, x := range list {
						if len(x.Frames) == len(want) && x.Frames[0].File == "" {
							id = x.ID
						}
					}
				}
				x, found := list[id]
				delete(list, id)
				if state == "created" || state == "resumed" && len(want) > 0 && strings.Contains(want[0], "backtrace") {
					if found {
						t.Errorf("%s is a task: %+v", f[0], x) // it has not begun, or is the main thread's own
					}
					continue
				}
				var frames []language.Placed
				for _, f := range x.Frames {
					frames = append(frames, language.Placed{Frame: f})
				}
				if got := asRuby(frames, "testdata/fibers.rb", len(want) > 0 && hasClasses(want)); !slices.Equal(got, want) || x.State != state || x.Kind != "fiber" {
					t.Errorf("%s:\n%s\nhas %s, %q:\n%s", f[0], strings.Join(want, "\n"), x.Kind, x.State, strings.Join(got, "\n"))
				}
				held++
				if len(x.AwaitedBy) > 0 {
					awaited++
				}
			}
			for _, x := range list {
				if x.State != "resuming" || len(x.AwaitedBy) > 0 { // a thread's own fiber, of which Ruby has made no object
					t.Errorf("Ruby has no fiber like %+v", x)
				}
			}
			if held < 100 || awaited != 2 || len(list) > 1 {
				t.Errorf("%d fibers, %d awaited; %d that Ruby does not list", held, awaited, len(list))
			}
		})
	}
}
