package rust_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/async/rust"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
)

// tasksOf lists the tasks of a target.
func tasksOf(t testing.TB, tg target.Target, m target.Memory, symbols *symbol.Symbolizer) ([]language.Task, error) {
	t.Helper()
	table := sniffer.Table(tg.Arch())
	p := &language.Process{
		Arch: tg.Arch(), Memory: tg.Memory(), Modules: tg.Modules(), Threads: tg.Threads,
		Symbols: func() *symbol.Symbolizer { return symbols },
		Walk: func(th target.Thread) (list []*frame.Frame, err error) {
			s, err := frame.New(tg, th, table)
			if err != nil {
				return nil, err
			}
			for f, err := range s.All() {
				if err != nil {
					break
				}
				list = append(list, f)
			}
			return list, nil
		},
	}
	runtimes, err := language.Find(p, []language.Decorator{rust.Decorator{}})
	if err != nil {
		return nil, err
	}
	if len(runtimes) != 1 {
		t.Fatalf("%d run times", len(runtimes))
	}
	return runtimes[0].Runtime.(language.Tasker).Tasks(m)
}

// attached lists the tasks of a process.
func attached(t testing.TB, pid int) ([]language.Task, error) {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{Consistent: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	symbols := symbol.New(symbol.Options{Entries: true})
	defer symbols.Close()
	return tasksOf(t, tg, tg.Now(), symbols)
}

// program is one that says what its tasks wait for.
type program struct {
	*gdbtest.Process
	alive int      // tasks that it has spawned, and that do not end
	ways  []string // what it has noted, sorted
}

func start(t testing.TB, path string, args ...string) *program {
	return &program{Process: gdbtest.StartRunning(t, path, args...)}
}

// ask has the program say what it has noted.
func (p *program) ask(t testing.TB) {
	t.Helper()
	fmt.Fprintln(p.Stdin)
	p.ways, p.alive = nil, -1
	for {
		line, err := p.Stdout.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		line = strings.TrimSpace(line)
		if line == "end" {
			break
		}
		if n, ok := strings.CutSuffix(line, " tasks"); ok {
			p.alive, _ = strconv.Atoi(n)
			continue
		}
		p.ways = append(p.ways, unnumbered.ReplaceAllString(line, "{async}"))
	}
	slices.Sort(p.ways)
}

// unnoted are functions that wait for several futures at once, and functions without a note.
var unnoted = []string{"both", "either", "all", "leaves", "spawns"}

// unnumbered are the names of async blocks within functions.
var unnumbered = regexp.MustCompile(`\{(async_block|async_fn|async_closure|closure)#\d+\}|\{\{closure\}\}`)

// waysOf returns what the tasks tell of the functions that note where they wait, as the program
// does, and how many tasks there are.
func waysOf(list []language.Task) (ways []string, tasks int) {
	for i := range list {
		x := &list[i]
		if x.Kind == "tokio blocking task" { // see checkBlocking
			continue
		}
		var way []string
		count := x.Kind != "branch" && x.Kind != "block_on"
		for _, f := range slices.Backward(x.Frames) {
			crate, name, _ := strings.Cut(f.Function, "::")
			own := slices.Contains([]string{"tasks", "executors", "newer"}, crate)
			if own && count {
				tasks++
				count = false
			}
			if own && !slices.Contains(unnoted, name) && f.Kind != "running" && f.Kind != "not begun" {
				if name == "Counted" || name == "Kind" {
					continue // futures that are no functions
				}
				line := f.Line
				if filepath.Base(f.File) != "main.rs" {
					line = 0
				}
				way = append(way, fmt.Sprintf("%s:%d", unnumbered.ReplaceAllString(name, "{async}"), line))
			}
		}
		if len(way) > 0 {
			ways = append(ways, strings.Join(way, " "))
		}
	}
	slices.Sort(ways)
	return ways, tasks
}

// differ says in what the notes of a program and what was found in it differ.
func differ(want, got []string) string {
	count := map[string]int{}
	for _, w := range want {
		count[w]++
	}
	for _, w := range got {
		count[w]--
	}
	var text []string
	for w, n := range count {
		if n != 0 {
			text = append(text, fmt.Sprintf("%+d %s", -n, w))
		}
	}
	slices.Sort(text)
	return strings.Join(text, "\n")
}

// agrees waits until a program's notes and its tasks are the same: what a task has noted it waits
// for a moment later.
func agrees(t *testing.T, p *program, list func() ([]language.Task, error)) (tasks []language.Task) {
	t.Helper()
	why := ""
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(why)
		}
	})
	gdbtest.Await(t, "tasks are as the program has noted them", func() bool {
		p.ask(t)
		noted := p.ways
		found, err := list()
		p.ask(t)
		ways, n := waysOf(found)
		switch {
		case err != nil:
			why = err.Error()
		case !slices.Equal(noted, p.ways):
			why = "the notes change"
		case n != p.alive:
			why = fmt.Sprintf("%d tasks, want %d", n, p.alive)
		default:
			why = differ(noted, ways)
		}
		tasks = found
		return why == ""
	})
	return tasks
}

