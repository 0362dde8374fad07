package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/call"
	"github.com/sfwalk/sfwalk/internal/command/crash"
	"github.com/sfwalk/sfwalk/internal/command/debugfiles"
	"github.com/sfwalk/sfwalk/internal/command/dlv"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/kept"
	"github.com/sfwalk/sfwalk/internal/command/pace"
	"github.com/sfwalk/sfwalk/internal/command/plugin"
	"github.com/sfwalk/sfwalk/internal/command/profile"
	"github.com/sfwalk/sfwalk/internal/command/sframe"
	"github.com/sfwalk/sfwalk/internal/command/stacks"
	"github.com/sfwalk/sfwalk/internal/command/symbols"
	"github.com/sfwalk/sfwalk/internal/command/usage"
	"github.com/sfwalk/sfwalk/internal/command/version"
	"github.com/sfwalk/sfwalk/internal/printable"
)

// Hosts do what only sfwalk-full does.
type Hosts struct {
	Plugins  hosts.Plugins
	Delve    dlv.Server
	Pages    profile.PageServer
	Terminal profile.ScreenHost
}

// Main runs sfwalk with its arguments and returns its exit code. A program without hosts becomes
// sfwalk-full when they are asked for.
func Main(args []string, with Hosts) int {
	if len(args) == 1 && (args[0] == "--version" || args[0] == "-v" || args[0] == "version") {
		return mainVersion() // without all that a command takes to begin
	}
	pace.GrowStack()
	pace.Late()
	pace.InTime()
	if with.Plugins != nil {
		os.Unsetenv(hosts.Becoming) // this is the program that sfwalk has become
	}
	return run(args, with)
}

func run(args []string, with Hosts) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the next signal ends sfwalk at once
	root := New(with, args)
	// All output goes through these, which escape control characters.
	out, stderr := printable.NewWriter(os.Stdout), printable.NewWriter(os.Stderr)
	defer stderr.Close()
	defer out.Close()
	root.SetOut(out)
	root.SetErr(stderr)
	if err := kept.Bound(); err != nil {
		printable.Fprintf(stderr, "sfwalk: %v. The usual bound counts\n", err)
	}
	cmd, err := root.ExecuteContextC(ctx)
	if text := kept.FirstWord(); text != "" {
		printable.Fprintf(stderr, "sfwalk: %s\n", text)
	}
	var misuse exit.Usage
	var status exit.Status
	switch {
	case err == nil:
		return exit.Whole
	case errors.Is(err, exit.ErrEarly):
		return exit.SomeEarly
	case errors.As(err, &status):
		if status.Err != nil {
			printable.Fprintf(stderr, "sfwalk: %v\n", status.Err)
		}
		return status.Code
	case errors.As(err, &misuse):
		printable.Fprintf(stderr, "sfwalk: %v\n", err)
		for _, line := range exit.Hints(cmd) {
			printable.Fprintf(stderr, "%s\n", line)
		}
		return exit.BadUsage
	}
	printable.Fprintf(stderr, "sfwalk: %v\n", err)
	return exit.Error
}

// New makes the program for a command line; nil is one that is set later.
func New(with Hosts, args []string) *cobra.Command {
	if args == nil {
		return newRoot(with, nil)
	}
	m := meant(args, func() *cobra.Command { return newRoot(with, nil) })
	root := newRoot(with, m.args)
	root.SetArgs(dlv.BehindVerb(root, m.args))
	if m.err != nil {
		root.SetArgs([]string{})
		root.RunE = func(*cobra.Command, []string) error { return exit.Misuse(m.err) }
	}
	if m.note != "" {
		root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
			printable.Fprintf(cmd.ErrOrStderr(), "sfwalk: note: %s\n", m.note)
		}
	}
	return root
}

