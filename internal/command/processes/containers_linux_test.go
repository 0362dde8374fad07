package processes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/processes"
)

// TestContainers finds the processes of containers by the runtimes' files and the control groups.
// Package containers' tests have the files of each runtime.
func TestContainers(t *testing.T) {
	id := func(c string) string { return strings.Repeat(c, 64) }
	root := t.TempDir()
	state := func(id, name string) string {
		return fmt.Sprintf(`{"ID":"%s","Name":"/%s","Config":{"Image":"nginx"}}`, id, name)
	}
	const task = "run/containerd/io.containerd.runtime.v2.task/k8s.io/"
	pod := func(name, pod string) string {
		return fmt.Sprintf(`{"annotations":{"io.kubernetes.cri.container-name":"%s","io.kubernetes.cri.sandbox-name":"%s","io.kubernetes.cri.sandbox-namespace":"prod"}}`, name, pod)
	}
	for name, text := range map[string]string{
		"var/lib/docker/containers/a/config.v2.json": state(id("a"), "web"),
		"var/lib/docker/containers/b/config.v2.json": state(id("b"), "stopped"),
		task + id("c") + "/config.json":              pod("app", "shop"),
		task + id("d") + "/config.json":              pod("proxy", "shop"),
		task + id("e") + "/config.json":              pod("app", "till"),
		task + id("f") + "/config.json":              pod("nginx", "shop"),
		"var/lib/docker/containers/0/config.v2.json": `{"ID":"` + strings.Repeat("0123456789abcdef", 4) + `","Name":"/demo-api-1","Config":{"Labels":{"com.docker.compose.service":"api"}}}`,
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	groups := map[int]string{
		11: "0::/system.slice/docker-" + id("a") + ".scope\n",
		12: "12:pids:/docker/" + id("a") + "\n0::/system.slice/containerd.service\n",
		13: "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + id("c") + ".scope\n",
		14: "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + id("d") + ".scope\n",
		15: "0::/kubepods.slice/kubepods-pod2.slice/cri-containerd-" + id("e") + ".scope\n",
		16: "0::/docker/ab" + id("0")[2:] + "\n", // of a runtime that nobody knows
		17: "0::/user.slice\n",
		18: "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + id("f") + ".scope\n",
		19: "0::/docker/" + strings.Repeat("0123456789abcdef", 4) + "\n",
	}
	var list []processes.Listed
	for pid := 11; pid <= 19; pid++ {
		list = append(list, processes.Listed{Pid: pid})
	}
	for _, tt := range []struct{ wanted, want string }{ // of an error, a part
		{"web", "[11 12]"}, {"aa", "[11 12]"}, {id("a"), "[11 12]"},
		{"shop", "[13 14 18]"}, {"prod/shop", "[13 14 18]"}, {"shop/nginx", "[18]"}, {"api", "[19]"}, {"0123456789abc", "[19]"}, {"shop/app", "[13]"}, {"till/app", "[15]"}, {"proxy", "[14]"}, {"ab", "[16]"},
		{"app", "several containers are called so: prod/shop/app (containerd, cccccccccccc), prod/till/app (containerd, eeeeeeeeeeee)"},
		{"a", "several containers are called so: ab0000000000 (by its control group), web (docker, nginx, aaaaaaaaaaaa)"},
		{"stopped", "stopped (docker, nginx, bbbbbbbbbbbb) does not run"},
		{"we", "there is no such container. These run: ab0000000000 (by its control group), demo-api-1 (docker, 0123456789ab), prod/shop/app (containerd, cccccccccccc), prod/shop/nginx"},
	} {
		c := processes.Chosen{Containers: []string{tt.wanted}, ContainerRoot: root, CgroupsOf: func(pid int) []string { return processes.ParseCgroups(groups[pid]) }}
		got, err := c.Find(list)
		if text := fmt.Sprint(got); text != tt.want && !(err != nil && strings.Contains(err.Error(), tt.want)) {
			t.Errorf("--container %s: %s, %v, want %s", tt.wanted, text, err, tt.want)
		}
	}
	c := processes.Chosen{Containers: []string{"web"}, ContainerRoot: t.TempDir(), CgroupsOf: func(int) []string { return nil }}
	if _, err := c.Find(list); err == nil || !strings.Contains(err.Error(), "None runs here") {
		t.Errorf("no containers: %v", err)
	}
}
