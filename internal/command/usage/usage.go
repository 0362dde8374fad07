package usage

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sfwalk/sfwalk/internal/printable"
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
		io.WriteString(w, "\n"+cmd.Short+".\n")
	} else {
		io.WriteString(w, "\n"+long+"\n")
	}
	tail(w, cmd)
	if many {
		io.WriteString(w, "\nDescription:\n"+long+"\n")
	}
}

// head prints how a command is used.
func head(w io.Writer, cmd *cobra.Command) {
	io.WriteString(w, "Usage:\n")
	switch {
	case !cmd.HasParent():
		printable.Fprintf(w, "  %s COMMAND ...\n  %[1]s PID... [flags]\n  %[1]s FILE [flags]\n", cmd.Name())
	case cmd.HasAvailableSubCommands():
		printable.Fprintf(w, "  %s COMMAND ...\n", cmd.CommandPath())
	default:
		printable.Fprintf(w, "  %s\n", cmd.UseLine())
	}
}

// tail prints what follows the description: examples, commands and flags. Flags of every day come
// first: there may be many examples.
func tail(w io.Writer, cmd *cobra.Command) {
	list := Groups(cmd)
	if len(list) > 1 {
		flags(w, list[0])
		list = list[1:]
	}
	if cmd.HasExample() {
		io.WriteString(w, "\nExamples:\n"+cmd.Example+"\n")
	}
	if cmd.HasAvailableSubCommands() {
		io.WriteString(w, "\nCommands:\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				printable.Fprintf(w, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	for _, g := range list {
		flags(w, g)
	}
	if cmd.HasAvailableSubCommands() {
		printable.Fprintf(w, "\n'%s COMMAND --help' says more about a command.\n", cmd.CommandPath())
	}
}

// flags prints the flags of a group.
func flags(w io.Writer, g Group) {
	if len(g.Flags) == 0 {
		return
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
	io.WriteString(w, "\n"+title+":\n"+set.FlagUsages())
}
