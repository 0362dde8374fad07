//go:build linux

package attach

import (
	"context"
	"fmt"
	"time"

	"github.com/sfwalk/sfwalk/bench/command"
	"github.com/sfwalk/sfwalk/bench/process"
	"github.com/sfwalk/sfwalk/bench/report"
)

// A sample is what a tool took on a process, in each round.
type sample struct {
	tool      tool
	wall, cpu []time.Duration
	peak      []int64
	deep      []time.Duration // the deep thread's longest gap
	idle      []time.Duration // the other one's
	frames    int             // in the output
	slow      bool            // once is enough
}

// tooSlow is how long a command may take to be run in each round.
const tooSlow = 5 * time.Second

// limits of a command that hangs.
const limit = 3 * time.Minute

// A meter measures tools on processes, so many rounds.
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
	return samples, m.each(ctx, p, samples, func(out *sample, c command.Cost) error {
		out.wall, out.cpu, out.peak = append(out.wall, c.Wall), append(out.cpu, c.CPU), append(out.peak, c.Peak)
		out.slow = c.Wall > tooSlow
		if out.frames == 0 {
			out.frames, err = frames(m.run.Out)
		}
		return err
	})
}

// pauses adds how long the samples' tools hold the threads of a process that ticks.
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
	return m.each(ctx, p, samples, func(out *sample, c command.Cost) error {
		time.Sleep(2 * time.Millisecond) // a gap counts when it has ended
		gaps, err := ticks.Gaps()
		out.deep, out.idle = append(out.deep, gaps.Deep), append(out.idle, gaps.Idle)
		return err
	})
}

// each runs every tool once in each round, slow ones in the first only.
func (m *meter) each(ctx context.Context, p *process.Process, samples []*sample, add func(*sample, command.Cost) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for round := range m.rounds {
		for _, s := range samples {
			if s.slow && round > 0 {
				continue
			}
			if p.Ticks != nil {
				if err := p.Ticks.Reset(); err != nil {
					return err
				}
			}
			c, err := m.run.Run(ctx, m.hide, s.tool.command(p.PID)...)
			if err != nil {
				return err
			}
			if c.Status != 0 {
				return fmt.Errorf("%s: exit status %d", s.tool.name, c.Status)
			}
			if err := add(s, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// row is the sample's line of a table; without gaps, those are left empty.
func (s *sample) row() []string {
	row := []string{s.tool.name, "", "", "", "", "", ""}
	if len(s.wall) > 0 {
		row[1] = fmt.Sprint(s.frames)
		row[2] = report.Time(report.Median(s.wall)).String()
		row[3] = report.Time(report.Median(s.cpu)).String()
		row[4] = report.Memory(report.Median(s.peak)).String()
	}
	if len(s.deep) > 0 {
		row[5] = report.Time(report.Median(s.deep)).String()
		row[6] = report.Time(report.Median(s.idle)).String()
	}
	return row
}

// pause is the longer of the two gaps.
func (s *sample) pause() time.Duration {
	return max(report.Median(s.deep), report.Median(s.idle))
}
