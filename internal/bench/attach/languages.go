//go:build linux

package attach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// These are the goals.
const (
	decorateGoal  = 10 * time.Millisecond // more for an attach to 50 threads of 100 frames
	decorateBytes = 5 << 20
	decorateHeld  = 2 * time.Millisecond  // by which a thread is held longer
	dumpGoal      = 0.2                   // of the wall time of tools that read Python's frames alone
	sampleGoal    = 50 * time.Microsecond // of a processor, for a stack of record --wall
	jstackGoal    = 0.1                   // of the processor time of jstack -l
	javaHeld      = 5 * time.Millisecond  // how long a thread of a Java virtual machine is held
	plainGoal     = 1.01                  // of the walk, for a program without a run time
)

const (
	pySpy   = "py-spy dump"
	pystack = "pystack remote"
	jstack  = "jstack -l"
)

const (
	pythonDepth = 100 // Python frames of each thread
	javaDepth   = 60  // Java frames of each thread
	javaAround  = 6   // of these, frames above and below the calls of Parked.park
	manyThreads = 50
	wallRate    = 20 // looks a second at all threads
)

// languages is what the measurements of frames of languages have in common.
type languages struct {
	*meter
	d      build.Dir
	s      *report.Section
	sfwalk string
	python string
	many   int // threads
	wall   time.Duration
}

// MeasureLanguages measures what frames of languages cost, beside tools that read these alone.
func MeasureLanguages(ctx context.Context, d build.Dir, o Options) (*report.Section, error) {
	if o.Rounds == 0 {
		o.Rounds = 21
	}
	sfwalk, err := d.Sfwalk()
	if err != nil {
		return nil, err
	}
	run, err := command.NewRunner(d)
	if err != nil {
		return nil, err
	}
	l := &languages{
		meter: &meter{run: run, dir: d.Path, rounds: o.Rounds}, d: d, sfwalk: sfwalk, python: python(), many: manyThreads, wall: 5 * time.Second,
		s: &report.Section{
			Part: "languages", Title: "Frames of languages", Commands: []string{"go run ./internal/bench -only languages"},
			Text: fmt.Sprintf(languagesText, pythonDepth, javaDepth, o.Rounds, interpreterDepth),
		},
	}
	if o.Small {
		l.many, l.wall = 2, 300*time.Millisecond
	}
	if l.python == "" {
		return nil, errors.New("python3 is not installed")
	}
	l.s.Versions = append(l.s.Versions, build.Version(l.python))
	for _, measure := range []func(context.Context) error{l.pythons, l.walls, l.java, l.interpreted, l.erlang, l.plain} {
		if err := measure(ctx); err != nil {
			return nil, err
		}
	}
	return l.s, nil
}

const languagesText = `Each command prints the stacks of a program whose threads wait: of Python, with %d frames of Python each, all of which wait for
one lock (internal/bench/programs/threads.py), or of Java, with %d frames of Java each (Parked.java). Medians of %d rounds, and the
least time that a thread was held. py-spy and pystack, from PyPI, read Python's frames alone here, and jstack Java's. What the
process itself does meanwhile is counted: for jstack, the virtual machine writes the stacks. Programs of JavaScript, Ruby, PHP, Perl and
Lua have one thread of %[4]d frames (deep.*).
record --wall leaves threads alone that have not run since their last sample. Of threads that wake, it stops the ones that do not sleep
at that moment.

"Decorating" is what the frames of a language add to the walk of all stacks: to find the run time, to read the chains of frames, and
to lay them over the physical frames. Its time is a processor's.
`

// threads returns the Python program of n threads.
func (l *languages) threads(n int) scenario {
	return scenario{
		name: fmt.Sprintf("Python, %d × %d", n, pythonDepth), program: l.python,
		args: []string{l.d.Root + "/internal/bench/programs/threads.py", strconv.Itoa(n), strconv.Itoa(pythonDepth)},
	}
}

// tools returns our commands.
func (l *languages) tools() []tool {
	return []tool{{name: ours, args: []string{l.sfwalk, "attach", "PID"}}, {name: noLines, args: []string{l.sfwalk, "attach", "--no-lines", "PID"}}}
}

