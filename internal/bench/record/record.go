//go:build linux

package record

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// Options of Measure.
type Options struct {
	Rounds   int           // of each scenario; 0 for 3
	Duration time.Duration // of one recording; 0 for ten seconds
}

// scenario is a process, and how often it is sampled.
type scenario struct{ depth, frequency int }

var scenarios = []scenario{{40, 99}, {40, 999}, {200, 99}, {200, 999}}

func (s scenario) String() string { return fmt.Sprintf("depth %d, %d Hz", s.depth, s.frequency) }

// peer is what sfwalk is compared with.
const peer = "perf record, perf script"

// Measure records a process with sfwalk and with perf.
func Measure(ctx context.Context, d build.Dir, o Options) (*report.Section, error) {
	if o.Rounds == 0 {
		o.Rounds = 3
	}
	if o.Duration == 0 {
		o.Duration = 10 * time.Second
	}
	s := &report.Section{
		Part: "record", Title: "Recording", Commands: []string{"go run ./internal/bench -only record"},
		Text: fmt.Sprintf(text, o.Duration, o.Rounds), Versions: append(build.Compilers(), build.Version("perf")),
	}
	perf, err := exec.LookPath("perf")
	if err != nil {
		for _, x := range scenarios {
			s.Goals = append(s.Goals, report.Goal{What: x.String() + ": CPU of the profiler", Peer: peer, Most: 0.2, Missing: "no perf (linux-perf)"})
		}
		return s, nil
	}
	b := &bench{ctx: ctx, o: o, perf: perf}
	if b.sfwalk, err = d.Sfwalk(); err != nil {
		return nil, err
	}
	if b.run, err = command.NewRunner(d); err != nil {
		return nil, err
	}
	if b.program, err = d.C("samples", build.Walked, "samples.c", "deep.c"); err != nil {
		return nil, err
	}
	if b.tmp, err = os.MkdirTemp(d.Path, "record-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(b.tmp)
	table := report.Table{Head: []string{"", "CPU", "target's time for the same work", "written", "samples", "to the bottom", "lost"}}
	for _, x := range scenarios {
		r, err := b.scenario(x)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", x, err)
		}
		table.Add(x.String(), "", report.Time(r.alone).String()+" alone", "", "", "", "")
		for _, row := range []struct {
			name string
			cost *cost
		}{{"perf", &r.theirs}, {"sfwalk", &r.ours}} {
			c := row.cost
			table.Add(row.name, report.Time(c.cpu).String(), report.Time(c.work).String(), report.Memory(c.written).String(),
				strconv.Itoa(c.samples), fmt.Sprintf("%.1f %%", 100*c.share()), strconv.Itoa(c.lost))
		}
		s.Goals = append(s.Goals, r.goals(x)...)
	}
	s.Tables = []report.Table{table}
	return s, nil
}

const text = "A process of two threads, of functions without frame pointers, which compute at the bottom of their stacks, is sampled for %v by `sfwalk record PID -o FILE.pb.gz`, and by\n" +
	"`perf record --call-graph dwarf -p PID`, whose file `perf script` unwinds. The profiler's CPU is all that it takes until the stacks have names: for perf, the time of both\n" +
	"commands. The target's time is the processor time that its threads take for 1000 pieces of the same work while they are sampled. A stack reaches the bottom if its outermost\n" +
	"function is the one that begins threads or programs. The least of %d rounds, in turns.\n" +
	"\n" +
	"perf copies 8 KiB of each stack unless it is told otherwise; sfwalk copies up to 60 KiB."

// goals compares.
func (r *result) goals(x scenario) []report.Goal {
	list := []report.Goal{
		{What: "CPU of the profiler", Ours: report.Time(r.ours.cpu), Theirs: report.Time(r.theirs.cpu), Most: 0.2},
		{What: "target's time for the same work", Ours: report.Time(r.ours.work), Theirs: report.Time(r.theirs.work), Most: 1.01},
		{What: "written", Ours: report.Memory(r.ours.written), Theirs: report.Memory(r.theirs.written), Most: 0.01},
	}
	for i := range list {
		list[i].What, list[i].Peer = x.String()+": "+list[i].What, peer
		switch {
		case r.ours.lost > 0:
			list[i].Missing = fmt.Sprintf("sfwalk has lost %d samples", r.ours.lost)
		case r.ours.share() < r.theirs.share()-fewBottoms:
			list[i].Missing = fmt.Sprintf("%.1f %% of sfwalk's stacks reach the bottom, %.1f %% of perf's", 100*r.ours.share(), 100*r.theirs.share())
		}
	}
	return list
}

// fewBottoms is the share of samples that may differ from run to run: some come while the program
// begins or ends.
const fewBottoms = 0.001

type bench struct {
	ctx                        context.Context
	o                          Options
	run                        *command.Runner
	sfwalk, perf, program, tmp string
}

func (b *bench) path(name string) string { return filepath.Join(b.tmp, name) }

// cost is what one profiler took, and what it found.
type cost struct {
	cpu, work     time.Duration
	written       int64
	samples, lost int
	bottoms       int // stacks that reach the bottom
}

// share returns how many of the stacks reach the bottom, 0 to 1.
func (c *cost) share() float64 { return float64(c.bottoms) / float64(max(c.samples, 1)) }

// result are the costs of one scenario.
type result struct {
	alone        time.Duration // for the work, without a profiler
	ours, theirs cost
}

// scenario measures one.
func (b *bench) scenario(x scenario) (*result, error) {
	t, err := b.start(x.depth)
	if err != nil {
		return nil, err
	}
	defer t.stop()
	var r result
	for n := range b.o.Rounds {
		alone, err := t.work(func() error { time.Sleep(b.o.Duration); return nil })
		if err != nil {
			return nil, err
		}
		theirs, err := b.byPerf(t, x)
		if err != nil {
			return nil, err
		}
		ours, err := b.bySfwalk(t, x)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			r = result{alone, *ours, *theirs}
			continue
		}
		r.alone = min(r.alone, alone)
		r.ours.least(ours)
		r.theirs.least(theirs)
	}
	return &r, nil
}

// least keeps the least of each cost. What was found is of all rounds.
func (c *cost) least(o *cost) {
	c.cpu, c.work, c.written = min(c.cpu, o.cpu), min(c.work, o.work), min(c.written, o.written)
	c.samples, c.lost, c.bottoms = c.samples+o.samples, c.lost+o.lost, c.bottoms+o.bottoms
}
