//go:build linux

package big

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/contest"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// Options of Measure.
type Options struct {
	Rounds int  // of each command, at least, unless they take a minute; 0 for 5
	Small  bool // small programs: for tests
}

// A subject is a work that is measured.
type subject struct {
	goals   []report.Goal // without what is measured
	measure func(ctx context.Context, b *bench, goals []report.Goal) error
}

var subjects = []subject{
	namesOfProfile, namesOfMore, namesOfCompressed, kernelNames, modules, node, java, tables, bareTables, threads, goroutines, starts, sparseCore,
}

// A bench is what subjects share while they are measured.
type bench struct {
	contest.Meter
	dir    build.Dir
	small  bool
	sfwalk string
	costs  report.Table
	names  report.Table
	peers  []string // their versions
}

// Measure measures all subjects. What a subject lacks on this machine is not measured.
func Measure(ctx context.Context, d build.Dir, o Options) (*report.Section, error) {
	if o.Rounds == 0 {
		o.Rounds = 5
	}
	sfwalk, err := d.Sfwalk()
	if err != nil {
		return nil, err
	}
	run, err := command.NewRunner(d)
	if err != nil {
		return nil, err
	}
	b := &bench{Meter: newMeter(run, o.Rounds), dir: d, small: o.Small, sfwalk: sfwalk, costs: report.Table{Head: costsHead}, names: report.Table{Head: namesHead}}
	s := &report.Section{
		Part: "big", Title: "Large programs", Commands: []string{"go run ./internal/bench -only big"},
		Text: fmt.Sprintf(text, o.Rounds),
	}
	for _, one := range subjects {
		goals := slices.Clone(one.goals)
		if err := one.measure(ctx, b, goals); errors.Is(err, build.ErrMissing) {
			for i := range goals {
				if goals[i].Ours.Number == 0 {
					goals[i].Missing = err.Error()
				}
			}
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", goals[0].What, err)
		}
		s.Goals = append(s.Goals, goals...)
	}
	s.Tables = []report.Table{b.costs, b.names}
	s.Versions = append(slices.Compact(slices.Sorted(slices.Values(b.peers))), build.Compilers()...)
	return s, nil
}

// newMeter returns a meter of so many rounds or, where they are short, ten times as many.
func newMeter(run *command.Runner, rounds int) contest.Meter {
	m := contest.Meter{Run: run, Rounds: rounds, Most: 10 * rounds, Little: 3 * time.Second, Enough: time.Minute}
	if rounds == 1 {
		m.Most = 1
	}
	return m
}

var costsHead = []string{"work", "command", "CPU", "wall", "peak memory", "it prints"}

const text = `What grows with a program: its debug information, its modules, its tables, its threads. The bench makes the programs.
The C++ program (internal/bench/cplusplus) has units of 2.4 MB of debug information, compiled with -O2 -g, each with
types of its own for the templates of the standard library. The least of %d runs or more, in turns; fewer where a minute
has gone by. The files are in the system's cache for all, and what sfwalk keeps of compressed debug information is kept.

Names: package symbol, as the program internal/bench/namer, and llvm-symbolizer get the same addresses of a file and
print all inlined calls, the function, and their lines. A profile's addresses are as likely in one function as in another
one, and in the order of discovery, which is none. Of the other addresses, one instruction is as likely as another one.
An address is counted once, as the first of the differences that it has. A line is the same if the line table has it
for the address: of several rows that begin there llvm-symbolizer takes the last, and sfwalk, as GDB, one that begins a
statement.`

// row adds what a command took to the first table.
func (b *bench) row(work, name string, c command.Cost, prints string) {
	b.costs.Add(work, name, report.Time(c.CPU).String(), report.Time(c.Wall).String(), report.Memory(c.Peak).String(), prints)
}

// count returns n, or few where programs are small.
func (b *bench) count(n, few int) int {
	if b.small {
		return few
	}
	return n
}

// processor fills in a goal for the CPU time.
func processor(g *report.Goal, ours, theirs command.Cost) {
	g.Ours, g.Theirs = report.Time(ours.CPU), report.Time(theirs.CPU)
}

// memory fills in a goal for the peak memory.
func memory(g *report.Goal, ours, theirs command.Cost) {
	g.Ours, g.Theirs = report.Memory(ours.Peak), report.Memory(theirs.Peak)
}
