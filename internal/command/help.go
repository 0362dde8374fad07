package command

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
)

// newHelp makes the command help. Cobra's own prints the help of sfwalk where there is no such
// command, and succeeds.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND...]",
		Short: "Help about any command",
		Long:  "help prints the help of a command, as 'sfwalk COMMAND --help' does.",
		Example: `  sfwalk help attach
  sfwalk help sframe verify`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) (list []string, _ cobra.ShellCompDirective) {
			of, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, sub := range of.Commands() {
				if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), begun) {
					list = append(list, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return list, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 && (of.HasSubCommands() || !of.HasParent()) {
				if len(rest) == 0 {
					rest = args
				}
				text := exit.UnknownCommand(of, rest[0])
				if of.HasParent() {
					text = strings.TrimPrefix(of.CommandPath(), cmd.Root().Name()+" ") + ": " + text
				}
				return exit.Misuse(errors.New("help: " + text))
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}
