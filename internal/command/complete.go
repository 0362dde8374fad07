package command

import (
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"github.com/spf13/cobra"
)

// completeProcess completes the number of a process, which the shell shows with the process's name.
func completeProcess(_ *cobra.Command, args []string, begun string) (list []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	processes, err := procfs.AllProcs()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, p := range processes {
		pid := strconv.Itoa(p.PID)
		if !strings.HasPrefix(pid, begun) {
			continue
		}
		if name, err := p.Comm(); err == nil {
			list = append(list, cobra.CompletionWithDesc(pid, name))
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// complete has the shell complete the values of flags that it cannot know, as far as cmd has such flags.
func complete(cmd *cobra.Command, w *walkFlags) {
	f := cmd.Flags()
	fixed := func(name string, values ...string) {
		if f.Lookup(name) != nil {
			cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	fixed("color", "auto", "always", "never")
	if f.Lookup("sniffers") == nil {
		return
	}
	// A list: the names that follow the last comma, and are not in it yet.
	cmd.RegisterFlagCompletionFunc("sniffers", func(_ *cobra.Command, _ []string, begun string) (list []string, _ cobra.ShellCompDirective) {
		before := begun[:strings.LastIndexByte(begun, ',')+1]
		for _, name := range w.options().AllNames() {
			if !strings.Contains(","+before, ","+name+",") {
				list = append(list, before+name)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}
