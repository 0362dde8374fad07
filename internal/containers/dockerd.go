package containers

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// usualConfig is the file of dockerd's settings where its command line names no other.
const usualConfig = "/etc/docker/daemon.json"

// dockerFolders returns docker's folders where the machine's administrator has named others than
// the usual one: in the file of dockerd's settings, or on the command line of a dockerd that runs.
func dockerFolders(root string) (list []string) {
	add := func(folder string) {
		if folder = path.Clean(folder); path.IsAbs(folder) && !slices.Contains(list, folder) {
			list = append(list, folder)
		}
	}
	configs := []string{usualConfig}
	for _, args := range daemons(root) {
		folder, config := dockerFlags(args)
		add(folder)
		if path.IsAbs(config) {
			configs = append(configs, config)
		}
	}
	for _, file := range configs {
		text, err := read(filepath.Join(root, file))
		if err != nil {
			continue
		}
		var config struct {
			DataRoot string `json:"data-root"`
		}
		if json.Unmarshal(text, &config) == nil {
			add(config.DataRoot)
		}
	}
	return list
}

// daemons returns the command lines of the processes called dockerd that are root's and have this
// root folder. A dockerd within a container names folders there.
func daemons(root string) (list [][]string) {
	own, err := os.Stat(root)
	if err != nil {
		return nil
	}
	proc, err := os.Open(filepath.Join(root, "proc"))
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		if _, err := strconv.ParseUint(name, 10, 31); err != nil {
			continue
		}
		dir := filepath.Join(root, "proc", name)
		comm, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil || string(comm) != "dockerd\n" {
			continue
		}
		// Anybody may be called so. The owner of the folder in /proc is root, too, if the process
		// hides its memory: proc_pid_status(5) tells.
		if status, err := read(filepath.Join(dir, "status")); err != nil || !bytes.Contains(status, []byte("\nUid:\t0\t0\t0\t0\n")) {
			continue
		}
		if its, err := os.Stat(filepath.Join(dir, "root")); err == nil && !os.SameFile(own, its) {
			continue
		}
		if text, err := read(filepath.Join(dir, "cmdline")); err == nil {
			list = append(list, strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"))
		}
	}
	return list
}

// dockerFlags returns the folder and the file of settings that dockerd's arguments name (moby's
// cmd/dockerd/config.go): the last ones if there are several, or "".
func dockerFlags(args []string) (folder, config string) {
	for i := 1; i < len(args); i++ {
		next := func() string {
			if i++; i < len(args) {
				return args[i]
			}
			return ""
		}
		name, value, given := strings.Cut(args[i], "=")
		switch {
		case args[i] == "--":
			return folder, config
		case name == "--data-root" || name == "--config-file":
			if !given {
				value = next()
			}
			if name == "--data-root" {
				folder = value
			} else {
				config = value
			}
		case strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "--"):
			letters := strings.TrimLeft(args[i][1:], "Dv") // what is left takes a value
			if letters == "" {
				continue
			}
			if value = strings.TrimPrefix(letters[1:], "="); value == "" {
				value = next()
			}
			if letters[0] == 'g' {
				folder = value
			}
		}
	}
	return folder, config
}
