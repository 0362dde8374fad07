//go:build linux

package build

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// debian unpacks packages (debian.sh) into a folder of .cache and returns the folder.
func (d Dir) debian(name, suite string, packages ...string) (string, error) {
	return d.fetch("debian.sh", name, append([]string{suite}, packages...)...)
}

// fetch runs a script of bench, which puts something into a folder of .cache, and
// returns the folder. The script's last line says why there is none.
func (d Dir) fetch(script, name string, args ...string) (string, error) {
	dir := filepath.Join(d.Root, ".cache", name)
	out, err := exec.Command("sh", append([]string{filepath.Join(d.Root, "internal", "bench", script), dir}, args...)...).CombinedOutput()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return "", fmt.Errorf("%w: %s", ErrMissing, lines[len(lines)-1])
	}
	return dir, nil
}

// Libsframe returns the folder with libsframe's header and libraries, and its version.
func (d Dir) Libsframe() (dir, version string, err error) {
	if dir, err = d.fetch("sframe/libsframe.sh", "libsframe"); err != nil {
		return "", "", err
	}
	return dir, Package(dir, "libsframe3"), nil
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

// Libunwind builds two programs of internal/bench/programs with libunwind: local.c, which
// unwinds its own stack, and remote.c, by ptrace.
func (d Dir) Libunwind() (local, remote, version string, err error) {
	dir, err := d.debian("libunwind", "here", "libunwind-dev", "libunwind8")
	if err != nil {
		return "", "", "", err
	}
	folders, err := filepath.Glob(filepath.Join(dir, "usr", "lib", "*-linux-gnu*"))
	if err != nil || len(folders) == 0 {
		return "", "", "", fmt.Errorf("%w: no libraries in %s", ErrMissing, dir)
	}
	headers, err := filepath.Glob(filepath.Join(dir, "usr", "include", "*-linux-gnu*"))
	if err != nil {
		return "", "", "", err
	}
	flags := []string{"-I" + filepath.Join(dir, "usr", "include"), "-L" + folders[0], "-Wl,-rpath," + folders[0]}
	for _, h := range headers {
		flags = append(flags, "-I"+h)
	}
	local, err = d.C("local", append(append(flags, Walked...), "-lunwind"), "local.c", "unwind.c", "deep.c")
	if err != nil {
		return "", "", "", fmt.Errorf("%w: %v", ErrMissing, err)
	}
	remote, err = d.C("remote", append(append(flags, "-O2"), "-lunwind-ptrace", "-lunwind-generic", "-lunwind"), "remote.c", "unwind.c")
	if err != nil {
		return "", "", "", fmt.Errorf("%w: %v", ErrMissing, err)
	}
	return local, remote, Package(dir, "libunwind8"), nil
}

// Package returns the name and version of a package that internal/bench/debian.sh has unpacked
// into a folder.
func Package(dir, name string) string {
	text, _ := os.ReadFile(filepath.Join(dir, "packages"))
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, name+" ") {
			return strings.TrimSpace(line)
		}
	}
	return name
}

// Framehop builds internal/bench/framehop with Debian's packages of Rust libraries.
func (d Dir) Framehop() (program, version string, err error) {
	if runtime.GOARCH != "amd64" {
		return "", "", fmt.Errorf("%w: the program is for amd64", ErrMissing)
	}
	cargo, err := exec.LookPath("cargo")
	if err != nil {
		home, _ := os.UserHomeDir()
		if cargo, err = exec.LookPath(filepath.Join(home, ".cargo", "bin", "cargo")); err != nil {
			return "", "", fmt.Errorf("%w: no cargo", ErrMissing)
		}
	}
	packages, err := d.debian("framehop", "forky/librust-", "librust-framehop-dev", "librust-object-dev")
	if err != nil {
		return "", "", err
	}
	registry := filepath.Join(packages, "usr", "share", "cargo", "registry")
	// Cargo writes beside the sources: so it gets a copy.
	source := filepath.Join(d.Path, "framehop")
	if err := os.RemoveAll(source); err != nil {
		return "", "", err
	}
	if err := os.CopyFS(source, os.DirFS(filepath.Join(d.Root, "internal", "bench", "framehop"))); err != nil {
		return "", "", err
	}
	made := filepath.Join(d.Root, ".cache", "framehop-target")
	cmd := exec.Command(cargo, "build", "--release", "--offline", "--target-dir", made,
		"--config", `source.crates-io.replace-with="debian"`, "--config", fmt.Sprintf("source.debian.directory=%q", registry))
	cmd.Dir = source
	if err := output(cmd); err != nil {
		return "", "", fmt.Errorf("%w: %v", ErrMissing, err)
	}
	version = Package(packages, "librust-framehop-dev") + ", built by " + Version(cargo)
	return filepath.Join(made, "release", "framehop-peer"), version, nil
}
