package processes

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/containers"
	"github.com/sfwalk/sfwalk/internal/procdir"
)

// cgroupsOf returns the control groups of a process (cgroups(7), /proc/PID/cgroup): one, or one for
// each hierarchy of version 1.
func cgroupsOf(pid int) []string {
	text, err := os.ReadFile(procdir.File(pid, "cgroup"))
	if err != nil {
		return nil
	}
	return ParseCgroups(string(text))
}

// ParseCgroups reads lines of the form "hierarchy:controllers:path".
func ParseCgroups(text string) (list []string) {
	for line := range strings.Lines(text) {
		if f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3); len(f) == 3 && !slices.Contains(list, f[2]) {
			list = append(list, f[2])
		}
	}
	return list
}

// wantedCgroup is what --cgroup names: a group by its path, or a container by its ID.
type wantedCgroup struct {
	path string // without slashes around it; "" for the root
	id   string // the beginning of a container's ID; "" if it is none
}

// leastID is how many digits of a container's ID are needed. docker ps prints 12, crictl 13.
const leastID = 6

func newWantedCgroup(text string) (w wantedCgroup, err error) {
	if text == "" {
		return w, exit.Misuse(fmt.Errorf("--cgroup: want the path of a group, such as system.slice/nginx.service, or a container's ID"))
	}
	w.path = strings.Trim(path.Clean("/"+strings.TrimPrefix(text, "/sys/fs/cgroup")), "/")
	if len(text) >= leastID && isHex(text) {
		w.id = text
	}
	return w, nil
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// matches reports whether a process with groups is in the wanted one, or below it. id is the
// container by which it is.
func (w *wantedCgroup) matches(groups []string) (id string, ok bool) {
	for _, g := range groups {
		parts := strings.Split(strings.Trim(g, "/"), "/")
		if w.id != "" {
			for _, p := range parts {
				if id, is := containers.InGroup(p); is && strings.HasPrefix(id, w.id) {
					return id, true
				}
			}
		}
		if w.path == "" || strings.Contains("/"+strings.Join(parts, "/")+"/", "/"+w.path+"/") {
			return "", true
		}
	}
	return "", false
}

// groupsOf returns the control groups of a process.
func (c *Chosen) groupsOf(pid int) []string {
	if c.CgroupsOf != nil {
		return c.CgroupsOf(pid)
	}
	return cgroupsOf(pid)
}

// inCgroups returns the processes among list in the control groups that the flags name, by PID.
func (c *Chosen) inCgroups(list []Listed) (in map[int]bool, err error) {
	in = map[int]bool{}
	for _, text := range c.Cgroups {
		w, err := newWantedCgroup(text)
		if err != nil {
			return nil, err
		}
		var ids []string
		found := false
		for _, p := range list {
			id, ok := w.matches(c.groupsOf(p.Pid))
			if !ok || p.gone {
				continue
			}
			found, in[p.Pid] = true, true
			if id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		switch {
		case !found:
			return nil, fmt.Errorf("--cgroup %s: no process is in such a group or container", text)
		case len(ids) > 1:
			return nil, fmt.Errorf("--cgroup %s: several containers have an ID that begins so: %s and %s", text, ids[0], ids[1])
		}
	}
	return in, nil
}
