package call

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/calls"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/expression"
)

// New makes the verb call.
func New(host hosts.Plugins) *cobra.Command {
	var flags calls.Flags
	var pids cmdline.PIDs
	cmd := &cobra.Command{
		Use:   "call PID EXPRESSION...",
		Short: "Have a live process call a function",
		Long: `call stops one thread of a process, has it call a function, prints what the
function returns, and puts the thread back to where it was, also in the middle of a
system call. The other threads run meanwhile; --alone holds them.

The expression is C: numbers, 'c', "texts" and {1, 2, 3} (put on the thread's stack for the
time of the call), names, &name, other calls as arguments, and casts. Debug
information tells the types, and has all that --print reads: 'p->ops->read(5)', 'area(shape)',
'length(req->url) > 8', 'make(3)->next'. Without it, numbers are passed as they are written, and a
cast says what the function returns: '(double) pow(2.0, 10.0)'; else it is an int.

Several expressions are evaluated one after the other, while the thread is held; $1 is the
value of the first one, $ of the last one, $$ of the one before that. After an error, the following ones are left out. An expression that
begins with a minus sign comes behind '--'.

A function that faults, does not come back within --timeout, or is interrupted by Ctrl-C, is
given up: call prints the thread's stack at that point, and puts the thread back. What the
function has done by then stays done: a lock that it has taken stays taken.

Functions that take locks, as most do that allocate memory or print, may wait for ever if the
thread has that lock already: choose a thread that is idle, or give a --timeout.

A thread in Go code cannot call C functions: its stack is small, and moves.

See docs/calling.md for the calls that help most. Exit codes: 0 the function has come back;
1 error, or it has not; 2 usage.`,
		Example: `  sfwalk call 4242 'malloc_trim(0)'
  sfwalk call 4242 --tid 4243 'fflush(0)'
  sfwalk call 4242 '(double) pow(2.0, 10.0)'
  sfwalk call 4242 'puts("hello")'
  sfwalk call 4242 --timeout 2s '(void) malloc_stats_print(0, 0, "J")'
  sfwalk call 4242 '(void *) malloc(16)' '(void) free($1)'
  sfwalk call 4242 '(char *) getenv("PATH")' '$1[0]' '$1 == 0'
  sfwalk call 4242 --json 'getpid()'`,
		Args: pids.One(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			args = pids.Before(args)
			pid, err := cmdline.Process(cmd, args[0])
			if err != nil {
				return err
			}
			for _, text := range args[1:] {
				if _, err := expression.Guess(text); err != nil {
					return exit.Misuse(fmt.Errorf("call %d: %w", pid, err))
				}
			}
			if flags.Timeout < 0 {
				return exit.Misuse(fmt.Errorf("--timeout %v: want a time, such as 2s", flags.Timeout))
			}
			flags.Holds = true
			if err := flags.Begin(cmd); err != nil {
				return err
			}
			defer flags.End(cmd)
			return call(cmd, pid, args[1:], &flags)
		},
	}
	f := cmd.Flags()
	pids.Add(cmd, "this process: the same as the first argument")
	cmd.ValidArgsFunction = cmdline.CompleteProcess
	f.IntVar(&flags.TID, "tid", 0, "the thread that makes the call (default: the main thread)")
	cmdline.Duration(f, &flags.Timeout, "timeout", 0, "how long the function may take (default: any time)")
	f.BoolVar(&flags.Alone, "alone", false, "hold all other threads meanwhile")
	f.BoolVar(&flags.NoLines, "no-lines", false, "use symbol tables alone: nothing is known of types then")
	f.BoolVar(&flags.JSON, "json", false, "print one JSON document (see docs/json.md)")
	f.StringVar(&flags.Color, "color", "auto", "colour the text of a stack: auto, always or never; auto respects NO_COLOR")
	return cmd
}
