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
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/target/live"
)

// everyFlags have attach repeated.
type everyFlags struct {
	interval time.Duration // 0: once
	count    int           // rounds; 0 until the user interrupts
}

func (e *everyFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.DurationVar(&e.interval, "every", 0, "attach again and again, at this interval, for example 1s, until Ctrl-C or --count")
	f.IntVar(&e.count, "count", 0, "with --every: how many times")
}

// leastInterval bounds how often a process is attached to.
const leastInterval = 10 * time.Millisecond

// check finds mistakes in the flags.
func (e *everyFlags) check(cmd *cobra.Command) error {
	every, count := cmd.Flags().Changed("every"), cmd.Flags().Changed("count")
	switch {
	case count && !every:
		return exit.Misuse(errors.New("--count is how many rounds --every makes: give that, too, for example --every 1s"))
	case count && e.count < 1:
		return exit.Misuse(fmt.Errorf("--count %d: want 1 or more", e.count))
	case every && e.interval < leastInterval:
		return exit.Misuse(fmt.Errorf("--every %v: want %v or more", e.interval, leastInterval))
	}
	return nil
}

// given reports whether attach is repeated.
func (e *everyFlags) given() bool { return e.interval > 0 }

// run calls round again and again. An interrupt ends it without an error; so does the end of the
// process, but in the first round.
func (e *everyFlags) run(cmd *cobra.Command, flags *report.Flags, round func() error) error {
	start := time.Now()
	flags.Said = map[string]bool{}
	early := false
	for n := 1; ; n++ {
		flags.Taken = time.Now()
		if !flags.JSON && !flags.Many.Later {
			if n > 1 {
				printable.Fprintf(cmd.OutOrStdout(), "\n")
			}
			printable.Fprintf(cmd.OutOrStdout(), "Round %d at %s\n", n, flags.Taken.Format("2006-01-02 15:04:05.000 MST"))
		}
		err := round()
		switch {
		case cmd.Context().Err() != nil:
			return e.end(early)
		case n > 1 && (errors.Is(err, live.ErrNoProcess) || errors.Is(err, live.ErrExited) || errors.Is(err, live.ErrZombie)):
			cmdline.Warn(cmd, fmt.Sprintf("the process has ended after %d rounds", n-1))
			return e.end(early)
		case errors.Is(err, exit.ErrEarly):
			early = true
		case err != nil:
			return err
		}
		if n == e.count {
			return e.end(early)
		}
		// A round that took longer than the interval costs the rounds that it lasted.
		next := time.Since(start)/e.interval*e.interval + e.interval
		if !sleep(cmd.Context(), next-time.Since(start)) {
			return e.end(early)
		}
	}
}

func (e *everyFlags) end(early bool) error {
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
