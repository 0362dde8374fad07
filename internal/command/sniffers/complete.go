package sniffers

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/plugindir"
)

// CompletePlugin completes the plug-ins in the user's directories, by their paths. A name that is
// begun without a folder is completed, too, also of plug-ins beside sfwalk. The shell completes
// files if none is meant.
func CompletePlugin(_ *cobra.Command, _ []string, begun string) (list []string, _ cobra.ShellCompDirective) {
	dirs := plugindir.Dirs()
	for _, path := range plugindir.Candidates(dirs...) {
		if strings.HasPrefix(path, begun) {
			list = append(list, path)
		}
	}
	if begun == "" {
		return list, cobra.ShellCompDirectiveDefault
	}
	for _, path := range plugindir.Candidates(append(dirs, plugindir.Beside())...) {
		for _, name := range []string{filepath.Base(path), plugindir.WithoutPrefix(filepath.Base(path))} {
			if strings.HasPrefix(name, begun) && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list, cobra.ShellCompDirectiveDefault
}

// completeSniffers completes a list: the names that follow the last comma, and are not in it yet. A
// plug-in is taken to have the name that its file has behind "sniffer-": to ask it, it would have
// to be started.
func (w *Choice) completeSniffers(_ *cobra.Command, _ []string, begun string) (list []string, _ cobra.ShellCompDirective) {
	before := begun[:strings.LastIndexByte(begun, ',')+1]
	names := w.options().AllNames()
	plugins := w.PluginFlags.paths
	if !w.PluginFlags.none {
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
