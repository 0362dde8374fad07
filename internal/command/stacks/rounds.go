package stacks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/target/live"
)

// roundFlags have attach repeated: --every and --count.
type roundFlags struct {
	interval time.Duration // 0: once
	count    int           // rounds; 0 until the user interrupts
}

func (r *roundFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	cmdline.Duration(f, &r.interval, "every", 0, "attach again and again, at this interval, for example 1s, until Ctrl-C or --count")
	f.IntVar(&r.count, "count", 0, "with --every: how many times")
}

// leastInterval bounds how often a process is attached to.
const leastInterval = 10 * time.Millisecond

// check finds mistakes in the flags.
func (r *roundFlags) check(cmd *cobra.Command) error {
	every, count := cmd.Flags().Changed("every"), cmd.Flags().Changed("count")
	switch {
	case count && !every:
		return exit.Misuse(errors.New("--count is how many rounds --every makes: give that, too, for example --every 1s"))
	case count && r.count < 1:
		return exit.Misuse(fmt.Errorf("--count %d: want 1 or more", r.count))
	case every && r.interval < leastInterval:
		return exit.Misuse(fmt.Errorf("--every %v: want %v or more", r.interval, leastInterval))
	}
	return nil
}

// given reports whether attach is repeated.
func (r *roundFlags) given() bool { return r.interval > 0 }

// run calls round again and again. An interrupt ends it without an error; so does the end of the
// process, but in the first round.
func (r *roundFlags) run(cmd *cobra.Command, flags *report.Flags, round func() error) error {
	start := time.Now()
	flags.Said = map[string]bool{}
	early := false
	for n := 1; ; n++ {
		flags.Taken = time.Now()
		if !flags.JSON && !flags.Sum.Later {
			if n > 1 {
				printable.Fprintf(cmd.OutOrStdout(), "\n")
			}
			printable.Fprintf(cmd.OutOrStdout(), "Round %d at %s\n", n, flags.Taken.Format("2006-01-02 15:04:05.000 MST"))
		}
		err := round()
		switch {
		case cmd.Context().Err() != nil:
			return r.end(early)
		case n > 1 && (errors.Is(err, live.ErrNoProcess) || errors.Is(err, live.ErrExited) || errors.Is(err, live.ErrZombie)):
			cmdline.Warn(cmd, fmt.Sprintf("the process has ended after %s", count.Of(n-1, "round")))
			return r.end(early)
		case errors.Is(err, exit.ErrEarly):
			early = true
		case err != nil:
			return err
		}
		if n == r.count {
			return r.end(early)
		}
		// A round that took longer than the interval costs the rounds that it lasted.
		next := time.Since(start)/r.interval*r.interval + r.interval
		if !sleep(cmd.Context(), next-time.Since(start)) {
			return r.end(early)
		}
	}
}

func (r *roundFlags) end(early bool) error {
	if early {
		return exit.ErrEarly
	}
	return nil
}

// sleep returns false if ctx ended before.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
