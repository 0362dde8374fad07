package containers

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sfwalk/sfwalk/internal/regular"
)

const (
	mostFiles = 8 << 10 // of one pattern
	mostBytes = 4 << 20 // of one file
)

// homes are the folders below which a user's own runtimes keep their state.
var homes = []string{"/root/.local/share", "/home/*/.local/share"}

// sources are where the runtimes keep their state, below the root.
var sources = []struct {
	patterns []string
	parse    func(file string, text []byte) []Container
}{
	// moby's container.ToDisk. dockerFolders has more of them; the last one is snap's.
	{[]string{"/var/lib/docker/containers/*/config.v2.json", "~/docker/containers/*/config.v2.json",
		"/var/snap/docker/common/var-lib-docker/containers/*/config.v2.json"}, docker},
	// containers/storage: containers.json in the folder of each driver. CRI-O has the same store.
	{[]string{"/var/lib/containers/storage/*-containers/containers.json", "/var/lib/containers/storage/*-containers/volatile-containers.json",
		"~/containers/storage/*-containers/containers.json", "~/containers/storage/*-containers/volatile-containers.json"}, store},
	// The bundles of containerd's tasks; the last ones are k3s' and microk8s'.
	{[]string{"/run/containerd/io.containerd.runtime.v2.task/*/*/config.json", "/run/k3s/containerd/io.containerd.runtime.v2.task/*/*/config.json",
		"/var/snap/microk8s/common/run/containerd/io.containerd.runtime.v2.task/*/*/config.json"}, bundle},
}

// List returns the containers whose state is below root, "/" for this machine's own, by name.
// hidden are the folders that this user may not read.
func List(root string) (list []Container, hidden []string) {
	for _, s := range sources {
		patterns := s.patterns
		if strings.HasPrefix(patterns[0], "/var/lib/docker/") {
			for _, folder := range dockerFolders(root) {
				patterns = append([]string{folder + "/containers/*/config.v2.json"}, patterns...)
			}
		}
		for _, pattern := range patterns {
			below := []string{""}
			if rest, ok := strings.CutPrefix(pattern, "~"); ok {
				below, pattern = homes, rest
			}
			for _, home := range below {
				files, denied := glob(root, home+pattern)
				if home == "" { // what others keep at home is no loss
					hidden = append(hidden, denied...)
				}
				for _, file := range files {
					text, err := read(file)
					if err == nil {
						list = append(list, s.parse(file, text)...)
					}
				}
			}
		}
	}
	return sorted(list), hidden
}

// glob returns the files that a pattern stands for, and the folder that may not be read, if that is
// why there are none. A * stands for a whole part, but for its end.
func glob(root, pattern string) (files, denied []string) {
	files = []string{root}
	for part := range strings.SplitSeq(strings.Trim(pattern, "/"), "/") {
		var next []string
		for _, dir := range files {
			suffix, wild := strings.CutPrefix(part, "*")
			if !wild {
				if _, err := os.Lstat(filepath.Join(dir, part)); err == nil {
					next = append(next, filepath.Join(dir, part))
				} else if errors.Is(err, fs.ErrPermission) {
					denied = append(denied, dir)
				}
				continue
			}
			d, err := os.Open(dir)
			if err != nil {
				if errors.Is(err, fs.ErrPermission) {
					denied = append(denied, dir)
				}
				continue
			}
			names, _ := d.Readdirnames(mostFiles)
			d.Close()
			for _, name := range names {
				if strings.HasSuffix(name, suffix) && len(next) < mostFiles {
					next = append(next, filepath.Join(dir, name))
				}
			}
		}
		files = next
	}
	return files, denied
}

// read reads a file of a bounded size. Its owner may be anybody.
func read(file string) ([]byte, error) {
	f, err := regular.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err == nil && len(text) > mostBytes {
		err = errors.New("it is too large")
	}
	return text, err
}

// docker reads one container's state (moby's container.Container).
func docker(_ string, text []byte) []Container {
	var state struct {
		ID, Name string
		Config   struct {
			Image  string
			Labels map[string]string
		}
	}
	if json.Unmarshal(text, &state) != nil || state.ID == "" {
		return nil
	}
	c := Container{ID: state.ID, Image: state.Config.Image, Manager: "docker"}
	c.name(strings.TrimPrefix(state.Name, "/"))
	if s := state.Config.Labels["com.docker.compose.service"]; s != "" {
		c.Names = append(c.Names, s)
	}
	return []Container{c}
}

// store reads the list of a store of containers (containers/storage's Container).
func store(_ string, text []byte) (list []Container) {
	var state []struct {
		ID       string   `json:"id"`
		Names    []string `json:"names"`
		Metadata string   `json:"metadata"`
	}
	if json.Unmarshal(text, &state) != nil {
		return nil
	}
	for _, s := range state {
		if s.ID == "" {
			continue
		}
		c := Container{ID: s.ID, Manager: "podman"}
		var more struct {
			Image string `json:"image-name"`
			Pod   string `json:"pod-name"` // CRI-O alone
		}
		if json.Unmarshal([]byte(s.Metadata), &more) == nil {
			c.Image = more.Image
			if more.Pod != "" {
				c.Manager = "CRI-O"
			}
		}
		for _, name := range s.Names {
			c.name(name)
		}
		list = append(list, c)
	}
	return list
}

// bundle reads the runtime's configuration of one container (config.json of the OCI), with the
// annotations of containerd's CRI plug-in and of nerdctl. Its folder is called by the ID.
func bundle(file string, text []byte) []Container {
	var spec struct {
		Annotations map[string]string `json:"annotations"`
		Linux       struct {
			CgroupsPath string `json:"cgroupsPath"`
		} `json:"linux"`
	}
	if json.Unmarshal(text, &spec) != nil {
		return nil
	}
	const cri = "io.kubernetes.cri."
	a := spec.Annotations
	c := Container{ID: filepath.Base(filepath.Dir(file)), Manager: "containerd", Image: a[cri+"image-name"], Sandbox: a[cri+"container-type"] == "sandbox"}
	if pod := a[cri+"sandbox-name"]; pod != "" {
		c.Pod = a[cri+"sandbox-namespace"] + "/" + pod
	}
	for _, key := range []string{cri + "container-name", "nerdctl/name"} {
		if a[key] != "" {
			c.Names = append(c.Names, a[key])
		}
	}
	if _, usual := InGroup(c.ID); !usual {
		// "/default/web", or systemd's form "SLICE:PREFIX:NAME": systemd.resource-control(5).
		c.Group = path.Base(spec.Linux.CgroupsPath)
		if parts := strings.Split(spec.Linux.CgroupsPath, ":"); len(parts) == 3 {
			c.Group = parts[1] + "-" + parts[2] + ".scope"
		}
		if c.Group == "." || c.Group == "/" {
			c.Group = ""
		}
	}
	return []Container{c}
}

// name adds a name. Kubernetes' are k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT, as the kubelet has
// named docker's containers, and CRI-O still does.
func (c *Container) name(name string) {
	if name == "" {
		return
	}
	if f := strings.Split(name, "_"); len(f) == 6 && f[0] == "k8s" {
		c.Pod = f[3] + "/" + f[2]
		c.Sandbox = f[1] == "POD"
		c.Names = append(c.Names, f[1])
	}
	c.Names = append(c.Names, name)
}
