//go:build linux

package growth

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/contest"
	"github.com/sfwalk/sfwalk/internal/bench/process"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// A series is a list of processes, each larger than the one before in one respect.
type series struct {
	unit    string // the thing that grows, in the singular
	sizes   []int
	command func(size int) []string
	points  []point
}

// A point is the cost of an attach to one process.
type point struct {
	size int
	cost command.Cost
}

// allSeries builds the programs. Sizes above most are left out; 0 means none.
func allSeries(d build.Dir, most int) ([]*series, error) {
	wait, err := d.C("wait", build.Walked, "wait.c", "deep.c", "ticker.c")
	if err != nil {
		return nil, err
	}
	list := []*series{
		{unit: "frame", sizes: []int{10, 100, 1000, 10_000, 100_000, 1_000_000},
			command: func(n int) []string { return []string{wait, "1", strconv.Itoa(n)} }},
		{unit: "thread", sizes: []int{1, 10, 100, 1000, 5000},
			command: func(n int) []string { return []string{wait, strconv.Itoa(n), strconv.Itoa(threadDepth)} }},
	}
	modules := &series{unit: "module", sizes: []int{1, 10, 100, 1000}}
	list = append(list, modules)
	for _, s := range list {
		if most > 0 {
			s.sizes = slices.DeleteFunc(s.sizes, func(n int) bool { return n > most })
		}
	}
	chain, err := Chain(d, slices.Max(modules.sizes))
	modules.command = func(n int) []string { return chain[:1+n] }
	return list, err
}

// threadDepth is how deep the stacks of the many threads are.
const threadDepth = 40

// enough is the time after which the command is not run again.
const enough = 2 * time.Second

// A meter attaches to processes.
type meter struct {
	contest.Meter
	sfwalk string
	hide   bool // debug files
}

// start starts the series' process of a size.
func (m *meter) start(s *series, size int) (*process.Process, error) {
	program, args := m.Run.Hidden(m.hide, s.command(size))
	return process.Start(nil, program, args...)
}

// measure attaches to a series' processes.
func (m *meter) measure(ctx context.Context, s *series) error {
	for _, size := range s.sizes {
		p, err := m.measureOne(ctx, s, size)
		if err != nil {
			return fmt.Errorf("%d %ss: %w", size, s.unit, err)
		}
		s.points = append(s.points, p)
	}
	return nil
}

func (m *meter) measureOne(ctx context.Context, s *series, size int) (point, error) {
	p, err := m.start(s, size)
	if err != nil {
		return point{}, err
	}
	defer p.Stop()
	one := contest.Contestant{Name: "sfwalk attach", Args: []string{m.sfwalk, "attach", strconv.Itoa(p.PID)}, Hide: m.hide}
	costs, err := m.Costs(ctx, []contest.Contestant{one}, nil)
	if err != nil {
		return point{}, err
	}
	return point{size, costs[0]}, nil
}

// more returns the cost of one more unit, from the smallest process to the i-th: the cost of the
// start, which is in both, does not count. Values are negative if the i-th costs hardly more than
// the smallest, so that there is only noise.
func (s *series) more(i int) (cpu, peak report.Value) {
	first, p := s.points[0], s.points[i]
	n := float64(p.size - first.size)
	cpu = report.Value{Number: -1, Unit: report.Nanoseconds}
	if p.cost.CPU > first.cost.CPU*3/2 {
		cpu.Number = float64(p.cost.CPU-first.cost.CPU) / n
	}
	peak = report.Value{Number: -1, Unit: report.Bytes}
	if p.cost.Peak > first.cost.Peak+first.cost.Peak/20 {
		peak.Number = float64(p.cost.Peak-first.cost.Peak) / n
	}
	return cpu, peak
}
