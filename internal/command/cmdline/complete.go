package cmdline

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// CompleteProcess completes the number of a process, which the shell shows with the process's name.
func CompleteProcess(_ *cobra.Command, args []string, begun string) (list []string, _ cobra.ShellCompDirective) {
	if _, err := strconv.Atoi("0" + begun); len(args) > 0 || err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, _ := filepath.Glob("/proc/" + begun + "[0-9]*/comm") // a library that reads all of /proc takes longer to start than this
	if begun != "" {
		whole, _ := filepath.Glob("/proc/" + begun + "/comm")
		names = append(names, whole...)
	}
	for _, file := range names {
		if name, err := os.ReadFile(file); err == nil {
			list = append(list, cobra.CompletionWithDesc(filepath.Base(filepath.Dir(file)), strings.TrimSpace(string(name))))
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// CompleteColor has the shell CompleteColor the values of flags that it cannot know, as far as cmd
// has such flags.
func CompleteColor(cmd *cobra.Command) {
	if cmd.Flags().Lookup("color") != nil {
		cmd.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp))
	}
}
