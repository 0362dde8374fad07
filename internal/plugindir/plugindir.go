// Package plugindir finds the files that may be plug-ins. With it, sfwalk knows whether there are
// any without linking the code that runs them; package sniffer/external looks closer.
//
// It looks at the environment and at names of files, and opens directories only.
package plugindir

import (
	"os"
	"path/filepath"
	"strings"
)

// PathVariable names the environment variable that lists directories, as PATH does.
const PathVariable = "SFWALK_PLUGIN_PATH"

// Each plug-in in a directory has a name that begins with one of these.
const (
	Prefix    = "sniffer-"
	Decorator = "decorator-" // of one that decorates stacks, and need not unwind frames
)

// cut returns a name without its prefix. ok is false if it has none.
func cut(name string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(name, Prefix); ok {
		return rest, true
	}
	return strings.CutPrefix(name, Decorator)
}

// WithoutPrefix returns a plug-in's name without the prefix that it has in a directory.
func WithoutPrefix(name string) string {
	rest, _ := cut(name)
	return rest
}

// Dirs returns the directories that plug-ins are looked for in: the directories that PathVariable
// lists, then sfwalk/plugins in the user's folder of configuration (~/.config). There may be no
// such directory.
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

// Beside returns the directory of this program, "" if it is not known.
func Beside() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	return filepath.Dir(self)
}

// Named returns the file of a plug-in that is meant by a name without a folder, with or without
// its prefix: the first beside this program and in directories. It returns "" if there is none.
func Named(name string, dirs ...string) string {
	files := []string{name}
	if _, ok := cut(name); !ok {
		files = []string{Prefix + name, Decorator + name}
	}
	for _, dir := range append([]string{Beside()}, dirs...) {
		for _, file := range files {
			path := filepath.Join(dir, file)
			if info, err := os.Stat(path); dir != "" && err == nil && info.Mode().IsRegular() {
				return path
			}
		}
	}
	return ""
}

// Candidates lists the files in directories that have the name of a plug-in, in order of the
// directories, then of the names. It does not look whether they can be run, and may be.
func Candidates(dirs ...string) []string {
	var list []string
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // what cannot be read has no plug-ins
		for _, e := range entries {
			if _, ok := cut(e.Name()); ok && !e.IsDir() {
				list = append(list, filepath.Join(dir, e.Name()))
			}
		}
	}
	return list
}
