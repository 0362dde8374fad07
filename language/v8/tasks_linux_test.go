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
	"github.com/sfwalk/sfwalk/target/core"
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

// differences holds what was found against what the program has said, and counts the functions.
func differences(t testing.TB, got, want map[string]waits) (ready, wrong int) {
	t.Helper()
	tell := func(format string, args ...any) {
		if wrong++; wrong < 10 {
			t.Errorf(format, args...)
		}
	}
	for name, w := range want {
		if w.ready {
			ready++
		}
		if g, ok := got[name]; !ok || g.String() != w.String() {
			tell("%s: %v, want %v", name, g, w)
		}
	}
	for name := range maps.Keys(got) {
		if _, ok := want[name]; !ok {
			tell("%s: %v, want none", name, got[name])
		}
	}
	return ready, wrong
}

// collects reports whether tasks may be missing because the garbage collector runs.
func collects(err error) bool {
	return err != nil && strings.Contains(err.Error(), "garbage collector")
}

// TestTasks stops a program at random moments and holds the async functions that wait against what
// the program has said of the same moment.
func TestTasks(t *testing.T) {
	script, err := filepath.Abs("testdata/tasks.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes(t) {
		for _, flags := range [][]string{{"--no-opt"}, {"--expose-gc"}, {"--expose-gc", "--always-sparkplug"}} {
			t.Run(fmt.Sprint(strings.TrimPrefix(node, "/"), flags), func(t *testing.T) {
				tasksAtRandom(t, node, append(flags, script), len(flags))
			})
		}
	}
}

// TestDenoTasks is TestTasks of Deno, where V8 notes lines at once.
func TestDenoTasks(t *testing.T) {
	script := forDeno(t, "tasks.js")
	for _, deno := range denos(t) {
		t.Run(strings.TrimPrefix(deno, "/"), func(t *testing.T) {
			tasksAtRandom(t, deno, append(denoArguments([]string{"--expose-gc", "--no-enable-lazy-source-positions"}), script), 1)
		})
	}
}

// tasksAtRandom starts a program and stops it at random moments.
func tasksAtRandom(t *testing.T, program string, args []string, seed int) {
	t.Helper()
	stops := 12
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 100
	}
	file := filepath.Join(t.TempDir(), "tasks")
	p := gdbtest.StartRunning(t, program, append(args, file, "60", strconv.Itoa(seed))...)
	compared, functions, ready, wrong, left := 0, 0, 0, 0, 0
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
			if collects(err) {
				left++
			} else {
				if err != nil {
					t.Error(err)
				}
				r, w := differences(t, functionsOf(t, list), want)
				compared, functions, ready, wrong = compared+1, functions+len(want), ready+r, wrong+w
			}
		}
		if err := syscall.Kill(p.PID, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d stops, %d functions, %d of them ready, %d wrong; %d stops in the garbage collector", compared, functions, ready, wrong, left)
	if compared < stops || ready == 0 {
		t.Errorf("%d stops, %d functions that are ready", compared, ready)
	}
}

// TestTasksAtRest holds the only task of a program that waits in the event loop against its own
// Error.stack.
func TestTasksAtRest(t *testing.T) {
	script, err := filepath.Abs("testdata/waits.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes(t) {
		t.Run(strings.TrimPrefix(node, "/"), func(t *testing.T) { taskAtRest(t, node, []string{script}) })
	}
}

// TestDenoTasksAtRest is TestTasksAtRest of Deno.
func TestDenoTasksAtRest(t *testing.T) {
	script := forDeno(t, "waits.js")
	for _, deno := range denos(t) {
		t.Run(strings.TrimPrefix(deno, "/"), func(t *testing.T) { taskAtRest(t, deno, append(denoArguments(nil), script)) })
	}
}

func taskAtRest(t *testing.T, program string, args []string) {
	p := gdbtest.StartRunning(t, program, args...)
	line, err := p.Stdout.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var stack string
	if err := json.Unmarshal([]byte(line), &stack); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	p.Rest(t)
	tg, err := live.Attach(context.Background(), p.PID, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	list, err := tasksOf(t, tg, tg.Now())
	if err != nil {
		t.Error(err)
	}
	want := framesOf(t, stack)[:1] // which has called that, no function waits for
	for line := range strings.Lines(stack) {
		if rest, is := strings.CutPrefix(line, "    at async "); is {
			want = append(want, framesOf(t, "    at "+rest)...)
		}
	}
	if len(list) != 1 || list[0].State != "waiting" {
		t.Fatalf("%+v, want one that waits", list)
	}
	var got []frame
	for _, f := range list[0].Frames {
		got = append(got, frame{f.Function, strings.TrimPrefix(f.File, "file://"), f.Line, f.Column})
	}
	if !same(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", lines(got), lines(want))
	}
}

// TestTasksInCores holds the tasks in core files against what the program has said before it died.
func TestTasksInCores(t *testing.T) {
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.ContainsAny(string(pattern), "|/") {
		gdbtest.Cannot(t, fmt.Sprintf("the kernel leaves no cores in the program's folder: core_pattern is %q", pattern))
	}
	script, err := filepath.Abs("testdata/tasks.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes(t) {
		t.Run(strings.TrimPrefix(node, "/"), func(t *testing.T) {
			for range 20 { // until it does not die in the garbage collector
				dir := t.TempDir()
				file := filepath.Join(dir, "tasks")
				p := gdbtest.StartRunning(t, "/bin/sh", "-c", `cd "$1"; shift; ulimit -c unlimited; echo 1 >/proc/$$/coredump_filter; exec "$@"`, "sh", dir, node, script, file, "60")
				var want map[string]waits
				for {
					p.Stop(t)
					var ok bool
					if want, ok = functionsSaid(t, file); ok {
						break
					}
					p.Continue(t)
					p.States(t) // it runs meanwhile
				}
				p.Dies(t, syscall.SIGABRT)
				files := gdbtest.Glob(t, filepath.Join(dir, "core*"))
				if len(files) != 1 {
					t.Fatalf("core files: %q", files)
				}
				tg, err := core.Open(files[0], core.Options{})
				if err != nil {
					t.Fatal(err)
				}
				list, err := tasksOf(t, tg, tg.Memory())
				tg.Close()
				if collects(err) {
					continue
				}
				if err != nil {
					t.Error(err)
				}
				ready, wrong := differences(t, functionsOf(t, list), want)
				t.Logf("%d functions, %d of them ready, %d wrong", len(want), ready, wrong)
				return
			}
			t.Error("it was always in the garbage collector")
		})
	}
}
