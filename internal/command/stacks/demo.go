package stacks

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/show"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/demo"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
)

// whatNext stands behind the demo's stacks.
const whatNext = `
Next, with a process of your own, here 4242:
  sfwalk attach 4242 --merge                 its stacks, equal ones once
  sfwalk attach 4242 --locals                with arguments and local variables
  sfwalk record 4242 -d 10s -o profile.svg   where it spends its time; on a screen: sfwalk top 4242
  sfwalk core core.4242                      what a process died of
`

// NewDemo makes the verb demo.
func NewDemo(host hosts.Plugins) *cobra.Command {
	var flags report.Flags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Print the stacks of a bundled demo program",
		Long: `demo starts a small program that is part of sfwalk, prints its stacks as
'sfwalk attach' does, and ends it. The program has an SFrame V3 section; its
threads show recursion, a signal handler, and functions without a frame pointer.
The last lines say what to try next, with processes of your own.

On an emulated machine that cannot trace processes it prints the stacks of a
bundled core file, as 'sfwalk core' does.`,
		Example: `  sfwalk demo
  sfwalk demo --explain`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.Begin(cmd); err != nil {
				return err
			}
			defer flags.End(cmd)
			err := demoLive(cmd, &flags)
			if errors.Is(err, demo.ErrEmulated) {
				return demoDead(cmd, &flags)
			}
			// Stacks that end early are shown as well.
			if (err == nil || errors.Is(err, exit.ErrEarly)) && !flags.JSON && flags.Sum.Output == "" {
				printable.Fprintf(cmd.OutOrStdout(), whatNext)
			}
			return err
		},
	}
	flags.Add(cmd, host)
	return cmd
}

func demoLive(cmd *cobra.Command, flags *report.Flags) error {
	p, err := demo.Start()
	if err != nil {
		return err
	}
	defer p.Stop()
	s, err := targets.Process(cmd.Context(), p.PID, live.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	if !flags.JSON {
		printable.Fprintf(cmd.OutOrStdout(), "$ sfwalk attach %d\n", p.PID)
	}
	return show.Target(cmd, s, flags)
}

func demoDead(cmd *cobra.Command, flags *report.Flags) error {
	d, err := demo.Bury()
	if err != nil {
		return err
	}
	defer d.Remove()
	s, err := targets.Core(d.Core, core.Options{Exe: d.Exe})
	if err != nil {
		return err
	}
	defer s.Close()
	if !flags.JSON {
		printable.Fprintf(cmd.OutOrStdout(), "$ sfwalk core --exe %s %s\n", d.Exe, d.Core)
	}
	return show.Target(cmd, s, flags)
}
