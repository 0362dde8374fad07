package dlv

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
)

// newDlvBuild makes dlv debug, and dlv test.
func newDlvBuild(host hosts.Plugins, delve Server, verb string) *cobra.Command {
	o := dlvFlags{Options: Options{Build: verb}}
	cmd := &cobra.Command{
		Use:   "debug [PACKAGE] [-- ARGUMENT...]",
		Short: "Build a package, start its program and debug it",
		Long: `debug builds a package's program without optimisation (go build -gcflags='all=-N -l'),
starts it, stops it before its first instruction, and serves clients that debug it, as 'dlv
debug --headless' does. Without a package, it is the package of the current folder. The program's file is
a temporary one there, or --output, and is removed at the end.`,
		Example: `  sfwalk dlv debug
  sfwalk dlv debug ./cmd/server --wd /srv -- --port 8080
  sfwalk dlv debug --build-flags='-tags=debug -race'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dash := cmd.ArgsLenAtDash()
			if dash < 0 {
				dash = len(args)
			}
			if dash > 1 && verb == "debug" {
				return exit.Misuse(fmt.Errorf("dlv debug %s: it builds one package; put -- before the program's arguments", args[0]))
			}
			o.Packages, o.Args = args[:dash], args[dash:]
			return o.serve(cmd, delve)
		},
	}
	folder := "this one"
	if verb == "test" {
		cmd.Use, cmd.Short, folder = "test [PACKAGE] [-- ARGUMENT...]", "Build a package's tests and debug them", "the package's"
		cmd.Long = `test builds the tests of a package without optimisation (go test -c -gcflags='all=-N -l'),
starts them in the package's folder, stops them before the first instruction, and serves clients that debug
them, as 'dlv test --headless' does. Arguments go to the tests' program: -test.run, -test.v.`
		cmd.Example = `  sfwalk dlv test
  sfwalk dlv test ./frame -- -test.run TestWalker -test.v`
	}
	o.addStart(cmd, folder)
	if verb == "debug" {
		o.addContinue(cmd)
	}
	cmd.Flags().StringVar(&o.BuildFlags, "build-flags", "", "flags for go build")
	cmd.Flags().StringVar(&o.Output, "output", "", "the file to build (default: a temporary one in this folder)")
	o.add(cmd, host)
	return cmd
}

func newDlvDAP(host hosts.Plugins, delve Server) *cobra.Command {
	o := dlvFlags{Options: Options{DAP: true}}
	cmd := &cobra.Command{
		Use:   "dap",
		Short: "Debug what an editor asks for",
		Long: `dap serves one editor that speaks DAP, as 'dlv dap' does. The editor says what to debug: a
launch request builds a package or its tests (mode debug, test), starts a program (exec) or
opens a core file (core); an attach request attaches to a process. docs/editors.md says how editors start it.

It prints the address that it listens at:

  DAP server listening at: 127.0.0.1:38697`,
		Example: `  sfwalk dlv dap --listen 127.0.0.1:2345
  sfwalk dlv dap --listen unix:/run/user/1000/dap.sock`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.serve(cmd, delve) },
	}
	cmd.Flags().BoolVar(&o.NoASLR, "disable-aslr", false, "have the kernel place programs at the same addresses each time")
	o.add(cmd, host)
	cmd.Flags().StringVar(&o.Client, "client-addr", "", "connect to the editor, which waits at this `address`, instead of waiting for it")
	return cmd
}
