//go:build linux

package build

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrMissing: a peer is not on this machine and cannot be fetched.
var ErrMissing = errors.New("not measured")

// Root returns the project's folder: the one with go.mod that contains the working directory.
func Root() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod in %s or above: run the bench in the project's folder", start)
		}
	}
}

// A Dir is the folder for programs.
type Dir struct {
	Root string // the project's folder
	Path string // the programs' folder, absolute
}

// NewDir returns the folder path, which it makes.
func NewDir(path string) (Dir, error) {
	root, err := Root()
	if err != nil {
		return Dir{}, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return Dir{}, err
	}
	return Dir{root, path}, os.MkdirAll(path, 0o777)
}

// Walked are the compiler's flags for programs whose stacks are walked: fast, without
// frame pointers, with the SFrame of this machine's assembler.
var Walked = []string{"-O2", "-g", "-fomit-frame-pointer", "-Wa,--gsframe"}

// C compiles sources of internal/bench/programs into the program name. Flags that begin with
// -l, and names of libraries, come behind the sources.
func (d Dir) C(name string, flags []string, sources ...string) (string, error) {
	out := filepath.Join(d.Path, name)
	args := []string{"-o", out, "-Wall", "-Wextra", "-pthread"}
	var libraries []string
	for _, f := range flags {
		if strings.HasPrefix(f, "-l") || !strings.HasPrefix(f, "-") {
			libraries = append(libraries, f)
		} else {
			args = append(args, f)
		}
	}
	for _, s := range sources {
		args = append(args, filepath.Join(d.Root, "internal", "bench", "programs", s))
	}
	return out, output(exec.Command("gcc", append(args, libraries...)...))
}

// Sfwalk builds this project's command, as make build does.
func (d Dir) Sfwalk() (string, error) {
	out := filepath.Join(d.Path, "sfwalk")
	cmd := exec.Command("go", "build", "-trimpath", "-o", out, "./cmd/sfwalk")
	cmd.Dir, cmd.Env = d.Root, append(os.Environ(), "CGO_ENABLED=0")
	return out, output(cmd)
}

// Go builds a package of Go, by its import path or its folder below the root, and returns the
// program's path. What is compiled does not depend on the folder: so a clone need not be compiled
// where it is the same.
func (d Dir) Go(name, pkg string) (string, error) {
	out := filepath.Join(d.Path, name)
	cmd := exec.Command("go", "build", "-trimpath", "-o", out, pkg)
	cmd.Dir, cmd.Env = d.Root, append(os.Environ(), "CGO_ENABLED=0")
	return out, output(cmd)
}

// output runs a command whose output matters only if it fails.
func output(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}

// Compilers returns the versions of the tools that make the C programs: the compiler, and the
// assembler, which writes SFrame.
func Compilers() []string { return []string{Version("gcc"), Version("as")} }

// Version returns the first line that a program prints for --version, or "none".
func Version(program string) string {
	out, err := exec.Command(program, "--version").Output()
	if err != nil {
		return "none"
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}
