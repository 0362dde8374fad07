//go:build linux

package attach

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/internal/bench/build"
)

// A tool prints the stacks of a process.
type tool struct {
	name string
	args []string // with "PID" for the process's
	cold bool     // nothing is kept of earlier runs
}

// The names that goals are about.
const (
	ours         = "sfwalk attach"
	consistent   = "sfwalk attach --consistent"
	noLines      = "sfwalk attach --no-lines"  // functions alone, as eu-stack
	first        = "sfwalk attach, first time" // it keeps what it inflates
	noCache      = "sfwalk attach --no-cache"
	euStack      = "eu-stack"
	euStackLines = "eu-stack -s" // with files and lines
	nothing      = "nothing (sleep)"
)

// tools returns the tools on this machine, the versions of the peers, and why there is no eu-stack.
func tools(d build.Dir) (list []tool, versions []string, missing string, err error) {
	sfwalk, err := d.Sfwalk()
	if err != nil {
		return nil, nil, "", err
	}
	list = append(list,
		tool{name: ours, args: []string{sfwalk, "attach", "PID"}},
		tool{name: first, args: []string{sfwalk, "attach", "PID"}, cold: true},
		tool{name: noCache, args: []string{sfwalk, "attach", "--no-cache", "PID"}},
		tool{name: consistent, args: []string{sfwalk, "attach", "--consistent", "PID"}},
		tool{name: noLines, args: []string{sfwalk, "attach", "--no-lines", "PID"}})
	if eu, version, err := d.EuStack(); err == nil {
		list = append(list,
			tool{name: euStack, args: slices.Concat(eu, []string{"-n", "0", "-p", "PID"})},
			tool{name: euStackLines, args: slices.Concat(eu, []string{"-s", "-n", "0", "-p", "PID"})})
		versions = append(versions, version)
	} else {
		missing = err.Error()
	}
	if gdb, err := exec.LookPath("gdb"); err == nil {
		list = append(list, tool{name: "gdb", args: []string{gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off",
			"-p", "PID", "-ex", "thread apply all bt"}})
		versions = append(versions, build.Version(gdb))
	}
	return list, versions, missing, nil
}

// command returns the tool's command for a process.
func (t *tool) command(pid int) []string {
	args := make([]string, len(t.args))
	for i, a := range t.args {
		args[i] = strings.ReplaceAll(a, "PID", strconv.Itoa(pid))
	}
	return args
}

var frameLine = regexp.MustCompile(`(?m)^#\d+`)

// frames counts the frames in a tool's output.
func frames(file string) (int, error) {
	out, err := os.ReadFile(file)
	return len(frameLine.FindAllIndex(out, -1)), err
}

// Cache is the folder of what sfwalk keeps while it is measured; there is none of it at first.
type Cache struct{ dir string }

// NewCache has sfwalk keep what it inflates in a folder of the bench, until restore is called. What
// Go has compiled stays where it is.
func NewCache(d build.Dir) (c Cache, restore func(), err error) {
	compiled, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return c, nil, err
	}
	c = Cache{filepath.Join(d.Path, "cache")}
	var undo []func() error
	for name, value := range map[string]string{"XDG_CACHE_HOME": c.dir, "GOCACHE": strings.TrimSpace(string(compiled))} {
		before, was := os.LookupEnv(name)
		undo = append(undo, func() error {
			if was {
				return os.Setenv(name, before)
			}
			return os.Unsetenv(name)
		})
		err = errors.Join(err, os.Setenv(name, value))
	}
	restore = func() {
		for _, f := range undo {
			f()
		}
	}
	return c, restore, errors.Join(err, os.MkdirAll(c.dir, 0o700), c.clear())
}

// clear removes all that was kept.
func (c Cache) clear() error { return os.RemoveAll(filepath.Join(c.dir, "sfwalk")) }
