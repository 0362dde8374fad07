package command

import "github.com/spf13/cobra"

// Commands returns sfwalk with all of its commands, for writers of manual pages.
func Commands() *cobra.Command {
	root := newRoot(Hosts{}, nil)
	root.InitDefaultCompletionCmd()
	return root
}
