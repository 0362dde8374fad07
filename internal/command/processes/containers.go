package processes

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/containers"
)

// inContainers adds the processes among list in the containers that the flags name, by PID.
func (c *Chosen) inContainers(list []Listed, in map[int]bool) error {
	if len(c.Containers) == 0 {
		return nil
	}
	var known []containers.Container
	var hidden []string
	for _, root := range c.containerRoots() {
		more, denied := containers.List(root)
		known, hidden = append(known, more...), append(hidden, denied...)
	}
	groups := map[int][]string{}
	for _, p := range list {
		if !p.gone {
			groups[p.Pid] = c.groupsOf(p.Pid)
		}
	}
	known = withUnnamed(known, groups)
	slices.SortFunc(known, func(a, b containers.Container) int { return strings.Compare(a.String(), b.String()) })
	for _, text := range c.Containers {
		if text == "" {
			return exit.Misuse(fmt.Errorf("--container: want a container's name, or the beginning of its ID"))
		}
		var running, stopped []containers.Container
		pids := map[int]bool{}
		for _, found := range containers.Find(known, text) {
			before := len(pids)
			for pid, paths := range groups {
				if found.Has(paths) {
					pids[pid] = true
				}
			}
			if len(pids) > before {
				running = append(running, found)
			} else {
				stopped = append(stopped, found)
			}
		}
		switch {
		case containers.Ambiguous(running):
			return fmt.Errorf("--container %s: several containers are called so: %s. Give the beginning of an ID", text, listed(running))
		case len(running) == 0 && len(stopped) > 0:
			return fmt.Errorf("--container %s: %s does not run: none of its processes is there", text, &stopped[0])
		case len(running) == 0:
			return fmt.Errorf("--container %s: there is no such container%s", text, c.others(known, groups, hidden))
		}
		for pid := range pids {
			in[pid] = true
		}
	}
	return nil
}

// containerRoots returns the folders below which the runtimes' state is: / and, where sfwalk runs
// in a container itself and sees the processes of all (docker run --pid=host), the machine's own.
func (c *Chosen) containerRoots() []string {
	if c.ContainerRoot != "" {
		return []string{c.ContainerRoot}
	}
	const machine = "/proc/1/root"
	own, err := os.Stat("/")
	if err != nil {
		return []string{"/"}
	}
	if first, err := os.Stat(machine); err != nil || os.SameFile(own, first) {
		return []string{"/"}
	}
	return []string{"/", machine}
}

// withUnnamed adds the containers that control groups tell of, and no file.
func withUnnamed(known []containers.Container, groups map[int][]string) []containers.Container {
	ids := map[string]bool{}
	for _, k := range known {
		ids[k.ID] = true
	}
	for _, paths := range groups {
		for _, path := range paths {
			for part := range strings.SplitSeq(path, "/") {
				if id, ok := containers.InGroup(part); ok && !ids[id] {
					ids[id] = true
					known = append(known, containers.Container{ID: id, Manager: "by its control group"})
				}
			}
		}
	}
	return known
}

// others says which containers run.
func (c *Chosen) others(known []containers.Container, groups map[int][]string, hidden []string) string {
	var running []containers.Container
	for _, k := range known {
		for _, paths := range groups {
			if k.Has(paths) {
				running = append(running, k)
				break
			}
		}
	}
	text := ". None runs here"
	if len(running) > 0 {
		text = ". These run: " + listed(running)
	}
	if len(hidden) > 0 {
		text += fmt.Sprintf(". You may not read %s, where their names are: ask as root", hidden[0])
	}
	return text
}

// listed names containers, the first ones of many.
func listed(list []containers.Container) string {
	const most = 20
	var names []string
	for i := range list[:min(len(list), most)] {
		names = append(names, list[i].String())
	}
	if len(list) > most {
		names = append(names, fmt.Sprintf("and %d more", len(list)-most))
	}
	return strings.Join(names, ", ")
}
