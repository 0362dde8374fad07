package command

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/demo"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
)

func newDemo(host hosts.Plugins) *cobra.Command {
	var flags walkFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Print the stacks of a bundled demo program",
		Long: `demo starts a small program that is part of sfwalk, prints its stacks as
'sfwalk attach' does, and ends it. The program has an SFrame V3 section; its
threads show recursion, a signal handler, and functions without a frame pointer.

On an emulated machine that cannot trace processes it prints the stacks of a
bundled core file, as 'sfwalk core' does.`,
		Example: `  sfwalk demo
  sfwalk demo --explain`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.begin(cmd); err != nil {
				return err
			}
			defer flags.end(cmd)
			err := demoLive(cmd, &flags)
			if errors.Is(err, demo.ErrEmulated) {
				return demoDead(cmd, &flags)
			}
			return err
		},
	}
	flags.add(cmd, host)
	return cmd
}

func demoLive(cmd *cobra.Command, flags *walkFlags) error {
	p, err := demo.Start()
	if err != nil {
		return err
	}
	defer p.Stop()
	s, err := process(cmd.Context(), p.PID, live.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	if !flags.json {
		printable.Fprintf(cmd.OutOrStdout(), "$ sfwalk attach %d\n", p.PID)
	}
	return show(cmd, s, flags)
}

func demoDead(cmd *cobra.Command, flags *walkFlags) error {
	d, err := demo.Bury()
	if err != nil {
		return err
	}
	defer d.Remove()
	s, err := coreFile(d.Core, core.Options{Exe: d.Exe})
	if err != nil {
		return err
	}
	defer s.Close()
	if !flags.json {
		printable.Fprintf(cmd.OutOrStdout(), "$ sfwalk core --exe %s %s\n", d.Exe, d.Core)
	}
	return show(cmd, s, flags)
}
