//go:build linux

package record

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/contest"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// FileOptions of MeasureFile.
type FileOptions struct {
	Rounds  int // of each command; 0 for 3
	Samples int // of the file, at least; 0 for 100,000
}

// MeasureFile has sfwalk perf and perf script walk the stacks of one file.
func MeasureFile(ctx context.Context, d build.Dir, o FileOptions) (*report.Section, error) {
	for p, usual := range map[*int]int{&o.Rounds: 3, &o.Samples: 100_000} {
		if *p == 0 {
			*p = usual
		}
	}
	const peer = "perf script"
	s := &report.Section{
		Part: "perf", Title: "Files of perf record", Commands: []string{"go run ./internal/bench -only perf"},
		Versions: append(build.Compilers(), build.Version("perf")),
	}
	goals := []report.Goal{{What: "a file of perf record: wall"}, {What: "a file of perf record: CPU"}, {What: "a file of perf record: memory"}}
	for i := range goals {
		goals[i].Peer, goals[i].Most = peer, 0.1
	}
	goals[2].Most = 1
	perf, err := exec.LookPath("perf")
	if err != nil {
		for _, g := range goals {
			g.Missing = "no perf (linux-perf)"
			s.Goals = append(s.Goals, g)
		}
		return s, nil
	}
	b := &bench{ctx: ctx, perf: perf}
	if b.sfwalk, err = d.Sfwalk(); err != nil {
		return nil, err
	}
	if b.run, err = command.NewRunner(d); err != nil {
		return nil, err
	}
	if b.program, err = d.C("samples", build.Walked, "samples.c", "deep.c"); err != nil {
		return nil, err
	}
	if b.tmp, err = os.MkdirTemp(d.Path, "perf-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(b.tmp)
	file := b.path("perf.data")
	if err := b.recordFile(file, o.Samples); err != nil {
		return nil, err
	}
	var found, wanted cost
	m := contest.Meter{Run: b.run, Rounds: o.Rounds, Enough: time.Hour}
	costs, err := m.Costs(ctx, []contest.Contestant{
		{Name: peer, Args: quiet(b.path("said"), b.perf, "script", "-i", file)},
		{Name: "sfwalk perf", Args: quiet(b.path("said"), b.sfwalk, "perf", file, "-o", b.path("sfwalk.pb.gz"))},
	}, func(i int) error {
		if i > 0 {
			return nil // its profile is in a file
		}
		return wanted.readScript(b.run.Out)
	})
	if err != nil {
		return nil, err
	}
	theirs, ours := costs[0], costs[1]
	if err := found.readProfile(b.path("sfwalk.pb.gz")); err != nil {
		return nil, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	s.Text = fmt.Sprintf(filesText, wanted.samples, info.Size()>>20, o.Rounds)
	table := report.Table{Head: []string{"", "wall", "CPU", "memory", "samples", "to the bottom"}}
	for _, row := range []struct {
		name string
		c    command.Cost
		f    cost
	}{{peer, theirs, wanted}, {"sfwalk perf", ours, found}} {
		table.Add(row.name, report.Time(row.c.Wall).String(), report.Time(row.c.CPU).String(), report.Memory(row.c.Peak).String(), strconv.Itoa(row.f.samples), fmt.Sprintf("%.1f %%", 100*row.f.share()))
	}
	s.Tables = []report.Table{table}
	goals[0].Ours, goals[0].Theirs = report.Time(ours.Wall), report.Time(theirs.Wall)
	goals[1].Ours, goals[1].Theirs = report.Time(ours.CPU), report.Time(theirs.CPU)
	goals[2].Ours, goals[2].Theirs = report.Memory(ours.Peak), report.Memory(theirs.Peak)
	for i := range goals {
		if found.samples != wanted.samples || found.share() < wanted.share() {
			goals[i].Missing = fmt.Sprintf("sfwalk has %d samples, %.1f %% to the bottom; perf %d, %.1f %%", found.samples, 100*found.share(), wanted.samples, 100*wanted.share())
		}
	}
	s.Goals = goals
	return s, nil
}

const filesText = "A file of `perf record --call-graph dwarf`, with %d samples of a process of two threads (functions without frame pointers, 40 calls deep) and %d MiB. `sfwalk perf`\n" +
	"makes a profile of it, with lines; `perf script` prints the stacks. Tests compare the stacks, sample by sample. The least of %d runs, in turns; the file is in the system's cache for both."

// recordFile makes a file with so many samples.
func (b *bench) recordFile(file string, samples int) error {
	t, err := b.start(40)
	if err != nil {
		return err
	}
	defer t.stop()
	const frequency = 4000 // of each thread; with two processors, there are twice as many
	seconds := max(1, float64(samples)/frequency/threads*1.05)
	for {
		_, err = b.once(quiet(b.path("said"), b.perf, "record", "-e", "cpu-clock:u", "--call-graph", "dwarf", "-m", "8M", "-F", strconv.Itoa(frequency), "-p", strconv.Itoa(t.PID), "-o", file,
			"--", "sleep", fmt.Sprintf("%.3f", seconds))...)
		if err != nil {
			return err
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		const least = 8 << 10 // bytes of each sample
		if info.Size() >= int64(samples)*least || seconds > 300 {
			return nil
		}
		seconds *= 2 // other programs have the processors
	}
}
