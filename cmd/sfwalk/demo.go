package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/demo"
)

func newDemo() *cobra.Command {
	var flags walkFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Print the stacks of a bundled demo program",
		Long: `demo starts a small program that is part of sfwalk, prints its stacks as
'sfwalk attach' does, and ends it. The program has an SFrame V3 section; its
threads show recursion, a signal handler, and functions without frame pointer.`,
		Example: `  sfwalk demo
  sfwalk demo --explain`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			p, err := demo.Start()
			if err != nil {
				return err
			}
			defer p.Stop()
			if !flags.json {
				fmt.Fprintf(cmd.OutOrStdout(), "$ sfwalk attach %d\n", p.PID)
			}
			return attach(cmd, p.PID, &flags, time.Second)
		},
	}
	flags.add(cmd)
	return cmd
}
