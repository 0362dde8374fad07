// Package plugindir says where plug-ins lie. It is all that sfwalk needs to know whether
// there are any, without linking what runs them; package sniffer/external looks closer.
//
// What enters are the environment and names of files; nothing is opened but directories.
package plugindir

import (
	"os"
	"path/filepath"
	"strings"
)

// PathVariable names the environment variable that lists directories, as PATH does.
const PathVariable = "SFWALK_PLUGIN_PATH"

// Prefix is what the name of a plug-in in a directory begins with.
const Prefix = "sniffer-"

// Dirs returns the directories that plug-ins are looked for in: those that PathVariable
// lists, then sfwalk/plugins in the user's folder of configuration (~/.config). There may be
// no such directory.
func Dirs() []string {
	var dirs []string
	for _, dir := range filepath.SplitList(os.Getenv(PathVariable)) {
		if dir != "" {
			dirs = append(dirs, dir)
		}
	}
	if config, err := os.UserConfigDir(); err == nil {
		dirs = append(dirs, filepath.Join(config, "sfwalk", "plugins"))
	}
	return dirs
}

// Candidates lists the files in directories that go by a plug-in's name, in order of the
// directories, then of the names. Whether they can be run, and may be, is not looked at.
func Candidates(dirs ...string) []string {
	var list []string
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // what cannot be read has no plug-ins
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), Prefix) && !e.IsDir() {
				list = append(list, filepath.Join(dir, e.Name()))
			}
		}
	}
	return list
}
