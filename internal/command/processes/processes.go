package processes

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/procdir"
)

// Chosen are the processes that the flags of a verb name beside its arguments.
type Chosen struct {
	pids       cmdline.PIDs // of -p, as arguments
	ByPID      []int        // set by Pids: the processes of -p and of the arguments
	Names      []string
	Children   []int
	Cgroups    []string
	Containers []string
	All        bool

	CgroupsOf     func(pid int) []string // for tests; nil for the processes of /proc
	ContainerRoot string                 // for tests: below it is the runtimes' state; "" for /
}

// Add adds the flags but --all, which not each verb has.
func (c *Chosen) Add(cmd *cobra.Command) {
	f := cmd.Flags()
	c.pids.Add(cmd, "this process: the same as an argument; repeatable, or with commas")
	cmdline.List(f, &c.Names, "name", "also the processes of this name, as pgrep -x finds them")
	f.IntSliceVar(&c.Children, "children", nil, "also this process, its children and theirs")
	cmdline.List(f, &c.Cgroups, "cgroup", "also the processes of this control group (system.slice/nginx.service) and those below it, or of the container with this ID, or the beginning of one")
	cmdline.List(f, &c.Containers, "container", "also the processes of this container of docker, podman, containerd or CRI-O: its name, the beginning of its ID, or a pod's name, POD/CONTAINER")
}

// Given reports whether the arguments of a verb, or the flags, name processes.
func (c *Chosen) Given(args []string) bool { return len(c.pids.Before(args)) > 0 || c.Any() }

// Any reports whether the flags name processes in another way than by a PID.
func (c *Chosen) Any() bool {
	return len(c.Names) > 0 || len(c.Children) > 0 || len(c.Cgroups) > 0 || len(c.Containers) > 0 || c.All
}

// Pids returns the processes that the arguments and the flags name, each once.
func (c *Chosen) Pids(cmd *cobra.Command, args []string) (list []int, err error) {
	for _, a := range c.pids.Before(args) {
		pid, err := cmdline.Process(cmd, a)
		if err != nil {
			return nil, err
		}
		list = append(list, pid)
	}
	c.ByPID = slices.Clone(list)
	if c.Any() {
		all, err := running()
		if err != nil {
			return nil, err
		}
		found, err := c.Find(all)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	var once []int
	for _, pid := range list {
		if !slices.Contains(once, pid) {
			once = append(once, pid)
		}
	}
	return once, nil
}

// Listed is a process as /proc lists it.
type Listed struct {
	Pid, parent int
	name        string
	gone        bool // it has no memory: a thread of the kernel's, or a zombie
}

// running lists the processes of the machine, by PID.
func running() (list []Listed, err error) {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		// proc_pid_stat(5): PID (name) state parent … A name may have parentheses and blanks.
		stat, err := os.ReadFile("/proc/" + d.Name() + "/stat")
		lo, hi := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
		if err != nil || lo < 0 || hi < lo {
			continue // it has ended
		}
		fields := strings.Fields(string(stat[hi+1:]))
		if len(fields) < 21 {
			continue
		}
		p := Listed{Pid: pid, name: string(stat[lo+1 : hi]), gone: fields[20] == "0"} // vsize
		// If its first thread has ended, others may live on.
		if fields[0] == "Z" {
			p.gone = procdir.Thread(pid) == pid
		}
		p.parent, _ = strconv.Atoi(fields[1])
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Listed) int { return a.Pid - b.Pid })
	return list, nil
}

// Find returns the processes among list that the flags name, but never this one.
func (c *Chosen) Find(list []Listed) (pids []int, err error) {
	grouped, err := c.inCgroups(list)
	if err == nil {
		err = c.inContainers(list, grouped)
	}
	if err != nil {
		return nil, err
	}
	in := map[int]bool{}
	for _, pid := range c.Children {
		if !slices.ContainsFunc(list, func(p Listed) bool { return p.Pid == pid }) {
			return nil, fmt.Errorf("--children %d: no such process", pid)
		}
		in[pid] = true
	}
	for grown := true; grown; { // a child may have a smaller PID than its parent
		grown = false
		for _, p := range list {
			if in[p.parent] && !in[p.Pid] {
				in[p.Pid], grown = true, true
			}
		}
	}
	for _, name := range c.Names {
		if !slices.ContainsFunc(list, func(p Listed) bool { return !p.gone && cmdline.Called(p.Pid, p.name, name) }) {
			return nil, fmt.Errorf("--name %s: no process has this name (ps -e lists names, in its last column)", name)
		}
	}
	for _, p := range list {
		if p.Pid != os.Getpid() && !p.gone && (c.All || in[p.Pid] || grouped[p.Pid] || slices.ContainsFunc(c.Names, func(name string) bool { return cmdline.Called(p.Pid, p.name, name) })) {
			pids = append(pids, p.Pid)
		}
	}
	return pids, nil
}

// Name returns the name of a process, as --name takes it.
func Name(pid int) string {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return "process"
	}
	return strings.TrimSuffix(string(name), "\n")
}
