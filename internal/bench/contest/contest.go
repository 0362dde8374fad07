//go:build linux

// Package contest runs commands that do the same, in turns, and keeps the least of what each takes.
package contest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/command"
)

// A Contestant is one of the commands.
type Contestant struct {
	Name string
	Args []string
	In   string         // the file that is its standard input; "" for none
	Hide bool           // separate debug files ([command.Runner.Run])
	Fine func(int) bool // which exit statuses beside 0 are no error; nil for none
}

// A Meter runs contestants.
type Meter struct {
	Run    *command.Runner
	Rounds int           // at least, if they take no longer than Enough; 1 for one in any case
	Most   int           // rounds, where they take no longer than Little
	Little time.Duration // of all rounds
	Enough time.Duration // of all rounds
}

// Costs runs all contestants in each round, in an order that turns, and returns the least cost of
// each. seen, unless it is nil, is called when the i-th has written its output in the first round.
func (m *Meter) Costs(ctx context.Context, list []Contestant, seen func(i int) error) ([]command.Cost, error) {
	costs := make([]command.Cost, len(list))
	for round, start := 0, time.Now(); m.more(round, time.Since(start)); round++ {
		for i := range list {
			i = (i + round) % len(list)
			c, err := m.once(ctx, list[i])
			if err != nil {
				return nil, err
			}
			if round > 0 {
				costs[i] = costs[i].Least(c)
				continue
			}
			costs[i] = c
			if seen == nil {
				continue
			}
			if err := seen(i); err != nil {
				return nil, fmt.Errorf("%s: %w", list[i].Name, err)
			}
		}
	}
	return costs, nil
}

// more reports whether there is another round, after some that have taken so long.
func (m *Meter) more(rounds int, taken time.Duration) bool {
	switch {
	case rounds == 0:
		return true
	case rounds < m.Rounds:
		return taken < m.Enough
	}
	return rounds < m.Most && taken < m.Little
}

func (m *Meter) once(ctx context.Context, who Contestant) (command.Cost, error) {
	args := who.Args
	if who.In != "" {
		args = slices.Concat([]string{"sh", "-c", `exec "$@" < "$0"`, who.In}, args)
	}
	c, err := m.Run.Run(ctx, who.Hide, args...)
	if err == nil && c.Status != 0 && (who.Fine == nil || !who.Fine(c.Status)) {
		out, _ := os.ReadFile(m.Run.Out)
		err = fmt.Errorf("%s: exit status %d: %s", who.Name, c.Status, out[:min(len(out), 1000)])
	}
	return c, err
}