// builds calls test with a program as each toolchain and profile builds it.
func builds(t *testing.T, program string, crates []string, test func(t *testing.T, path string)) {
	t.Helper()
	for _, c := range gdbtest.Cargos(t, crates...) {
		for _, profile := range []string{"release", "dev"} {
			t.Run(c.Name+"/"+profile, func(t *testing.T) {
				dir, err := filepath.Abs("testdata/" + program)
				if err != nil {
					t.Fatal(err)
				}
				test(t, c.Build(t, dir, "--profile", profile))
			})
		}
	}
}

// The crates that the programs need.
var (
	ofTokio     = []string{"tokio", "futures-util"}
	ofExecutors = []string{"async-std", "smol", "futures-executor", "futures-util"}
)

// TestTasksOfTokio: the tasks of a program wait where the program has noted that they wait.
func TestTasksOfTokio(t *testing.T) {
	const rounds = 12
	builds(t, "tasks", ofTokio, func(t *testing.T, path string) {
		for _, scheduler := range []string{"multi", "current", "running", "local", "nested"} {
			t.Run(scheduler, func(t *testing.T) {
				p := start(t, path, scheduler, strconv.Itoa(rounds))
				list := agrees(t, p, func() ([]language.Task, error) { return attached(t, p.PID) })
				if len(list) < 300 {
					t.Errorf("%d tasks", len(list))
				}
				checkStates(t, p.PID, list, scheduler)
				checkLeaves(t, list, rounds)
				checkBlocking(t, list, rounds)
			})
		}
	})
}

// checkLeaves: futures that are no async functions are branches of the tasks that wait for several.
func checkLeaves(t *testing.T, list []language.Task, rounds int) {
	t.Helper()
	of := map[uint64]bool{}
	for i := range list {
		if x := &list[i]; len(x.Frames) > 0 && x.Frames[len(x.Frames)-1].Function == "tasks::leaves" {
			of[x.ID] = true
		}
	}
	count := map[string]int{}
	for i := range list {
		if x := &list[i]; x.Kind == "branch" && of[x.AwaitedBy[0]] && len(x.Frames) == 1 {
			count[x.Frames[0].Function]++
		}
	}
	want := map[string]int{"tokio::time::sleep::Sleep": rounds, "tokio::sync::notify::Notified": 2 * rounds, "tokio::sync::oneshot::Receiver": rounds}
	if len(of) != 2*rounds || !maps.Equal(count, want) {
		t.Errorf("%d tasks have the branches %v, want %v", len(of), count, want)
	}
}

// checkStates: a task that runs says on which thread; the others wait.
func checkStates(t *testing.T, pid int, list []language.Task, scheduler string) {
	t.Helper()
	threads := gdbtest.Glob(t, fmt.Sprintf("/proc/%d/task/*", pid))
	// One task may be left to a thread that spins, or that waits while no other is free.
	keeps := scheduler == "running" || scheduler == "nested"
	runs := map[string]int{}
	for i := range list {
		x := &list[i]
		if x.Early != "" {
			t.Errorf("%s #%d: %s", x.Kind, x.Number, x.Early)
		}
		if (x.State == "running" || x.Kind == "block_on") && !slices.Contains(threads, fmt.Sprintf("/proc/%d/task/%d", pid, x.Thread)) {
			t.Errorf("%s #%d is on thread %d", x.Kind, x.Number, x.Thread)
		}
		switch {
		case x.Kind == "tokio blocking task":
		case x.State == "running":
			if len(x.Frames) != 1 {
				t.Errorf("task #%d runs %v", x.Number, x.Frames)
				continue
			}
			runs[x.Frames[0].Function]++
		case x.State != "waiting" && !(keeps && x.State == "ready"):
			t.Errorf("task #%d is %q", x.Number, x.State)
		}
	}
	want := map[string]map[string]int{"running": {"tasks::spins": 1}, "nested": {"tasks::nests": 1}}[scheduler]
	if !maps.Equal(runs, want) {
		t.Errorf("tasks run: %v, want %v", runs, want)
	}
}

