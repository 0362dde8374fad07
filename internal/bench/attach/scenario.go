//go:build linux

package attach

import (
	"fmt"
	"os/exec"
	"strconv"

	"github.com/sfwalk/sfwalk/internal/bench/build"
)

// A scenario is a process to attach to.
type scenario struct {
	name    string
	program string
	args    []string

	// The goals, sfwalk's to eu-stack's; 0 for none.
	wall      float64
	cpu       float64 // the least
	cpuFiles  float64 // the least, with debug files
	untouched bool    // a pause is no longer than a gap in a process that nobody touches
}

// libraries is how many shared libraries the large program has, at least.
const libraries = 120

// scenarios builds the programs and returns what is measured.
func scenarios(d build.Dir) ([]scenario, error) {
	wait, err := d.C("wait", build.Walked, "wait.c", "deep.c", "ticker.c")
	if err != nil {
		return nil, err
	}
	ticker, err := d.C("ticker.so", []string{"-O2", "-shared", "-fPIC"}, "ticker.c")
	if err != nil {
		return nil, err
	}
	deep := func(threads, depth int, goals scenario) scenario {
		goals.name, goals.program = fmt.Sprintf("%d × %d", threads, depth), wait
		goals.args = []string{strconv.Itoa(threads), strconv.Itoa(depth)}
		return goals
	}
	list := []scenario{
		deep(1, 40, scenario{wall: 1, cpu: 0.6, cpuFiles: 0.9, untouched: true}),
		deep(200, 40, scenario{wall: 0.5}),
		deep(1, 20000, scenario{wall: 0.5, cpu: 0.35}),
	}
	if python := python(); python != "" {
		script := d.Root + "/internal/bench/programs/large.py"
		list = append(list, scenario{name: "large", program: python, args: []string{script, ticker, strconv.Itoa(libraries)}})
	}
	return list, nil
}

// python returns the system's Python, before one of the user's, which may be a script
// that starts it; empty if there is none.
func python() string {
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