// costs measures commands, and adds their table.
func (l *languages) costs(ctx context.Context, p scenario, list []tool) (map[string]*sample, error) {
	samples, err := l.cost(ctx, p, list)
	if err != nil {
		return nil, err
	}
	t := report.Table{Caption: "**" + p.name + "**", Head: []string{"command", "wall", "CPU", "CPU of the process", "peak memory"}}
	by := map[string]*sample{}
	for _, x := range samples {
		by[x.tool.name] = x
		row := x.row()
		t.Add(row[0], row[2], row[3], report.Time(report.Median(x.spent)).String(), row[4])
	}
	l.s.Tables = append(l.s.Tables, t)
	return by, nil
}

// pythons compares with the tools that read Python's frames, and measures the decorator.
func (l *languages) pythons(ctx context.Context) error {
	list := l.tools()
	missing := map[string]string{}
	for _, t := range []tool{{name: pySpy, args: []string{"py-spy", "dump", "--pid", "PID"}}, {name: pystack, args: []string{"pystack", "remote", "PID"}}} {
		path, err := exec.LookPath(t.args[0])
		if err != nil {
			missing[t.name] = t.args[0] + " is not installed"
			continue
		}
		if of, err := exec.Command("pyenv", "which", t.args[0]).Output(); err == nil {
			path = strings.TrimSpace(string(of)) // pyenv's own programs are shell scripts that look for it
		}
		list = append(list, tool{name: t.name, args: append([]string{path}, t.args[1:]...)})
		version := build.Version(path)
		if !strings.HasPrefix(version, t.args[0]) {
			version = t.args[0] + " " + version
		}
		l.s.Versions = append(l.s.Versions, version)
	}
	for _, n := range []int{1, l.many} {
		p := l.threads(n)
		by, err := l.costs(ctx, p, list)
		if err != nil {
			return err
		}
		for _, name := range []string{pySpy, pystack} {
			g := report.Goal{What: p.name + ": wall", Peer: name, Most: dumpGoal, Missing: missing[name]}
			if them := by[name]; them != nil {
				g.Ours, g.Theirs = report.Time(report.Median(by[ours].wall)), report.Time(report.Median(them.wall))
			}
			l.s.Goals = append(l.s.Goals, g)
		}
		if err := l.addition(ctx, p, "Python", true); err != nil {
			return err
		}
	}
	return nil
}

// addition measures a decorator, and how long sfwalk holds a process. goals says that there are
// goals for the decorator itself.
func (l *languages) addition(ctx context.Context, p scenario, language string, goals bool) error {
	started, err := l.start(p, nil)
	if err != nil {
		return err
	}
	defer started.Stop()
	added, err := l.decorating(ctx, started.PID)
	if err != nil {
		return err
	}
	held, err := l.held(ctx, l.sfwalk, started.PID)
	if err != nil {
		return err
	}
	l.s.Tables = append(l.s.Tables, added.table(p.name, language))
	if !goals {
		l.s.Goals = append(l.s.Goals, report.Goal{What: p.name + ": held", Peer: "a bound", Most: 1, Ours: report.Time(held), Theirs: report.Time(javaHeld)})
		return nil
	}
	l.s.Goals = append(l.s.Goals,
		report.Goal{What: p.name + ": decorating", Peer: "a bound", Most: 1, Ours: report.Time(added.find + added.decorate), Theirs: report.Time(decorateGoal)},
		report.Goal{What: p.name + ": memory of decorating", Peer: "a bound", Most: 1, Ours: report.Memory(added.bytes), Theirs: report.Memory(decorateBytes)},
		report.Goal{What: p.name + ": held", Peer: "2 ms more than without", Most: 1, Ours: report.Time(held), Theirs: report.Time(added.held + decorateHeld)})
	return nil
}

// nap is how long threads sleep that do so over and over, seconds.
const nap = "0.005"

// walls measures record --wall: of threads that sleep on, and of threads that run now and then.
func (l *languages) walls(ctx context.Context) error {
	rests, naps := l.threads(l.many), l.threads(l.many)
	rests.name += ", which wait"
	naps.name += ", which wake every " + nap + " s"
	naps.args = append(naps.args, nap)
	if err := l.recordWall(ctx, rests); err != nil {
		return err
	}
	return l.recordWall(ctx, naps)
}

