package command

import "github.com/spf13/cobra"

// Commands returns sfwalk with all of its commands, for those who write about them: manual pages.
func Commands() *cobra.Command {
	root := newRoot(Hosts{}, nil)
	root.InitDefaultCompletionCmd()
	return root
}
