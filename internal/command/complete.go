package command

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/plugindir"
)

// completeProcess completes the number of a process, which the shell shows with the process's name.
func completeProcess(_ *cobra.Command, args []string, begun string) (list []string, _ cobra.ShellCompDirective) {
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

// completePlugin completes the plug-ins in the user's directories. The shell completes files if none is meant.
func completePlugin(_ *cobra.Command, _ []string, begun string) (list []string, _ cobra.ShellCompDirective) {
	for _, path := range plugindir.Candidates(plugindir.Dirs()...) {
		if strings.HasPrefix(path, begun) {
			list = append(list, path)
		}
	}
	return list, cobra.ShellCompDirectiveDefault
}

// completePluginRun completes a plug-in, and then a process. The shell completes snapshots and core files.
func completePluginRun(cmd *cobra.Command, args []string, begun string) (list []string, _ cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return completePlugin(cmd, nil, begun)
	case 1:
		list, _ = completeProcess(cmd, nil, begun)
		return list, cobra.ShellCompDirectiveDefault
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// complete has the shell complete the values of flags that it cannot know, as far as cmd has such flags.
func complete(cmd *cobra.Command) {
	if cmd.Flags().Lookup("color") != nil {
		cmd.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]string{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp))
	}
}

// completeSniffers completes a list: the names that follow the last comma, and are not in it yet. A plug-in is
// taken to have the name that its file has behind "sniffer-": to ask it, it would have to be started.
func (w *tableFlags) completeSniffers(_ *cobra.Command, _ []string, begun string) (list []string, _ cobra.ShellCompDirective) {
	before := begun[:strings.LastIndexByte(begun, ',')+1]
	names := w.options().AllNames()
	plugins := w.pluginFlags.paths
	if !w.pluginFlags.none {
		plugins = append(plugindir.Candidates(plugindir.Dirs()...), plugins...)
	}
	for _, path := range plugins {
		base := filepath.Base(path)
		if name, ok := strings.CutPrefix(strings.TrimSuffix(base, filepath.Ext(base)), "sniffer-"); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if !strings.Contains(","+before, ","+name+",") {
			list = append(list, before+name)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