// checkBlocking: two functions of spawn_blocking run, each on a thread of its own, and the others
// are queued. Each has a task that waits for it.
func checkBlocking(t *testing.T, list []language.Task, rounds int) {
	t.Helper()
	states, functions, threads := map[string]int{}, map[string]int{}, map[int]bool{}
	for i := range list {
		x := &list[i]
		if x.Kind != "tokio blocking task" {
			continue
		}
		states[x.State]++
		if x.State == "running" {
			threads[x.Thread] = true
		}
		if len(x.Frames) != 1 || len(x.AwaitedBy) != 1 {
			t.Errorf("blocking task #%d has the frames %v, and %d tasks that wait for it", x.Number, x.Frames, len(x.AwaitedBy))
			continue
		}
		functions[numbers.ReplaceAllString(x.Frames[0].Function, "#")]++
	}
	if want := map[string]int{"running": 2, "queued": 2*rounds - 2}; !maps.Equal(states, want) || len(threads) != 2 {
		t.Errorf("blocking tasks are %v on %d threads, want %v on 2", states, len(threads), want)
	}
	if want := map[string]int{"fn() -> u64": rounds, "tasks::spawns::{async_fn#}::{closure#}": rounds}; !maps.Equal(functions, want) {
		t.Errorf("blocking tasks call %v, want %v", functions, want)
	}
}

var numbers = regexp.MustCompile(`#\d+`)

// TestTasksOfExecutors: the same of smol and async-std, and of an executor of the program's own.
func TestTasksOfExecutors(t *testing.T) {
	const rounds = 12
	builds(t, "executors", ofExecutors, func(t *testing.T, path string) {
		for kind, least := range map[string]int{"smol": 160, "own": 160, "local": 160, "std": 70, "futures": 48} {
			t.Run(kind, func(t *testing.T) {
				p := start(t, path, kind, strconv.Itoa(rounds))
				if _, err := attached(t, p.PID); kind == "std" && err != nil && strings.Contains(err.Error(), "keeps no list") {
					gdbtest.Cannot(t, "this async-std has a StaticExecutor (async-global-executor 3), which keeps no list of its tasks")
				}
				list := agrees(t, p, func() ([]language.Task, error) { return attached(t, p.PID) })
				if len(list) < least {
					t.Errorf("%d tasks", len(list))
				}
				checkAwaited(t, p.PID, list, kind, rounds)
			})
		}
	})
}

// checkAwaited: tasks that are waited for say so, wait, and have the names that they were given.
func checkAwaited(t *testing.T, pid int, list []language.Task, kind string, rounds int) {
	t.Helper()
	threads := gdbtest.Glob(t, fmt.Sprintf("/proc/%d/task/*", pid))
	of := map[uint64]string{}
	for i := range list {
		for _, f := range list[i].Frames { // the outermost one of the program's own
			if strings.HasPrefix(f.Function, "executors::") {
				of[list[i].ID] = f.Function
			}
		}
	}
	awaited, names, runs := map[string]int{}, map[string]int{}, map[int]bool{}
	for i := range list {
		x := &list[i]
		if x.Early != "" && !(x.Kind == "block_on" && of[x.ID] == "") { // what a thread of the executor's own waits for
			t.Errorf("%s %#x: %s", x.Kind, x.ID, x.Early)
		}
		if x.Name != "" {
			names[x.Name]++
		}
		switch x.Kind {
		case "branch":
			continue
		case "blocking task":
			if x.State != "running" && x.State != "ready" {
				t.Errorf("%s %#x is %q", x.Kind, x.ID, x.State)
			}
		default:
			if x.State != "waiting" && x.Kind != "futures task" {
				t.Errorf("%s %#x is %q", x.Kind, x.ID, x.State)
			}
		}
		if x.Kind == "blocking task" && x.Thread != 0 { // several running ones may be in a frame; then it has none
			if runs[x.Thread] {
				t.Errorf("thread %d runs two blocking tasks", x.Thread)
			}
			runs[x.Thread] = true
		}
		if (x.Thread != 0 || x.Kind == "block_on") && !slices.Contains(threads, fmt.Sprintf("/proc/%d/task/%d", pid, x.Thread)) {
			t.Errorf("%s %#x is on thread %d", x.Kind, x.ID, x.Thread)
		}
		for _, by := range x.AwaitedBy {
			awaited[fmt.Sprintf("%s by %s", x.Kind, of[by])]++
		}
	}
	want := map[string]int{"smol task by executors::joins": rounds, "blocking task by executors::blocked": rounds}
	switch kind {
	case "std":
		want = map[string]int{"async-std task by executors::joins_std": rounds}
	case "futures":
		want = map[string]int{}
	}
	if !maps.Equal(awaited, want) {
		t.Errorf("awaited are %v, want %v", awaited, want)
	}
	want = map[string]int{}
	for i := range rounds {
		if kind == "std" {
			want[fmt.Sprintf("named %d", i)] = 1
		}
	}
	if !maps.Equal(names, want) {
		t.Errorf("names are %v, want %v", names, want)
	}
}

