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
	"github.com/sfwalk/sfwalk/internal/command/pace"
	"github.com/sfwalk/sfwalk/internal/command/plugin"
	"github.com/sfwalk/sfwalk/internal/command/profile"
	"github.com/sfwalk/sfwalk/internal/command/sframe"
	"github.com/sfwalk/sfwalk/internal/command/stacks"
	"github.com/sfwalk/sfwalk/internal/command/symbols"
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
	cmd, err := root.ExecuteContextC(ctx)
	var usage exit.Usage
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
	case errors.As(err, &usage):
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
	root := newRoot(with, args)
	if args != nil {
		root.SetArgs(dlv.BehindVerb(root, args))
	}
	return root
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

Exit codes: 0 all stacks are whole; 1 error; 2 usage; 3 some stack ended early
(its last line says why).`,
		Example: `  sfwalk attach 4242              all threads of process 4242
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
  sfwalk demo                     try it on a bundled program`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asked, err := cmd.Flags().GetBool("version"); err == nil && asked {
				return version.Print(cmd.OutOrStdout())
			}
			return exit.Misuse(errors.New("which command? attach, core, minidump, open, remote, record, top, call, sframe, symbols, plugin, dlv, demo, version or help"))
		},
	}
	host := with.Plugins
	commands := []struct {
		name string
		make func() *cobra.Command
	}{
		{"attach", func() *cobra.Command { return stacks.NewAttach(host) }},
		{"core", func() *cobra.Command { return stacks.NewCore(host) }},
		{"minidump", func() *cobra.Command { return crash.New(host) }},
		{"open", func() *cobra.Command { return stacks.NewOpen(host) }},
		{"remote", func() *cobra.Command { return stacks.NewRemote(host) }},
		{"record", func() *cobra.Command { return profile.NewRecord(host, with.Pages) }},
		{"perf", func() *cobra.Command { return profile.NewPerf(host, with.Pages) }},
		{"top", func() *cobra.Command { return profile.NewTop(host, with.Terminal) }},
		{"call", func() *cobra.Command { return call.New(host) }},
		{"sframe", sframe.New},
		{"symbols", symbols.New},
		{"plugin", func() *cobra.Command { return plugin.New(host) }},
		{"dlv", func() *cobra.Command { return dlv.New(host, with.Delve) }},
		{"demo", func() *cobra.Command { return stacks.NewDemo(host) }},
		{"version", newVersion},
		{debugfiles.Command, func() *cobra.Command { return newFetchDebugFiles(host) }},
	}
	one := -1
	for i := range commands {
		if len(args) > 0 && args[0] == commands[i].name {
			one = i
			root.CompletionOptions.DisableDefaultCmd = true
		}
	}
	for i := range commands {
		if one < 0 || i == one {
			root.AddCommand(commands[i].make())
		}
	}
	// Cobra's own flag would link text/template, which keeps all methods of all types in the
	// program.
	root.Flags().BoolP("version", "v", false, "print the version of sfwalk")
	exit.NameArguments(root)
	return root
}