func (l *languages) recordWall(ctx context.Context, p scenario) error {
	started, err := l.start(p, nil)
	if err != nil {
		return err
	}
	defer started.Stop()
	file := filepath.Join(l.dir, "wall.folded")
	c, err := l.run.Run(ctx, false, l.sfwalk, "record", "--wall", "-d", l.wall.String(), "-F", strconv.Itoa(wallRate), "-o", file, strconv.Itoa(started.PID))
	if err != nil {
		return err
	}
	samples, err := samplesOf(l.run)
	if err != nil || c.Status != 0 {
		return fmt.Errorf("sfwalk record --wall: exit status %d: %w", c.Status, err)
	}
	each := c.CPU / time.Duration(samples)
	t := report.Table{Caption: fmt.Sprintf("**record --wall: %s, %d times a second**", p.name, wallRate), Head: []string{"samples", "CPU", "of one sample", "peak memory"}}
	t.Add(strconv.Itoa(samples), report.Time(c.CPU).String(), report.Time(each).String(), report.Memory(c.Peak).String())
	l.s.Tables = append(l.s.Tables, t)
	l.s.Goals = append(l.s.Goals, report.Goal{What: "record --wall, " + p.name + ": CPU of a sample", Peer: "a bound", Most: 1, Ours: report.Time(each), Theirs: report.Time(sampleGoal)})
	return nil
}

// java compares with jstack.
func (l *languages) java(ctx context.Context) error {
	p := scenario{name: fmt.Sprintf("Java, %d × %d", l.many, javaDepth)}
	home, err := jdk(ctx, l.d)
	if err != nil {
		l.s.Goals = append(l.s.Goals, report.Goal{What: p.name + ": CPU", Peer: jstack, Most: jstackGoal, Missing: err.Error()})
		return nil
	}
	p.program, p.args = filepath.Join(home, "bin/java"), []string{"-cp", l.d.Path, "Parked", strconv.Itoa(l.many), strconv.Itoa(javaDepth - javaAround)}
	l.s.Versions = append(l.s.Versions, build.Version(filepath.Join(home, "bin/javac")))
	by, err := l.costs(ctx, p, append(l.tools(), tool{name: jstack, args: []string{filepath.Join(home, "bin/jstack"), "-l", "PID"}}))
	if err != nil {
		return err
	}
	all := func(x *sample) report.Value { return report.Time(report.Median(x.cpu) + report.Median(x.spent)) }
	l.s.Goals = append(l.s.Goals, report.Goal{What: p.name + ": CPU", Peer: jstack, Most: jstackGoal, Ours: all(by[ours]), Theirs: all(by[jstack])})
	return l.addition(ctx, p, "Java", false)
}

// jdk compiles Parked.java, and returns the folder of the JDK. The error says why there is none.
func jdk(ctx context.Context, d build.Dir) (home string, err error) {
	compiler, err := exec.LookPath("javac")
	if err != nil {
		return "", errors.New("javac is not installed")
	}
	if compiler, err = filepath.EvalSymlinks(compiler); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, compiler, "-d", d.Path, filepath.Join(d.Root, "internal/bench/programs/Parked.java"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w: %s", cmd.Args, err, strings.TrimSpace(string(out)))
	}
	return filepath.Dir(filepath.Dir(compiler)), nil
}

// plain measures what a program pays that has no run time.
func (l *languages) plain(ctx context.Context) error {
	program, err := l.d.C("wait", build.Walked, "wait.c", "deep.c", "ticker.c")
	if err != nil {
		return err
	}
	p := scenario{name: "C, 1 × 40", program: program, args: []string{"1", "40"}}
	started, err := l.start(p, nil)
	if err != nil {
		return err
	}
	defer started.Stop()
	added, err := l.decorating(ctx, started.PID)
	if err != nil {
		return err
	}
	l.s.Tables = append(l.s.Tables, added.table(p.name, "a language"))
	l.s.Goals = append(l.s.Goals, report.Goal{What: p.name + ": walk, and the search for run times", Peer: "the walk alone", Most: plainGoal,
		Ours: report.Time(added.walk + added.find + added.decorate), Theirs: report.Time(added.walk)},
		report.Goal{What: p.name + ": the search for run times", Peer: "a bound", Most: 1, Ours: report.Time(added.find + added.decorate), Theirs: report.Time(strangeGoal)})
	return nil
}

var saidSamples = regexp.MustCompile(`(?m)^(\d+) samples? of `)

// samplesOf returns how many samples sfwalk record says that it has taken.
func samplesOf(run *command.Runner) (int, error) {
	out, err := os.ReadFile(run.Out)
	if err != nil {
		return 0, err
	}
	m := saidSamples.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("sfwalk record says %q", out)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err == nil && n == 0 {
		err = errors.New("no sample was taken")
	}
	return n, err
}
