package command

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/version"
	"github.com/sfwalk/sfwalk/internal/printable"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of sfwalk",
		Example: "  sfwalk version",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return version.Print(cmd.OutOrStdout()) },
	}
}

// mainVersion is Main for a user who asks for the version alone.
func mainVersion() int {
	if err := version.Print(os.Stdout); err != nil {
		printable.Fprintf(os.Stderr, "sfwalk: %v\n", err)
		return exit.Error
	}
	return exit.Whole
}
