package stacks

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/calls"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/kinds"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/show"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/target/remote"
)

// NewRemote makes the verb remote.
func NewRemote(host hosts.Plugins) *cobra.Command {
	var flags calls.Flags
	var opts remote.Options
	var texts []string
	cmd := &cobra.Command{
		Use:   "remote HOST:PORT | unix:PATH",
		Short: "Print the stacks of a GDB remote stub's target",
		Long: `remote speaks the GDB remote serial protocol with a stub (gdbserver, qemu -g,
lldb-server, OpenOCD, rr) and prints the stacks of all threads of its target. It stops a target that
runs, and lets it go on afterwards. A target that was stopped before stays stopped,
unless --resume is given.

remote looks for the target's files by their paths, below --sysroot if they are
another machine's, and reads them through the stub if it can read files. --exe gives
the program's file if the stub does not name it, and the architecture if the stub has a
word of its own for it. Plug-ins are started before the
target is stopped, and asked while it stands still.

--merge prints equal stacks once, with the threads that have them, most first; --tree prints all
as one tree. --format ` + report.Either(report.StackFormats) + ` writes them as one picture, for other
programs and for browsers, to standard output or to the file of -o.

--limit bounds the time for all stacks of a slow stub, --thread-limit the time for
each. A stack that takes longer ends early, and says so.

If an expression of --print calls a function of the target, each call runs in the thread of its
frame, for 10 s at most, and all is printed when the target has been let go. --limit bounds nothing
then.

--call has one thread of the target call a function instead, as 'sfwalk call' does, and
prints what it returns: the thread that the stub stopped last, or the thread of --tid.
Given several times, the expressions are evaluated one after the other. --call-timeout
bounds the time for all; --alone holds the other threads.

qemu's user emulation cannot be interrupted through its stub: stop it with
'kill -TRAP' of the emulator's process.

Exit codes: 0 all stacks are whole; 1 error; 2 usage; 3 some stack ended early.`,
		Example: `  sfwalk remote localhost:1234
  sfwalk remote localhost:1234 --print 'req->url' --frame handle_request
  sfwalk remote localhost:1234 --print 'strlen(req->url)' --frame handle_request
  sfwalk remote --exe ./firmware.elf localhost:3333
  sfwalk remote --sysroot /srv/arm64-root unix:/run/qemu.sock
  sfwalk remote localhost:1234 --merge
  sfwalk remote localhost:1234 --call 'getpid()'
  sfwalk remote localhost:1234 --timeout 30s --limit 10m --thread-limit 5m --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if k, ok := kinds.Of(args[0]); ok {
				return exit.Misuse(fmt.Errorf("remote %s: it is %s", args[0], k.Says(args[0])))
			}
			if err := calls.Check(cmd, texts, &flags); err != nil {
				return err
			}
			flags.Holds = true
			if err := flags.Begin(cmd); err != nil {
				return err
			}
			defer flags.End(cmd)
			if len(texts) > 0 {
				return calls.Remote(cmd, args[0], opts, texts, &flags)
			}
			flags.Plugins.Wait() // the target stands still from the connection to the end
			s, err := calls.RemoteForPrint(cmd.Context(), args[0], opts, &flags.Flags)
			if s == nil && err == nil {
				s, err = targets.Stub(cmd.Context(), args[0], opts)
			}
			if err != nil {
				return err
			}
			err = showProcess(cmd, s, &show.Stacks{Flags: &flags.Flags})
			if left := s.Close(); left != nil {
				printable.Fprintf(cmd.ErrOrStderr(), "sfwalk: remote %s: %v\n", args[0], left)
			}
			return err
		},
	}
	flags.Add(cmd, host)
	flags.Sum.AddFormat(cmd)
	cmdline.Files(cmd, &opts.Exe, &opts.Sysroot)
	cmdline.Texts(cmd.Flags(), &texts, "call", "have the target evaluate this expression (see 'sfwalk call --help'); may be given several times")
	cmdline.Duration(cmd.Flags(), &flags.Timeout, "call-timeout", 0, "how long the functions of --call may take (default: any time)")
	cmd.Flags().BoolVar(&flags.Alone, "alone", false, "with --call: hold all other threads meanwhile")
	cmd.Flags().BoolVar(&opts.Resume, "resume", false, "let the target go on in the end, also if it was stopped before")
	cmdline.Duration(cmd.Flags(), &opts.Limit, "limit", time.Minute, "how long the stub may take for all stacks, which end early then; 0 for any time")
	cmdline.Duration(cmd.Flags(), &opts.ThreadLimit, "thread-limit", 20*time.Second, "how long the stub may take for one thread's stack; 0 for any time")
	cmdline.Duration(cmd.Flags(), &opts.Timeout, "timeout", 5*time.Second, "how long to wait for each answer of the stub")
	return cmd
}
