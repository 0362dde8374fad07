package processes_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/processes"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestChosen compares which processes the flags name with pgrep's and ps's answers.
func TestChosen(t *testing.T) {
	dir := t.TempDir()
	exe := filepath.Join(dir, "o (dd) name")
	if err := os.Symlink(gdbtest.Tool(t, "sleep"), exe); err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(gdbtest.Tool(t, "sh"), "-c", `"$0" 100 & "$0" 100 & wait`, exe)
	in, _ := parent.StdinPipe()
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var children []int
	gdbtest.Await(t, "both children", func() bool {
		out, _ := exec.Command(gdbtest.Tool(t, "pgrep"), "-x", "-P", strconv.Itoa(parent.Process.Pid), `o \(dd\) name`).Output()
		children = nil
		for _, x := range strings.Fields(string(out)) {
			pid, _ := strconv.Atoi(x)
			children = append(children, pid)
		}
		return len(children) == 2
	})
	defer func() {
		for _, pid := range children {
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill()
			}
		}
		parent.Wait()
	}()
	slices.Sort(children)
	got, err := (&processes.Chosen{Names: []string{"o (dd) name"}}).Pids(nil, nil)
	if err != nil || !slices.Equal(got, children) {
		t.Errorf("--name: %v, error %v, want %v", got, err, children)
	}
	want := append([]int{parent.Process.Pid}, children...)
	slices.Sort(want)
	if got, err := (&processes.Chosen{Children: []int{parent.Process.Pid}}).Pids(nil, nil); err != nil || !slices.Equal(got, want) {
		t.Errorf("--children: %v, error %v, want %v", got, err, want)
	}
	all, err := (&processes.Chosen{All: true}).Pids(nil, nil)
	for _, pid := range want {
		if !slices.Contains(all, pid) {
			t.Errorf("--all: no %d in %v", pid, all)
		}
	}
	if err != nil || slices.Contains(all, os.Getpid()) {
		t.Errorf("--all: error %v, or this process is among %v", err, all)
	}
	if _, err := (&processes.Chosen{Names: []string{"no such name"}}).Pids(nil, nil); err == nil {
		t.Error("--name of no process: no error")
	}
}

// TestCgroups finds processes by lines of /proc/PID/cgroup that systemd, docker, podman, containerd
// and CRI-O make.
func TestCgroups(t *testing.T) {
	id := func(c string) string { return strings.Repeat(c, 64) }
	groups := map[int]string{
		11: "0::/system.slice/nginx.service\n",
		12: "0::/system.slice/nginx.service/worker\n",
		13: "0::/system.slice/nginx.service2\n",
		14: "0::/system.slice/docker-" + id("a") + ".scope\n",
		15: "12:pids:/docker/" + id("b") + "\n1:name=systemd:/docker/" + id("b") + "\n0::/system.slice/containerd.service\n",
		16: "0::/machine.slice/libpod-ab" + id("c")[2:] + ".scope/container\n",
		17: "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1234_5.slice/cri-containerd-" + id("d") + ".scope\n",
		18: "0::/kubepods/besteffort/pod12/" + id("e") + "\n",
		19: "0::/system.slice:docker:" + id("f") + "\n",
		20: "0::/\n",
	}
	var list []processes.Listed
	for pid := 11; pid <= 20; pid++ {
		list = append(list, processes.Listed{Pid: pid})
	}
	for _, tt := range []struct {
		wanted string
		want   string
	}{
		{"system.slice/nginx.service", "[11 12]"},
		{"/system.slice/nginx.service/", "[11 12]"},
		{"/sys/fs/cgroup/system.slice/nginx.service", "[11 12]"},
		{"nginx.service", "[11 12]"},
		{"aaaaaaaaaaaa", "[14]"},
		{id("b"), "[15]"},
		{"abcccccccccc", "[16]"},
		{"ddddddddddddd", "[17]"},
		{"eeeeeeeeeeee", "[18]"},
		{"ffffffffffff", "[19]"},
		{"kubepods.slice", "[17]"},
		{"aaaaa", "error"},
		{"abab12abab12", "error"},
	} {
		c := processes.Chosen{Cgroups: []string{tt.wanted}, CgroupsOf: func(pid int) []string { return processes.ParseCgroups(groups[pid]) }}
		got, err := c.Find(list)
		if text := fmt.Sprint(got); text != tt.want && !(err != nil && tt.want == "error") {
			t.Errorf("--cgroup %s: %s, %v, want %s", tt.wanted, text, err, tt.want)
		}
	}
	groups[21] = "0::/docker/aaaaaaaaaaaa" + id("0")[12:] + "\n"
	c := processes.Chosen{Cgroups: []string{"aaaaaaaaaaaa"}, CgroupsOf: func(pid int) []string { return processes.ParseCgroups(groups[pid]) }}
	if _, err := c.Find(append(list, processes.Listed{Pid: 21})); err == nil || !strings.Contains(err.Error(), "several containers") {
		t.Errorf("two containers: %v", err)
	}
}