// TestNewerRust: async closures, and async functions of traits, have their names, also if the debug
// information is in a package beside the program.
func TestNewerRust(t *testing.T) {
	const rounds, release = 6, 85
	for _, c := range gdbtest.Cargos(t, "tokio") {
		t.Run(c.Name, func(t *testing.T) {
			if has := c.Release(t); has < release {
				gdbtest.Cannot(t, fmt.Sprintf("rustc 1.%d has no async closures", has))
			}
			dir, err := filepath.Abs("testdata/newer")
			if err != nil {
				t.Fatal(err)
			}
			path := c.Build(t, dir, "--profile", "split")
			if _, err := os.Stat(path + ".dwp"); err != nil {
				t.Fatal(err)
			}
			p := start(t, path, strconv.Itoa(rounds))
			list := agrees(t, p, func() ([]language.Task, error) { return attached(t, p.PID) })
			if len(list) != 2*rounds+1 {
				t.Errorf("%d tasks", len(list))
			}
		})
	}
}

// TestWithoutTypes: a program whose debug information has lines alone is not taken for one without
// tasks.
func TestWithoutTypes(t *testing.T) {
	src, err := filepath.Abs("testdata/tokio.rs")
	if err != nil {
		t.Fatal(err)
	}
	p := gdbtest.StartRunning(t, gdbtest.Compile(t, src, gdbtest.Tool(t, "rustc"), "--edition=2021", "-O", "-Cdebuginfo=1"))
	if list, err := attached(t, p.PID); len(list) > 0 || err == nil || !strings.Contains(err.Error(), "debug = 2") {
		t.Errorf("%d tasks, %v", len(list), err)
	}
}

// TestSeparate: the debug information is in a file of its own, and the program has no symbols. Its
// core file has the same tasks.
func TestSeparate(t *testing.T) {
	objcopy := gdbtest.Tool(t, "objcopy")
	gcore := gdbtest.Tool(t, "gcore")
	dir, err := filepath.Abs("testdata/tasks")
	if err != nil {
		t.Fatal(err)
	}
	cargos := gdbtest.Cargos(t, ofTokio...)
	full := cargos[len(cargos)-1].Build(t, dir, "--profile", "release")
	made := t.TempDir()
	path, debug := filepath.Join(made, "tasks"), filepath.Join(made, "tasks.debug")
	for _, args := range [][]string{{"--only-keep-debug", full, debug}, {"--strip-all", "--add-gnu-debuglink=" + debug, full, path}} {
		if out, err := exec.Command(objcopy, args...).CombinedOutput(); err != nil {
			t.Fatalf("objcopy %q: %v\n%s", args, err, out)
		}
	}
	p := start(t, path, "multi", "12")
	list := agrees(t, p, func() ([]language.Task, error) { return attached(t, p.PID) })
	if out, err := exec.Command(gcore, "-o", filepath.Join(made, "core"), strconv.Itoa(p.PID)).CombinedOutput(); err != nil {
		t.Fatalf("gcore: %v\n%s", err, out)
	}
	tg, err := core.Open(fmt.Sprintf("%s.%d", filepath.Join(made, "core"), p.PID), core.Options{Exe: path})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	symbols := symbol.New(symbol.Options{Entries: true})
	defer symbols.Close()
	dead, err := tasksOf(t, tg, tg.Memory(), symbols)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := waysOf(list)
	got, _ := waysOf(dead)
	if why := differ(want, got); why != "" {
		t.Errorf("the core file has other tasks:\n%s", why)
	}
}
