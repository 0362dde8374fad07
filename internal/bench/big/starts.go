//go:build linux

package big

import (
	"context"

	"github.com/sfwalk/sfwalk/internal/bench/contest"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

const (
	plainStart = "sfwalk --version"
	fullStart  = "sfwalk-full --version"
	hello      = "a Go program that prints a line"
)

var starts = subject{
	goals: []report.Goal{
		{What: plainStart + ": CPU", Peer: hello, Most: 1.7},
		{What: fullStart + ": CPU", Peer: hello, Most: 4},
	},
	measure: func(ctx context.Context, b *bench, goals []report.Goal) error {
		full, err := b.dir.Go("full", "./cmd/sfwalk-full")
		if err != nil {
			return err
		}
		least, err := b.dir.Go("hello", "./internal/bench/programs/hello")
		if err != nil {
			return err
		}
		list := []contest.Contestant{
			{Name: plainStart, Args: []string{b.sfwalk, "--version"}},
			{Name: fullStart, Args: []string{full, "--version"}},
			{Name: hello, Args: []string{least}},
		}
		costs, err := b.Costs(ctx, list, nil)
		if err != nil {
			return err
		}
		for i, c := range costs {
			b.row("start", list[i].Name, c, "1 line")
		}
		processor(&goals[0], costs[0], costs[2])
		processor(&goals[1], costs[1], costs[2])
		return nil
	},
}
