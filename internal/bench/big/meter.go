//go:build linux

package big

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// A contestant is one of the commands that do the same.
type contestant struct {
	name string
	args []string
	in   string         // the file that is its standard input; "" for none
	hide bool           // debug files
	fine func(int) bool // which exit statuses are no error; nil for 0 alone
}

// cost is the least of what a contestant took in all rounds. Other work on the machine can only make it more.
type cost struct {
	wall, cpu time.Duration
	peak      int64 // bytes
}

// A meter runs contestants.
type meter struct {
	dir    build.Dir
	run    *command.Runner
	rounds int
}

const (
	enough     = time.Minute     // a contest that has taken so long has no further round
	little     = 3 * time.Second // one that has taken less has more rounds than it need have,
	moreRounds = 10              // up to so many times as many
)

func newMeter(d build.Dir, rounds int) (*meter, error) {
	run, err := command.NewRunner(d)
	return &meter{dir: d, run: run, rounds: rounds}, err
}

// contest runs all contestants in each round, in an order that turns, and returns the cost of each. seen, unless it is
// nil, gets what the i-th has written in the first round.
func (m *meter) contest(ctx context.Context, list []contestant, seen func(i int, out []byte) error) ([]cost, error) {
	costs := make([]cost, len(list))
	more := func(round int, taken time.Duration) bool {
		return round == 0 || round < m.rounds && taken < enough || round < moreRounds*m.rounds && m.rounds > 1 && taken < little
	}
	for round, start := 0, time.Now(); more(round, time.Since(start)); round++ {
		for i := range list {
			i = (i + round) % len(list)
			c, err := m.once(ctx, list[i])
			if err != nil {
				return nil, err
			}
			if round > 0 {
				costs[i] = cost{min(costs[i].wall, c.wall), min(costs[i].cpu, c.cpu), min(costs[i].peak, c.peak)}
				continue
			}
			costs[i] = c
			if seen == nil {
				continue
			}
			out, err := os.ReadFile(m.run.Out)
			if err == nil {
				err = seen(i, out)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", list[i].name, err)
			}
		}
	}
	return costs, nil
}

func (m *meter) once(ctx context.Context, who contestant) (cost, error) {
	args := who.args
	if who.in != "" {
		args = slices.Concat([]string{"sh", "-c", `exec "$@" < "$0"`, who.in}, args)
	}
	c, err := m.run.Run(ctx, who.hide, args...)
	if err != nil {
		return cost{}, err
	}
	if c.Status != 0 && (who.fine == nil || !who.fine(c.Status)) {
		out, _ := os.ReadFile(m.run.Out)
		return cost{}, fmt.Errorf("%s: exit status %d: %s", who.name, c.Status, out[:min(len(out), 1000)])
	}
	return cost{c.Wall, c.CPU, c.Peak}, nil
}

// String is what a person reads at once.
func (c cost) String() string {
	return fmt.Sprintf("%v of CPU, %v wall, %v", report.Time(c.cpu), report.Time(c.wall), report.Memory(c.peak))
}
