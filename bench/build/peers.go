//go:build linux

package build

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// debian unpacks packages (debian.sh) into a folder of .cache and returns the folder.
func (d Dir) debian(name, suite string, packages ...string) (string, error) {
	dir := filepath.Join(d.Root, ".cache", name)
	args := append([]string{filepath.Join(d.Root, "bench", "debian.sh"), dir, suite}, packages...)
	if out, err := exec.Command("sh", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", ErrMissing, out)
	}
	return dir, nil
}

// EuStack returns the command of elfutils that prints stacks, and its version: the
// one that is installed, or else this machine's Debian's.
func (d Dir) EuStack() (command []string, version string, err error) {
	if path, err := exec.LookPath("eu-stack"); err == nil {
		return []string{path}, Version(path), nil
	}
	dir, err := d.debian("elfutils", "here", "elfutils", "libdw1", "libelf1", "libasm1")
	if err != nil {
		return nil, "", err
	}
	libraries, err := filepath.Glob(filepath.Join(dir, "usr", "lib", "*-linux-gnu*"))
	if err != nil || len(libraries) == 0 {
		return nil, "", fmt.Errorf("%w: no libraries in %s", ErrMissing, dir)
	}
	path := filepath.Join(dir, "usr", "bin", "eu-stack")
	// The variable is for the tool alone.
	script := filepath.Join(d.Path, "eu-stack")
	text := fmt.Sprintf("#!/bin/sh\nLD_LIBRARY_PATH=%q exec %q \"$@\"\n", libraries[0], path)
	if err := os.WriteFile(script, []byte(text), 0o777); err != nil {
		return nil, "", err
	}
	return []string{"env", "LD_LIBRARY_PATH=" + libraries[0], path}, Version(script), nil
}
