//go:build linux

package attach

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/report"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/decorators"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// These are the goals.
const (
	decorateGoal  = 10 * time.Millisecond // more for an attach to 50 threads of 100 frames
	decorateBytes = 5 << 20
	dumpGoal      = 0.2 // of the wall time of tools that read Python's frames alone
)

const (
	pySpy   = "py-spy dump"
	pystack = "pystack remote"
)

const (
	pythonDepth = 100 // Python frames of each thread
	manyThreads = 50
)

// MeasureLanguages runs commands that print the stacks of Python programs, and measures what the
// decorators take of sfwalk's time.
func MeasureLanguages(ctx context.Context, d build.Dir, o Options) (*report.Section, error) {
	if o.Rounds == 0 {
		o.Rounds = 21
	}
	interpreter := python()
	if interpreter == "" {
		return nil, errors.New("python3 is not installed")
	}
	sfwalk, err := d.Sfwalk()
	if err != nil {
		return nil, err
	}
	run, err := command.NewRunner(d)
	if err != nil {
		return nil, err
	}
	s := &report.Section{
		Part: "languages", Title: "Frames of languages", Commands: []string{"go run ./internal/bench -only languages"},
		Versions: []string{build.Version(interpreter)},
		Text: fmt.Sprintf(`Each command prints the stacks of a Python program whose threads have %d frames of Python each and wait for a lock
(internal/bench/programs/threads.py). Medians of %d rounds. py-spy and pystack, from PyPI, read Python's frames alone here.
"Decorating" is what the frames of Python add to the walk of all stacks: to find the run time, to read the chains of
frames, and to lay them over the physical frames.
`, pythonDepth, o.Rounds),
	}
	list := []tool{{name: ours, args: []string{sfwalk, "attach", "PID"}}, {name: noLines, args: []string{sfwalk, "attach", "--no-lines", "PID"}}}
	missing := map[string]string{}
	for name, args := range map[string][]string{pySpy: {"py-spy", "dump", "--pid", "PID"}, pystack: {"pystack", "remote", "PID"}} {
		path, err := exec.LookPath(args[0])
		if err != nil {
			missing[name] = args[0] + " is not installed"
			continue
		}
		list = append(list, tool{name: name, args: append([]string{path}, args[1:]...)})
		s.Versions = append(s.Versions, build.Version(path))
	}
	many := manyThreads
	if o.Small {
		many = 2
	}
	for _, threads := range []int{1, many} {
		p := scenario{
			name: fmt.Sprintf("%d × %d", threads, pythonDepth), program: interpreter,
			args: []string{d.Root + "/internal/bench/programs/threads.py", strconv.Itoa(threads), strconv.Itoa(pythonDepth)},
		}
		m := &meter{run: run, dir: d.Path, rounds: o.Rounds}
		samples, err := m.cost(ctx, p, list)
		if err != nil {
			return nil, err
		}
		t := report.Table{Caption: "**" + p.name + "**", Head: []string{"command", "frames", "wall", "CPU", "peak memory"}}
		by := map[string]*sample{}
		for _, x := range samples {
			by[x.tool.name] = x
			t.Add(x.row()[:5]...)
		}
		s.Tables = append(s.Tables, t)
		for _, name := range []string{pySpy, pystack} {
			g := report.Goal{What: p.name + ": wall", Peer: name, Most: dumpGoal, Missing: missing[name]}
			if them := by[name]; them != nil {
				g.Ours, g.Theirs = report.Time(report.Median(by[ours].wall)), report.Time(report.Median(them.wall))
			}
			s.Goals = append(s.Goals, g)
		}
		added, err := m.decorating(ctx, p)
		if err != nil {
			return nil, err
		}
		s.Tables = append(s.Tables, added.table(p.name))
		s.Goals = append(s.Goals,
			report.Goal{What: p.name + ": decorating", Peer: "a bound", Most: 1, Ours: report.Time(added.find + added.decorate), Theirs: report.Time(decorateGoal)},
			report.Goal{What: p.name + ": memory of decorating", Peer: "a bound", Most: 1, Ours: report.Memory(added.bytes), Theirs: report.Memory(decorateBytes)})
	}
	return s, nil
}

// added is what frames of languages add to the walk of all stacks of a process. Each is the median
// of some rounds.
type added struct {
	find, walk, decorate time.Duration
	bytes                int64 // allocated by find and decorate together
	frames               int   // of languages
}

func (a *added) table(name string) report.Table {
	t := report.Table{Caption: "**" + name + ", within sfwalk**", Head: []string{"walking all stacks", "finding the run time", "decorating all stacks", "allocated for that", "frames of Python"}}
	t.Add(report.Time(a.walk).String(), report.Time(a.find).String(), report.Time(a.decorate).String(), report.Memory(a.bytes).String(), strconv.Itoa(a.frames))
	return t
}

// decorating measures the decorators on a scenario's process. Each round opens the process anew.
func (m *meter) decorating(ctx context.Context, s scenario) (*added, error) {
	p, err := m.start(s, nil)
	if err != nil {
		return nil, err
	}
	defer p.Stop()
	var find, walk, decorate []time.Duration
	var bytes []int64
	frames := 0
	for range m.rounds {
		a, err := decorateOnce(ctx, p.PID)
		if err != nil {
			return nil, err
		}
		find, walk, decorate, bytes = append(find, a.find), append(walk, a.walk), append(decorate, a.decorate), append(bytes, a.bytes)
		frames = a.frames
	}
	return &added{report.Median(find), report.Median(walk), report.Median(decorate), report.Median(bytes), frames}, nil
}

// allocated returns how many bytes this process has allocated so far.
func allocated() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
}

func decorateOnce(ctx context.Context, pid int) (*added, error) {
	t, err := live.Attach(ctx, pid, live.Options{})
	if err != nil {
		return nil, err
	}
	defer t.Close()
	threads, err := t.Threads()
	if err != nil {
		return nil, err
	}
	a, table := &added{}, sniffer.Table(t.Arch())
	var stacks []*language.Stack
	begin := time.Now()
	for _, th := range threads {
		stack, err := frame.New(t, th, table)
		if err != nil {
			return nil, err
		}
		s := &language.Stack{Arch: t.Arch(), Thread: th, Memory: target.MemoryOf(t, th)}
		for f, err := range stack.All() {
			if err != nil {
				break
			}
			s.Frames, s.Whole = append(s.Frames, f), f.StopReason().Whole()
		}
		stacks = append(stacks, s)
	}
	a.walk = time.Since(begin)
	before := allocated()
	begin = time.Now()
	runtimes, err := language.Find(&language.Process{Arch: t.Arch(), Memory: t.Memory(), Modules: t.Modules()}, decorators.Usual())
	if err != nil {
		return nil, err
	}
	a.find = time.Since(begin)
	begin = time.Now()
	for _, s := range stacks {
		d := language.Decorate(s, runtimes)
		if d == nil {
			continue
		}
		if len(d.Warnings) > 0 {
			return nil, fmt.Errorf("decorated: %s", d.Warnings[0])
		}
		for _, place := range d.At {
			a.frames += len(place.Frames)
		}
	}
	a.decorate = time.Since(begin)
	a.bytes = allocated() - before
	return a, nil
}
