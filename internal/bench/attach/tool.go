//go:build linux

package attach

import (
	"os/exec"
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
