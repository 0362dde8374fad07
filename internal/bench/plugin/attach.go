//go:build linux

package plugin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/process"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// attaches measures what a plug-in adds to an attach.
func attaches(ctx context.Context, p *programs, d build.Dir, o Options, s *report.Section) error {
	run, err := command.NewRunner(d)
	if err != nil {
		return err
	}
	wait, err := d.C("wait", build.Walked, "wait.c", "deep.c", "ticker.c")
	if err != nil {
		return err
	}
	t := report.Table{Caption: "**Whole commands**, without separate debug files where those can be hidden", Head: []string{"process", "command", "wall", "CPU", "peak memory of sfwalk"}}
	for _, x := range []struct {
		name    string
		whole   bool // only with the plug-in is the stack whole
		command []string
	}{
		{"1 thread × 40 frames, none of them the plug-in's", false, []string{wait, "1", "40"}},
		{"1 thread × 40 frames, every second the plug-in's", true, []string{p.jit, "20", "5"}},
	} {
		// The process does not see debug files either: they would be found in its root.
		hide := run.CanHide(ctx)
		program, args := run.Hidden(hide, x.command)
		running, err := process.Start(nil, program, args...)
		if err != nil {
			return err
		}
		goal, err := p.attach(ctx, run, hide, running.PID, o.Rounds, x.name, x.whole, &t)
		running.Stop()
		if err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
		s.Goals = append(s.Goals, goal)
	}
	s.Tables = append(s.Tables, t)
	return nil
}

func (p *programs) attach(ctx context.Context, run *command.Runner, hide bool, pid, rounds int, name string, whole bool, t *report.Table) (report.Goal, error) {
	list := []*struct {
		args      []string
		wall, cpu []time.Duration
		peak      []int64
	}{
		{args: []string{p.sfwalk, "attach", "--no-plugins", fmt.Sprint(pid)}},
		{args: []string{p.sfwalk, "attach", "--no-plugins", "--plugin", p.plugin[plain], fmt.Sprint(pid)}},
	}
	for range rounds {
		for i, x := range list {
			c, err := run.Run(ctx, hide, x.args...)
			if err != nil {
				return report.Goal{}, err
			}
			if c.Status != 0 && !(whole && i == 0) { // without the plug-in, stacks end early
				return report.Goal{}, fmt.Errorf("%s: exit status %d", strings.Join(x.args, " "), c.Status)
			}
			x.wall, x.cpu, x.peak = append(x.wall, c.Wall), append(x.cpu, c.CPU), append(x.peak, c.Peak)
		}
	}
	for i, x := range list {
		t.Add(name, []string{"`sfwalk attach PID`", "`sfwalk attach --plugin sniffer-jit PID`"}[i],
			cell(x.wall), cell(x.cpu), report.Memory(report.Median(x.peak)).String())
	}
	return report.Goal{
		What: "added to an attach: " + name, Peer: "a bound", Most: 1,
		Ours: report.Time(max(report.Median(list[1].wall)-report.Median(list[0].wall), 0)), Theirs: report.Time(attachGoal),
	}, nil
}
