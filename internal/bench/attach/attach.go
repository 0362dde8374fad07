//go:build linux

package attach

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// Options of Measure.
type Options struct {
	Rounds int  // of each command; 0 for 21
	Small  bool // only the smallest process: for tests
}

// rounds returns the number of rounds.
func (o Options) rounds() int {
	if o.Rounds == 0 {
		return 21
	}
	return o.Rounds
}

const (
	peakGoal  = 1.5 * 14.5 * (1 << 20) // bytes
	warmGoal  = 1.3                    // times --no-lines, with what was kept
	pauseGoal = 10 * time.Millisecond  // of --consistent
)

var head = []string{"command", "frames", "wall", "CPU", "peak memory", "longest gap (least): deep thread", "idle thread", "untouched"}

// Measure runs the commands on all processes.
func Measure(ctx context.Context, d build.Dir, o Options) (*report.Section, error) {
	list, versions, missing, err := tools(d)
	if err != nil {
		return nil, err
	}
	processes, err := scenarios(d)
	if err != nil {
		return nil, err
	}
	if o.Small {
		processes = processes[:1]
	}
	run, err := command.NewRunner(d)
	if err != nil {
		return nil, err
	}
	floor, err := run.Run(ctx, false, "/bin/true")
	if err != nil {
		return nil, err
	}
	s := &report.Section{
		Part: "attach", Title: "Whole commands on a live process", Versions: append(versions, build.Compilers()...),
		Commands: []string{"go run ./internal/bench -only attach"},
		Text:     text(list, floor, o.rounds()),
	}
	for _, hide := range []bool{true, false} {
		if hide && !run.CanHide(ctx) {
			s.After = "Without separate debug files: not measured: they cannot be hidden, without the right to mount."
			continue
		}
		for _, p := range processes {
			samples, err := measure(ctx, &meter{run, d.Path, o.rounds(), hide}, p, list)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			caption := "**" + p.title() + "**, with separate debug files"
			if hide {
				caption = "**" + p.title() + "**"
			}
			t := report.Table{Caption: caption, Head: head}
			for _, one := range samples {
				t.Add(one.row()...)
			}
			s.Tables = append(s.Tables, t)
			s.Goals = append(s.Goals, goals(p, samples, hide, missing)...)
		}
	}
	return s, nil
}

// measure measures the costs, and the pauses beside the pauses that a command that does nothing
// makes.
func measure(ctx context.Context, m *meter, p scenario, list []tool) ([]*sample, error) {
	samples, err := m.cost(ctx, p, list)
	if err != nil {
		return nil, err
	}
	samples = append(samples, &sample{tool: tool{name: nothing, args: []string{"sleep", "0.1"}}})
	return samples, m.pauses(ctx, p, samples)
}

// title says what the scenario is.
func (s *scenario) title() string {
	if s.name == "large" {
		return fmt.Sprintf("Python, %d shared libraries, 8 threads", libraries)
	}
	return s.name + " (threads × depth)"
}

