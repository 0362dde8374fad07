package stacks

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/calls"
	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/files"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/pace"
	"github.com/sfwalk/sfwalk/internal/command/processes"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/show"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/target/minidump"
)

// NewAttach makes the verb attach.
func NewAttach(host hosts.Plugins) *cobra.Command {
	var flags report.Flags
	var opts live.Options
	var save, layout string
	var which processes.Chosen
	var rounds roundFlags
	cmd := &cobra.Command{
		Use:   "attach PID...",
		Short: "Print the stacks of a live process",
		Long: `attach stops the threads of a process for a moment, copies their registers
and stacks, lets them run again, and prints every thread's stack.

Each thread is stopped for some fifty microseconds, one after the other, so the
stacks of two threads are of slightly different moments. --consistent stops all
threads at one moment, and says of each that waits for a lock which one, and which thread
holds it, if the C library, or Rust's, tells. Threads that wait for each other are
named as a deadlock.

Of a thread that waits in a system call, the line below its first one says for what: which file,
socket (with its addresses), pipe (with the other end) or child process.

attach copies the inner part of a deep stack at once, and the rest when it gets
there. A thread that has run on by then is stopped once more, and held while its
stack is walked if that needs memory beyond the stack. If that fails, too,
"[moved on]" marks the frames that may be of another moment.

A stopped process (job control, SIGSTOP) stays stopped. A process that another
debugger traces is left alone.

Functions of a stripped program are named by their addresses in the file: bash!fn_5e320.
Where an interpreter or a virtual machine runs, the program's own functions stand in the place of
its frames: ` + report.LanguageNames() + `.
Code that a process has made at run time has the names in its perf map (/tmp/perf-PID.map).

--args prints the arguments of each frame, --locals its local variables, too, as gdb's
bt full does, if there is debug information. All of a thread's values are of one moment.
If an expression of --print calls a function of the process, all threads that are printed are held
until everything is known, and each call runs in the thread of its frame, for 10 s at most. Not with
--save, which keeps the process as it is.

--merge prints equal stacks once, with the threads that have them, most first; --tree prints all
as one tree. --format ` + report.Either(report.StackFormats) + ` writes them as one picture, for other
programs and for browsers, to standard output or to the file of -o.

--goroutines prints the goroutines of a Go program in place of its threads, parked ones too,
equal ones once, with their state and the go statement that has made them. A file that is
saved by --save has them, too.

--tasks prints the tasks of languages in place of the threads, each below the task that waits for it,
equal ones once: ` + report.TaskNames() + `.

--save also writes a snapshot, a file for 'sfwalk open', 'sfwalk core' and gdb. It
has all threads, whatever is printed, and the inner part of large stacks. Stacks
hold secrets: only the file's owner can read it. The memory that plug-ins read is
saved, too: ask the same plug-ins now that you will ask when you open the file.
With --format minidump the file is a minidump, for minidump_stackwalk and all that reads
crash reports: threads, their stacks, the modules with their build IDs, and texts of /proc.

Several processes are attached to one after the other: by their PIDs, by --name, with all children
by --children, the processes of a control group by --cgroup, of a container by --container, or --all that you may
attach to. One that fails does not stop the others; its error is said. --json prints a document a line. --format makes one picture of all.

--every 1s --count 10 attaches ten times, once a second, and prints the stacks of each round below
a line with its time; without --count, until Ctrl-C. With --merge, --tree and --format, the
rounds are added up, and printed at the end: of several processes, each one's by themselves.

Exit codes: 0 all stacks are whole; 1 error; 2 usage; 3 some stack ended early.`,
		Example: `  sfwalk attach 4242
  sfwalk attach 4242 --tid 4243 --registers
  sfwalk attach 4242 --consistent
  sfwalk attach 4242 --print 'req->url' --frame handle_request
  sfwalk attach 4242 --args
  sfwalk attach 4242 --locals --frame 3
  sfwalk attach 4242 --no-lines
  sfwalk attach 4242 --json | jq '.threads[].frames[0].function'
  sfwalk attach 4242 --sniffers dwarf,prologue --explain
  sfwalk attach 4242 --sframe-dir /var/lib/sframe
  sfwalk attach 4242 --source
  sfwalk attach 4242 --outer 3
  sfwalk attach 4242 --short
  sfwalk attach 4242 --merge
  sfwalk attach 4242 4243
  sfwalk attach --name nginx --merge
  sfwalk attach --children 4242
  sfwalk attach --cgroup system.slice/nginx.service
  sfwalk attach --container web
  sfwalk attach 4242 --every 1s --count 10
  sfwalk attach --all --merge
  sfwalk attach 4242 --tree
  sfwalk attach 4242 --goroutines
  sfwalk attach 4242 --tasks
  sfwalk attach 4242 -o stacks.svg
  sfwalk attach 4242 -o stacks.pprof
  sfwalk attach 4242 --save snapshot.4242
  sfwalk attach 4242 --goroutines --save snapshot.4242
  sfwalk attach 4242 --save 4242.dmp --format minidump`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !which.Given(args) {
				return exit.Misuse(errors.New("attach to which process? Give its PID, as in sfwalk attach 4242, or its name: --name nginx. Others are --children PID, --cgroup, --container and --all; ps -e lists processes"))
			}
			pids, err := which.Pids(cmd, args)
			if err != nil {
				return err
			}
			if err := rounds.check(cmd); err != nil {
				return err
			}
			switch isOfSaved := layout == "core" || layout == "minidump"; {
			case save != "" && layout == "" && isDump(save):
				layout = "minidump"
			case save != "" && layout != "" && !isOfSaved:
				return exit.Misuse(fmt.Errorf("--format %s: with --save, want core or minidump", layout))
			case save == "" && isOfSaved:
				return exit.Misuse(fmt.Errorf("--format %s is for the file which --save names", layout))
			case save == "":
				flags.Sum.Format = layout
			}
			if err := flags.Choose(); err != nil {
				return err
			}
			pictured := flags.Sum.Format != "" // one for all processes, and all rounds
			several := len(pids) != 1 || which.Any()
			switch summed := pictured || flags.Sum.Merge || flags.Sum.Tree || flags.Sum.Goroutines; {
			case several && (save != "" || flags.Sum.Output != "" && !pictured && !(rounds.given() && summed) || len(flags.TIDs) > 0):
				return exit.Misuse(errors.New("--save, --tid, and --output without --format, are for one process: give its PID alone"))
			case rounds.given() && (save != "" || flags.Sum.Output != "" && !summed):
				return exit.Misuse(errors.New("--every: --save, and --output of what is not merged or one picture, would write one file again and again"))
			}
			flags.PluginFlags.Processes = pids
			if err := flags.Begin(cmd); err != nil {
				return err
			}
			defer flags.End(cmd)
			flags.SeveralProcesses = several
			opts.Values = flags.Values.Any() || save != "" // values may be asked for later
			opts.Consistent = opts.Consistent || flags.Sum.Goroutines || flags.Sum.Tasks
			printed := &show.Stacks{Flags: &flags}
			round := func() error { return attach(cmd, pids[0], printed, opts, save, layout) }
			if several {
				round = func() error {
					if flags.Said != nil { // processes come and go between rounds
						if pids, err = which.Pids(cmd, args); err != nil {
							return err
						}
					}
					return attachAll(cmd, pids, printed, opts, &which)
				}
			}
			run := round
			if rounds.given() {
				run = func() error { return rounds.run(cmd, &flags, round) }
			}
			switch {
			case rounds.given() && several && flags.Sum.Any() && !pictured:
				return printed.Apart(cmd, run)
			case rounds.given() && flags.Sum.Any() || several && pictured:
				return printed.Together(cmd, run)
			}
			return run()
		},
	}
	flags.Add(cmd, host)
	which.Add(cmd)
	cmd.Flags().BoolVar(&which.All, "all", false, "all processes that may be attached to")
	rounds.add(cmd)
	cmd.ValidArgsFunction = cmdline.CompleteProcess
	cmdline.Duration(cmd.Flags(), &opts.Timeout, "timeout", live.DefaultTimeout, "how long to wait for a thread to stop before it is left out; four times as long if it waits for a processor")
	cmd.Flags().BoolVar(&opts.Consistent, "consistent", false, "stop all threads at one moment, and say which thread waits for which")
	cmd.Flags().StringVar(&save, "save", "", "also write a snapshot to this file, for 'sfwalk open' and gdb; - for standard output, in place of the stacks")
	cmd.Flags().StringVar(&layout, "format", "", "with --save: core (the default), or minidump (the default for x.dmp). Without, "+report.FormatHelp)
	opts.MaxCopied = usualSaved
	cmd.Flags().Var((*cmdline.Size)(&opts.MaxCopied), "max-saved", "how much of all stacks together --save keeps, for example 2G; they are in memory first")
	return cmd
}

