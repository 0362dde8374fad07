package sniffers

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/internal/perfmap"
	"github.com/sfwalk/sfwalk/internal/plugindir"
	"github.com/sfwalk/sfwalk/internal/procdir"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// perfmapPlugin is the plug-in of this project that lies beside sfwalk where both are installed
// together. It unwinds and names what compilers at run time list in perf maps.
const perfmapPlugin = plugindir.Prefix + "perfmap"

// beside returns the path of the plug-in for perf maps, if it lies beside this program, and one of
// the processes has code for it. So nobody else pays for its start.
func beside(pids []int) (path string) {
	if len(pids) == 0 {
		return ""
	}
	path = filepath.Join(plugindir.Beside(), perfmapPlugin)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || !slices.ContainsFunc(pids, hasListedCode) {
		return ""
	}
	return path
}

// hasListedCode reports whether a process has made code that its perf map may list. Java's virtual
// machine has tables of its own for its code.
func hasListedCode(pid int) bool {
	f, err := perfmap.OpenOf(pid)
	if err != nil {
		return false
	}
	f.Close()
	maps, err := os.Open(procdir.File(pid, "maps"))
	if err != nil {
		return false
	}
	defer maps.Close()
	list, err := procmaps.Read(maps, nil)
	if err != nil {
		return false
	}
	made := false
	for _, m := range list {
		if path.Base(m.Path) == "libjvm.so" {
			return false
		}
		ofNoFile := m.Path == "" || strings.HasPrefix(m.Path, "[anon") || target.IsShared(m.Path)
		made = made || m.Exec && ofNoFile
	}
	return made
}
