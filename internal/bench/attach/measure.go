//go:build linux

package attach

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/process"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// A sample is what a tool took on a process, in each round.
type sample struct {
	tool      tool
	wall, cpu []time.Duration
	peak      []int64
	spent     []time.Duration // processor time of the process itself, meanwhile
	deep      []time.Duration // the deep thread's longest gap
	idle      []time.Duration // the other one's
	untouched []time.Duration // the longer of both while the tool looks at another process
	frames    int             // in the output
	last      time.Duration   // wall time of the last run
}

// budget bounds the time of all rounds of one tool, which runs at least once.
const budget = 4 * time.Second

// limit is the time after which a command is ended.
const limit = 3 * time.Minute

// A meter measures tools on processes, in several rounds.
type meter struct {
	run    *command.Runner
	dir    string
	rounds int
	hide   bool // debug files, from the processes and the tools
}

// start starts a scenario's process.
func (m *meter) start(s scenario, ticks *process.Ticks) (*process.Process, error) {
	program, args := m.run.Hidden(m.hide, append([]string{s.program}, s.args...))
	return process.Start(ticks, program, args...)
}

// cost measures what the tools take on a process that does not tick.
func (m *meter) cost(ctx context.Context, s scenario, list []tool) ([]*sample, error) {
	p, err := m.start(s, nil)
	if err != nil {
		return nil, err
	}
	defer p.Stop()
	samples := make([]*sample, len(list))
	for i, t := range list {
		samples[i] = &sample{tool: t}
	}
	before, err := process.Spent(p.PID)
	if err != nil {
		return nil, err
	}
	return samples, m.each(ctx, p, samples, func(out *sample, c command.Cost) error {
		after, err := process.Spent(p.PID)
		if err != nil {
			return err
		}
		out.spent = append(out.spent, max(after-before, 0))
		before = after
		out.wall, out.cpu, out.peak = append(out.wall, c.Wall), append(out.cpu, c.CPU), append(out.peak, c.Peak)
		if out.frames == 0 {
			out.frames, err = m.run.Frames()
		}
		return err
	})
}

// pauses adds how long the tools hold the threads of a process that ticks, and the longest gaps in
// that process while a tool looks at another one, just like it.
func (m *meter) pauses(ctx context.Context, s scenario, samples []*sample) error {
	ticks, err := process.NewTicks(m.dir)
	if err != nil {
		return err
	}
	defer ticks.Close()
	p, err := m.start(s, ticks)
	if err != nil {
		return err
	}
	defer p.Stop()
	other, err := m.start(s, nil)
	if err != nil {
		return err
	}
	defer other.Stop()
	gaps := func() (process.Gaps, error) {
		time.Sleep(2 * time.Millisecond) // a gap counts only when it has ended
		gaps, err := ticks.Gaps()
		return gaps, errors.Join(err, ticks.Reset())
	}
	if err := ticks.Reset(); err != nil {
		return err
	}
	return m.each(ctx, p, samples, func(out *sample, _ command.Cost) error {
		g, err := gaps()
		if err != nil {
			return err
		}
		out.deep, out.idle = append(out.deep, g.Deep), append(out.idle, g.Idle)
		if _, err := m.once(ctx, out.tool, other.PID); err != nil {
			return err
		}
		g, err = gaps()
		out.untouched = append(out.untouched, max(g.Deep, g.Idle))
		return err
	})
}

// each runs every tool once in each round, slow ones less often. Each round has an order of its
// own: a tool that follows a large one finds less of what it needs in the processor's caches.
func (m *meter) each(ctx context.Context, p *process.Process, samples []*sample, add func(*sample, command.Cost) error) error {
	if m.rounds < 1 {
		return errors.New("no round is measured")
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	order := rand.New(rand.NewPCG(1, 1))
	for round := range m.rounds {
		for _, i := range order.Perm(len(samples)) {
			s := samples[i]
			if round > 0 && time.Duration(round+1)*s.last > budget {
				continue
			}
			c, err := m.once(ctx, s.tool, p.PID)
			if err != nil {
				return err
			}
			if c.Status != 0 {
				return fmt.Errorf("%s: exit status %d", s.tool.name, c.Status)
			}
			s.last = c.Wall
			if err := add(s, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// once runs a tool once.
func (m *meter) once(ctx context.Context, t tool, pid int) (command.Cost, error) {
	if t.cold {
		if err := m.run.Forget(); err != nil {
			return command.Cost{}, err
		}
	}
	return m.run.Run(ctx, m.hide, t.command(pid)...)
}

// row is the sample's line of a table; without gaps, those are left empty.
func (s *sample) row() []string {
	row := []string{s.tool.name, "", "", "", "", "", "", ""}
	if len(s.wall) > 0 {
		row[1] = fmt.Sprint(s.frames)
		row[2] = report.Time(report.Median(s.wall)).String()
		row[3] = report.Time(report.Median(s.cpu)).String()
		row[4] = report.Memory(report.Median(s.peak)).String()
	}
	if len(s.deep) > 0 {
		for i, gaps := range [][]time.Duration{s.deep, s.idle, s.untouched} {
			row[5+i] = fmt.Sprintf("%v (%v)", report.Time(report.Median(gaps)), report.Time(slices.Min(gaps)))
		}
	}
	return row
}

// pause is the longer of the two gaps.
func (s *sample) pause() time.Duration {
	return max(report.Median(s.deep), report.Median(s.idle))
}

// noise is the pause in a process that the tool does not touch.
func (s *sample) noise() time.Duration { return report.Median(s.untouched) }