// verbs are the commands below sfwalk, in the order in which they are made.
var verbs = []struct {
	name string
	make func(with Hosts) *cobra.Command
}{
	{"attach", func(with Hosts) *cobra.Command { return stacks.NewAttach(with.Plugins) }},
	{"core", func(with Hosts) *cobra.Command { return stacks.NewCore(with.Plugins) }},
	{"minidump", func(with Hosts) *cobra.Command { return crash.New(with.Plugins) }},
	{"open", func(with Hosts) *cobra.Command { return stacks.NewOpen(with.Plugins) }},
	{"remote", func(with Hosts) *cobra.Command { return stacks.NewRemote(with.Plugins) }},
	{"record", func(with Hosts) *cobra.Command { return profile.NewRecord(with.Plugins, with.Pages) }},
	{"perf", func(with Hosts) *cobra.Command { return profile.NewPerf(with.Plugins, with.Pages) }},
	{"top", func(with Hosts) *cobra.Command { return profile.NewTop(with.Plugins, with.Terminal) }},
	{"call", func(with Hosts) *cobra.Command { return call.New(with.Plugins) }},
	{"sframe", func(Hosts) *cobra.Command { return sframe.New() }},
	{"symbols", func(Hosts) *cobra.Command { return symbols.New() }},
	{"plugin", func(with Hosts) *cobra.Command { return plugin.New(with.Plugins) }},
	{"dlv", func(with Hosts) *cobra.Command { return dlv.New(with.Plugins, with.Delve) }},
	{"cache", func(Hosts) *cobra.Command { return kept.New() }},
	{"demo", func(with Hosts) *cobra.Command { return stacks.NewDemo(with.Plugins) }},
	{"version", func(Hosts) *cobra.Command { return newVersion() }},
	{debugfiles.Command, func(with Hosts) *cobra.Command { return newFetchDebugFiles(with.Plugins) }},
}

// isVerb reports whether a word is the name of a command, of cobra's own as well.
func isVerb(word string) bool {
	for i := range verbs {
		if verbs[i].name == word {
			return true
		}
	}
	return word == "help" || word == "completion" || word == cobra.ShellCompRequestCmd || word == cobra.ShellCompNoDescRequestCmd
}

// newRoot makes the program's commands. If args begins with the name of one, only that is made,
// which saves time.
func newRoot(with Hosts, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "sfwalk",
		Short: "Print the stacks of a process",
		Long: `sfwalk prints the stack of every thread: of a live process, which it stops for a
moment only, of a core file, of a minidump, of a saved snapshot, or of the target of a GDB remote
stub. It reads SFrame and DWARF call frame information and, where code has neither, the
machine code itself.

The verb may be left out before a PID and before a file: what it is, its contents tell.

Exit codes: 0 all stacks are whole; 1 error; 2 usage; 3 some stack ended early
(its last line says why).`,
		Example: `  sfwalk attach 4242              all threads of process 4242
  sfwalk 4242                     the same; so with core.4242, crash.dmp, snapshot.4242, perf.data
  sfwalk attach 4242 --json       the same, for a program
  sfwalk attach 4242 --explain    which sniffer unwound each frame, and how
  sfwalk core core.4242           what a process died of, and where
  sfwalk minidump crash.dmp       the same of Windows', Breakpad's and Crashpad's reports
  sfwalk open snapshot.4242       the stacks that 'sfwalk attach --save' has kept
  sfwalk remote localhost:1234    the target of gdbserver or qemu
  sfwalk record 4242 -d 10s       where it spends its time
  sfwalk top 4242                 the same on a screen
  sfwalk sframe verify FILE       check a file's SFrame against its DWARF
  sfwalk symbols dump FILE        make the symbol file for crash reports
  sfwalk call 4242 'malloc_trim(0)'   have it call a function
  sfwalk plugin list              the plug-ins that are asked
  sfwalk dlv attach 4242          debug it with Delve, and with whole stacks
  sfwalk cache                    what it keeps for its next run
  sfwalk demo                     try it on a bundled program`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asked, err := cmd.Flags().GetBool("version"); err == nil && asked {
				return version.Print(cmd.OutOrStdout())
			}
			return exit.Misuse(errors.New("which command? attach, core, minidump, open, remote, record, top, call, sframe, symbols, plugin, dlv, cache, demo, version or help"))
		},
	}
	one := -1
	for i := range verbs {
		if len(args) > 0 && args[0] == verbs[i].name {
			one = i
			root.CompletionOptions.DisableDefaultCmd = true
		}
	}
	for i := range verbs {
		if one < 0 || i == one {
			root.AddCommand(verbs[i].make(with))
		}
	}
	root.SetHelpCommand(newHelp())
	usage.Set(root)
	// Cobra's own flag would link text/template, which keeps all methods of all types in the
	// program.
	root.Flags().BoolP("version", "v", false, "print the version of sfwalk")
	exit.NameArguments(root)
	return root
}
