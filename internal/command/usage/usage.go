package usage

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Set has a program's root command, and all below, print help and usage as this package does.
func Set(root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { help(cmd.OutOrStdout(), cmd) })
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		head(cmd.OutOrStderr(), cmd)
		tail(cmd.OutOrStderr(), cmd)
		return nil
	})
}

// help prints the help of a command. Where it has many flags, its long text comes behind them.
func help(w io.Writer, cmd *cobra.Command) {
	head(w, cmd)
	long := strings.TrimSpace(cmd.Long)
	if long == "" {
		long = cmd.Short + "."
	}
	many := len(Groups(cmd)) > 1
	if many {
		fmt.Fprintf(w, "\n%s.\n", cmd.Short)
	} else {
		fmt.Fprintf(w, "\n%s\n", long)
	}
	tail(w, cmd)
	if many {
		fmt.Fprintf(w, "\nDescription:\n%s\n", long)
	}
}

// head prints how a command is used.
func head(w io.Writer, cmd *cobra.Command) {
	fmt.Fprintln(w, "Usage:")
	switch {
	case !cmd.HasParent():
		fmt.Fprintf(w, "  %s COMMAND ...\n  %[1]s PID... [flags]\n  %[1]s FILE [flags]\n", cmd.Name())
	case cmd.HasAvailableSubCommands():
		fmt.Fprintf(w, "  %s COMMAND ...\n", cmd.CommandPath())
	default:
		fmt.Fprintf(w, "  %s\n", cmd.UseLine())
	}
}

// tail prints what follows the description: examples, commands and flags.
func tail(w io.Writer, cmd *cobra.Command) {
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nCommands:\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(w, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	for _, g := range Groups(cmd) {
		if len(g.Flags) == 0 {
			continue
		}
		title := g.Title
		if title == "" {
			title = "Flags"
		}
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		set.SortFlags = false
		for _, f := range g.Flags {
			set.AddFlag(f)
		}
		fmt.Fprintf(w, "\n%s:\n%s", title, set.FlagUsages())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n'%s COMMAND --help' says more about a command.\n", cmd.CommandPath())
	}
}
