package record

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/sfwalk/sfwalk/internal/perfmap"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// root returns the folder that is the root for a process that was recorded on this machine and
// still lives: where its files are, which may be in namespaces of its own. It is "" if the process
// has ended, for another one may have its number, or if a folder was given instead.
func (h *recorded) root(pid int) string {
	if !h.own || h.places.Sysroot != "" || pid <= 0 || !h.lives(pid) {
		return ""
	}
	return fmt.Sprintf("/proc/%d/root", pid)
}

// lives reports whether the process that has a number now is the recorded one: most of the files
// that it had mapped as code are where they were.
func (h *recorded) lives(pid int) bool {
	if h.mapped == nil {
		return false
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return false
	}
	defer f.Close()
	now, err := procmaps.Read(f, nil)
	if err != nil {
		return false
	}
	there, all := 0, 0
	for _, m := range h.mapped(pid) {
		if !m.Exec || !strings.HasPrefix(m.Path, "/") && !strings.HasPrefix(m.Path, "[") {
			continue
		}
		all++
		const deleted = " (deleted)"
		i, ok := procmaps.Find(now, m.Lo)
		if ok && strings.TrimSuffix(now[i].Path, deleted) == strings.TrimSuffix(m.Path, deleted) {
			there++
		}
	}
	return there > all/2
}

// openOf opens a file of a process that was recorded. The file must belong to root or to this user;
// below the process's own root, to root or to the process's user.
func (h *recorded) openOf(pid int, at regular.At) (*os.File, error) {
	user, open := os.Geteuid(), h.openNamed
	if at.Root != "" && at.Root == h.root(pid) {
		if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
			_, user = perfmap.Owner(bytes.NewReader(status))
			open = regular.Word{Below: regular.UserOf(status)}.Open
		}
	}
	return perfmap.OpenOwned(at, user, open)
}

// perfMap opens the names that a compiler at run time has given its code. While the process lives,
// they are in its own namespaces, by the number that it has there.
func (h *recorded) perfMap(pid int) (*os.File, error) {
	if h.root(pid) != "" {
		if f, err := perfmap.OpenOf(pid); err == nil {
			return f, nil
		}
	}
	at := regular.At{Root: h.places.Sysroot, Path: fmt.Sprintf("/tmp/perf-%d.map", pid)}
	if at.Root == "" && !h.own {
		return nil, os.ErrNotExist
	}
	f, err := perfmap.OpenOwned(at, os.Geteuid(), h.openNamed)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		h.warn("names of code that process %d has made are not used: %v", pid, err)
	}
	return f, err
}