// goals are the project's: for wall time, peak memory, and pauses. A pause may be as long as the
// gaps in a process that is not even touched.
func goals(p scenario, samples []*sample, hide bool, missing string) []report.Goal {
	find := func(name string) *sample {
		if i := slices.IndexFunc(samples, func(s *sample) bool { return s.tool.name == name }); i >= 0 {
			return samples[i]
		}
		return nil
	}
	what := func(measure string) string {
		if !hide {
			measure += ", with debug files"
		}
		return p.name + ": " + measure
	}
	us, eu, lines, whole, names := find(ours), find(euStack), find(euStackLines), find(consistent), find(noLines)
	var list []report.Goal
	if p.wall > 0 {
		g := report.Goal{What: what("wall"), Peer: euStack, Most: p.wall, Missing: missing}
		if eu != nil {
			g.Ours, g.Theirs, g.Missing = report.Time(report.Median(us.wall)), report.Time(report.Median(eu.wall)), ""
		}
		list = append(list, g)
		if !hide && lines != nil {
			list = append(list, report.Goal{What: what("wall"), Peer: euStackLines, Most: p.wall,
				Ours: report.Time(report.Median(us.wall)), Theirs: report.Time(report.Median(lines.wall))})
		}
		if !hide && eu != nil && names != nil {
			list = append(list, report.Goal{What: what("wall of --no-lines"), Peer: euStack, Most: p.wall,
				Ours: report.Time(report.Median(names.wall)), Theirs: report.Time(report.Median(eu.wall))})
		}
		if !hide && names != nil {
			list = append(list, report.Goal{What: what("wall"), Peer: noLines, Most: warmGoal,
				Ours: report.Time(report.Median(us.wall)), Theirs: report.Time(report.Median(names.wall))})
		}
		list = append(list, report.Goal{What: what("peak memory"), Peer: "a bound", Most: 1,
			Ours: report.Memory(report.Median(us.peak)), Theirs: report.Memory(peakGoal)})
	}
	cpu := p.cpu
	if !hide {
		cpu = p.cpuFiles
	}
	if cpu > 0 {
		g := report.Goal{What: what("least CPU"), Peer: euStack, Most: cpu, Missing: missing}
		if eu != nil {
			g.Ours, g.Theirs, g.Missing = report.Time(slices.Min(us.cpu)), report.Time(slices.Min(eu.cpu)), ""
		}
		list = append(list, g)
	}
	if p.untouched {
		list = append(list, report.Goal{What: what("pause"), Peer: "untouched", Most: 1, Ours: report.Time(us.pause()), Theirs: report.Time(us.noise())})
	}
	if eu != nil && !p.untouched {
		g := report.Goal{What: what("pause"), Peer: euStack, Most: 1,
			Ours: report.Time(us.pause()), Theirs: report.Time(eu.pause())}
		if us.noise() > eu.pause() {
			g.Peer, g.Theirs = "untouched", report.Time(us.noise())
		}
		list = append(list, g)
	}
	if whole != nil {
		list = append(list, report.Goal{What: what("pause of --consistent"), Peer: "a bound", Most: 1,
			Ours: report.Time(whole.pause()), Theirs: report.Time(pauseGoal)})
	}
	return list
}

// text describes the measurement, before the tables.
func text(list []tool, floor command.Cost, rounds int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `Each command prints the stacks of all threads of a live process. Medians of %d rounds, in
each of which every command runs once, one after the other; what takes long, so often
that it takes no more than %v, and at least once. The processes run
internal/bench/programs/wait.c and, as a large program, internal/bench/programs/large.py. (gdb ends stacks at
main.)

The commands and the processes see an empty /usr/lib/debug; and, "with debug files", what
this machine has there. Of those, eu-stack reads the symbols alone, eu-stack -s also the
lines, as sfwalk does. sfwalk keeps what it has inflated of them; before a "first time", all that was
kept is removed.

The peak memory is by the kernel's accounting. It counts the parent's up to the exec:
the commands are started by a program of %v (/bin/true's peak here), not by one that is
larger than they are.

Gaps are the longest time that a thread of the process, which asks to sleep for 50 µs
over and over, was away for while the command ran: the thread at the bottom of the (first)
deep stack, and one with nothing else to do. Nothing is subtracted: medians, and in
brackets the least of all rounds, as other processes can only make a gap longer. What is
not a pause is beside it: "untouched" is the longer of the two while the same command looks
at another process just like it, and "nothing" is a command that sleeps for 100 ms.
`, rounds, budget, report.Memory(floor.Peak))
	b.WriteString("\n| command | |\n| --- | --- |\n")
	for _, t := range list {
		args := slices.Clone(t.args)
		for i, a := range args {
			if strings.Contains(a, " ") {
				args[i] = "'" + a + "'"
			}
		}
		args[0] = filepath.Base(args[0])
		fmt.Fprintf(&b, "| %s | `%s` |\n", t.name, strings.Join(args, " "))
	}
	return b.String()
}