// usualSaved is --max-saved where the user gives none, bytes.
const usualSaved = 160 << 20

// besideSaved is how much memory may be in use beside the saved stacks, bytes, before garbage
// is collected.
const besideSaved = 64 << 20

// showProcess prints the stacks of a process. One that is held for calls goes on before anything is
// printed.
func showProcess(cmd *cobra.Command, s report.Source, printed *show.Stacks) error {
	if _, calls := s.(report.Evaluator); !calls {
		return printed.Show(cmd, s)
	}
	var text bytes.Buffer
	out := cmd.OutOrStdout()
	cmd.SetOut(&text)
	err := printed.Show(cmd, s)
	cmd.SetOut(out)
	if left := s.Close(); err == nil {
		err = left
	}
	if _, wrong := out.Write(text.Bytes()); err == nil {
		err = wrong
	}
	return err
}

func attach(cmd *cobra.Command, pid int, printed *show.Stacks, opts live.Options, save, layout string) error {
	flags := printed.Flags
	var file *files.Saving
	if save != "" {
		if text, err := calls.Calls(pid, flags); err != nil {
			return err
		} else if text != "" {
			return exit.Misuse(fmt.Errorf("--save writes the process as it is, and --print '%s' has it run a function, which changes it:"+
				" save it first, and print by another 'sfwalk attach'", text))
		}
		var err error
		if file, err = files.New("--save", save, cmdline.Unescaped(cmd)); err != nil {
			return err
		}
		defer file.Discard()
		if save == "-" { // the stacks are for the file of -o, if there is one
			out := cmd.OutOrStdout()
			cmd.SetOut(io.Discard)
			defer cmd.SetOut(out)
		}
		files.OutliveReader()
		defer pace.Before(opts.MaxCopied + besideSaved)()
		flags.Kept = report.NewKeptLanguages()
	} else {
		opts.Threads = flags.TIDs // the others need not be disturbed
		opts.LowMemory = true
	}
	targets.ShortSlices()
	var s report.Source
	var process *targets.LiveProcess // nil if it is held for calls
	var err error
	if save == "" && !flags.Sum.Any() {
		s, err = calls.HoldForPrint(cmd.Context(), pid, flags)
	}
	if s == nil && err == nil {
		process, err = targets.Process(cmd.Context(), pid, opts)
		s = process
	}
	if err != nil {
		return err
	}
	defer s.Close()
	printed.BeginProcess(pid, processes.Name)
	if err := minidump.Writable(s.Arch()); file != nil && layout == "minidump" && err != nil {
		return fmt.Errorf("--save %s: %w", save, err)
	}
	if file != nil && flags.Sum.Goroutines {
		if s, err = report.WithGoroutines(s, true); err != nil {
			return err
		}
	}
	shown := showProcess(cmd, s, printed)
	unread := files.ReaderGone(shown) // by which not all threads may have been walked
	if unread {
		shown = nil
	}
	if file == nil || shown != nil && !errors.Is(shown, exit.ErrEarly) {
		return shown
	}
	// A walk reads memory as it needs it: walk all stacks, for the file to have it.
	var unwalked []report.Source
	if partly := unread || len(flags.TIDs) > 0 || flags.MaxFrames > 0 || len(flags.Order) > 0; partly || flags.Sum.Goroutines || flags.Sum.Tasks {
		unwalked = append(unwalked, process)
		if partly && flags.Sum.Goroutines {
			unwalked = append(unwalked, s)
		}
	}
	for _, x := range unwalked {
		all := &report.Flags{Choice: sniffers.Choice{Separate: flags.Separate, Plugins: flags.Plugins}, Kept: flags.Kept}
		if err := report.Walk(x, all); err != nil {
			return err
		}
	}
	snapshot, err := process.Snapshot()
	if err != nil {
		return err
	}
	process.AddWaits(snapshot)
	addLanguages(cmd, save, snapshot, flags.Kept)
	if process.Partial() {
		cmdline.Warn(cmd, fmt.Sprintf("--save %s: there are more than %d MiB of stacks, and the outer part of some is not saved: allow more by --max-saved SIZE", save, opts.MaxCopied>>20))
	}
	var made files.Content = snapshot
	if layout == "minidump" {
		if made, err = targets.Minidump(process.Target, snapshot); err != nil {
			return fmt.Errorf("--save %s: %w", save, err)
		}
	}
	if err := file.Write(made); err != nil {
		return err
	}
	return shown
}
