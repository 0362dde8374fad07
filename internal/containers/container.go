package containers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Container is what its runtime says of it.
type Container struct {
	ID      string   // 64 hexadecimal digits; containerd's may be any name
	Names   []string // without the slash that docker writes before them; the first is the usual one
	Pod     string   // "NAMESPACE/NAME" of Kubernetes; "" for none
	Image   string   // "" where nobody tells
	Manager string   // "docker", "podman", "containerd", …
	Group   string   // the last part of its control group's path; "" if that is by the ID
	Sandbox bool     // it only holds a pod's name spaces
}

// String names a container for people: web (docker, nginx:1.27, 0123456789ab).
func (c *Container) String() string {
	about := []string{c.Manager}
	if c.Image != "" {
		about = append(about, c.Image)
	}
	name := c.ID
	if _, usual := InGroup(name); usual {
		name = name[:shortID]
	}
	if len(c.Names) > 0 {
		about = append(about, name)
		name = c.Names[0]
	}
	if c.Pod != "" {
		name = c.Pod + "/" + name
	}
	return fmt.Sprintf("%s (%s)", name, strings.Join(about, ", "))
}

// shortID is how many digits of an ID docker ps prints.
const shortID = 12

// InGroup returns the ID of the container that a component of a control group's path names.
// Docker, podman, containerd and CRI-O write "ID", "docker-ID.scope", "cri-containerd-ID.scope".
// "libpod-conmon-ID.scope" and "crio-conmon-ID.scope" are the groups of the program that watches
// the container from outside.
func InGroup(component string) (id string, ok bool) {
	id = strings.TrimSuffix(component, ".scope")
	at := strings.LastIndexAny(id, "-:") + 1
	before, id := id[:at], id[at:]
	return id, len(id) == 64 && isHex(id) && !strings.HasSuffix(before, "-conmon-")
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// Has reports whether a process in these control groups, paths, is in the container.
func (c *Container) Has(groups []string) bool {
	for _, g := range groups {
		for part := range strings.SplitSeq(g, "/") {
			if id, ok := InGroup(part); ok && id == c.ID || c.Group != "" && part == c.Group {
				return true
			}
		}
	}
	return false
}

// Find returns the containers among list that text means: by a name, by the beginning of an ID, or
// all of a pod by "POD" or "NAMESPACE/POD", one by "POD/CONTAINER". Several that are not of one pod
// mean that text is ambiguous.
func Find(list []Container, text string) (found []Container) {
	for _, by := range []func(*Container) bool{
		func(c *Container) bool { return c.ID == text || slices.Contains(c.Names, text) && !c.Sandbox },
		func(c *Container) bool {
			return c.Pod != "" && slices.ContainsFunc(c.Names, func(name string) bool { return ends(c.Pod+"/"+name, text) }) && strings.Contains(text, "/") && !c.Sandbox
		},
		func(c *Container) bool { return c.Pod != "" && ends(c.Pod, text) },
		func(c *Container) bool { return text != "" && isHex(text) && strings.HasPrefix(c.ID, text) },
	} {
		for _, c := range list {
			if by(&c) {
				found = append(found, c)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	return found
}

// ends reports whether a path ends with whole parts of another one.
func ends(path, with string) bool { return with != "" && strings.HasSuffix("/"+path, "/"+with) }

// Ambiguous reports whether containers are not all of one pod.
func Ambiguous(found []Container) bool {
	return len(found) > 1 && (found[0].Pod == "" || slices.ContainsFunc(found, func(c Container) bool { return c.Pod != found[0].Pod }))
}

// sorted returns each container once, by name. Of one that several files tell of, the file that
// knows a name wins: docker's containers are containerd's as well.
func sorted(list []Container) []Container {
	slices.SortStableFunc(list, func(a, b Container) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), cmp.Compare(len(b.Names), len(a.Names)))
	})
	list = slices.CompactFunc(list, func(a, b Container) bool { return a.ID == b.ID && min(len(a.Names), len(b.Names)) == 0 })
	slices.SortStableFunc(list, func(a, b Container) int { return strings.Compare(a.String(), b.String()) })
	return list
}
