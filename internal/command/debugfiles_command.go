package command

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/debugfiles"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/printable"
)

func newFetchDebugFiles(host hosts.Plugins) *cobra.Command {
	return &cobra.Command{
		Use:    debugfiles.Command + " BUILD-ID...",
		Short:  "Fetch debug files from the servers of DEBUGINFOD_URLS, for sfwalk itself",
		Hidden: true,
		Args:   cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if host == nil {
				return errors.New("only sfwalk-full fetches files")
			}
			for _, why := range debugfiles.Fetch(cmd, host, args) {
				printable.Fprintf(cmd.OutOrStdout(), "%s\n", why)
			}
			return nil
		},
	}
}
