package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

func newAttach() *cobra.Command {
	var flags walkFlags
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "attach PID",
		Short: "Print the stacks of a live process",
		Long: `attach stops the threads of a process for a moment, copies their registers
and stacks, lets them run again, and prints every thread's stack.

A process that is stopped (job control, SIGSTOP) stays stopped. One that another
debugger traces is left alone.

Exit codes: 0 all stacks are whole; 1 error; 2 usage; 3 some stack ended early.`,
		Example: `  sfwalk attach 4242
  sfwalk attach 4242 --tid 4243 --registers
  sfwalk attach 4242 --json | jq '.threads[].frames[0].function'
  sfwalk attach 4242 --sniffers dwarf,prologue --explain
  sfwalk attach 4242 --sframe-dir /var/lib/sframe`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			pid, err := strconv.Atoi(args[0])
			if err != nil || pid <= 0 {
				return usageError{fmt.Errorf("attach %s: want the number of a process", args[0])}
			}
			if err := flags.check(); err != nil {
				return err
			}
			return attach(cmd, pid, &flags, timeout)
		},
	}
	flags.add(cmd)
	cmd.Flags().DurationVar(&timeout, "timeout", time.Second, "how long to wait for a thread to stop before it is left out")
	return cmd
}

func attach(cmd *cobra.Command, pid int, flags *walkFlags, timeout time.Duration) error {
	s, err := process(cmd.Context(), pid, timeout)
	if err != nil {
		return err
	}
	defer s.Close()
	return show(cmd, s, flags)
}

// process takes the picture of a live process.
func process(ctx context.Context, pid int, timeout time.Duration) (*source, error) {
	t, err := live.Attach(ctx, pid, live.Options{Timeout: timeout})
	if err != nil {
		return nil, err
	}
	return &source{
		Target: t,
		// A container's debug files are looked for in its own root, then in the host's.
		root: fmt.Sprintf("/proc/%d/root", pid),
		about: func(doc *document) {
			pause := t.Pause.Microseconds()
			doc.PID, doc.Exe, doc.PauseUS = pid, t.Exe, &pause
		},
		mark: func(of target.Thread, th *thread) {
			if err := of.(*live.Thread).Err; err != nil {
				// The thread did not stop; what there is comes from the PC and SP that the
				// kernel tells of a sleeping thread.
				th.Error, th.whole, th.detail = err.Error(), false, err.Error()
			}
		},
		warnings: t.Warnings,
	}, nil
}
