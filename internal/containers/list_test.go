package containers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

func id(c string) string { return strings.Repeat(c, 64)[:64] }

// The states are real containers' ones, without what is not read.
var (
	// docker run -d --name dweb --label com.docker.compose.service=api tiny; docker 20.10.
	dockerState = `{"StreamConfig":{},"State":{"Running":true,"Pid":13745},"ID":"` + id("1b5c0a") + `","Created":"2026-11-29T09:35:50Z","Managed":false,"Path":"/bin/sleep",` +
		`"Config":{"Hostname":"1b5c0a75c818","Env":null,"Image":"tiny","Labels":{"com.docker.compose.service":"api"}},"Image":"sha256:2a05","Name":"/dweb","Driver":"vfs","OS":"linux"}`
	// podman run -d --name web --rootfs …; podman 4.3.
	podmanState = `[{"id":"` + id("4e479d") + `","names":["web"],"image":"","layer":"4b1a","metadata":"{\"image-name\":\"\",\"image-id\":\"\",\"name\":\"web\",\"created-at\":1795944662}","created":"2026-11-29T09:31:02Z","flags":{"MountLabel":"","ProcessLabel":""}}]`
	// ctr run -d --rootfs … ctrweb /bin/sleep 600; containerd 1.6.
	ctrState = `{"ociVersion":"1.0.2-dev","process":{"args":["/bin/sleep","600"]},"root":{"path":"/tmp/rootfs"},"linux":{"cgroupsPath":"/default/ctrweb","namespaces":[{"type":"pid"}]}}`
	// By CRI-O's sandbox and container factories: lib/container_server.go.
	crioState = `[{"id":"` + id("c0") + `","names":["k8s_nginx_shop_prod_1234-5_0"],"metadata":"{\"pod-name\":\"k8s_POD_shop_prod_1234-5_0\",\"pod-id\":\"x\",\"image-name\":\"docker.io/library/nginx:1.27\",\"container-name\":\"k8s_nginx_shop_prod_1234-5_0\"}"},` +
		`{"id":"` + id("c1") + `","names":["k8s_POD_shop_prod_1234-5_0"],"metadata":"{\"pod-name\":\"k8s_POD_shop_prod_1234-5_0\"}"}]`
	// By containerd's pkg/cri/annotations.
	criState = func(name, kind string) string {
		return `{"annotations":{"io.kubernetes.cri.container-name":"` + name + `","io.kubernetes.cri.container-type":"` + kind + `","io.kubernetes.cri.sandbox-name":"cart-7d","io.kubernetes.cri.sandbox-namespace":"prod","io.kubernetes.cri.image-name":"cart:2"},` +
			`"linux":{"cgroupsPath":"kubepods-burstable-pod1.slice:cri-containerd:x"}}`
	}
)

// states are files below a machine's root.
func states() map[string]string {
	const task = "run/containerd/io.containerd.runtime.v2.task/"
	return map[string]string{
		"var/lib/docker/containers/" + id("1b5c0a") + "/config.v2.json":                        dockerState,
		task + "moby/" + id("1b5c0a") + "/config.json":                                         `{"linux":{"cgroupsPath":"system.slice:docker:` + id("1b5c0a") + `"}}`,
		"var/lib/containers/storage/overlay-containers/containers.json":                        podmanState,
		"home/ann/.local/share/containers/storage/vfs-containers/containers.json":              strings.ReplaceAll(strings.ReplaceAll(podmanState, id("4e479d"), id("77")), "web", "annweb"),
		"var/lib/containers/storage/btrfs-containers/containers.json":                          crioState,
		task + "default/ctrweb/config.json":                                                    ctrState,
		task + "default/sd/config.json":                                                        `{"annotations":{"nerdctl/name":"nerd"},"linux":{"cgroupsPath":"system.slice:nerdctl:sd"}}`,
		task + "k8s.io/" + id("d0") + "/config.json":                                           criState("app", "container"),
		task + "k8s.io/" + id("d1") + "/config.json":                                           criState("", "sandbox"),
		task + "k8s.io/" + id("d2") + "/config.json":                                           criState("proxy", "container"),
		"run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/" + id("e0") + "/config.json": strings.ReplaceAll(criState("app", "container"), "cart", "till"),
		task + "k8s.io/broken/config.json":                                                     `{"annotations":`,
		"var/lib/docker/containers/" + id("99") + "/config.v2.json":                            "[]",
	}
}

// machine writes these files.
func machine(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range states() {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestList(t *testing.T) {
	list, hidden := List(machine(t))
	var got []string
	for i := range list {
		got = append(got, list[i].String())
	}
	want := []string{
		"annweb (podman, 777777777777)",
		"ctrweb (containerd)",
		"dweb (docker, tiny, 1b5c0a1b5c0a)",
		"nerd (containerd, sd)",
		"prod/cart-7d/app (containerd, cart:2, d0d0d0d0d0d0)",
		"prod/cart-7d/d1d1d1d1d1d1 (containerd, cart:2)",
		"prod/cart-7d/proxy (containerd, cart:2, d2d2d2d2d2d2)",
		"prod/shop/POD (CRI-O, c1c1c1c1c1c1)",
		"prod/shop/nginx (CRI-O, docker.io/library/nginx:1.27, c0c0c0c0c0c0)",
		"prod/till-7d/app (containerd, till:2, e0e0e0e0e0e0)",
		"web (podman, 4e479d4e479d)",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || len(hidden) > 0 {
		t.Errorf("%q\nwant\n%q; %q", got, want, hidden)
	}
}

// TestDockerElsewhere has docker's folder where its settings, or dockerd's arguments, name it.
func TestDockerElsewhere(t *testing.T) {
	const mine = "Name:\tdockerd\nUmask:\t0022\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n"
	const others = "Name:\tdockerd\nUmask:\t0022\nUid:\t1000\t1000\t1000\t1000\nGid:\t0\t0\t0\t0\n"
	for _, tt := range []struct {
		name, comm, status, args, within string // the arguments are separated by blanks
		config, text                     string
		want                             bool
	}{
		{name: "settings", config: "etc/docker/daemon.json", text: `{"data-root": "/srv/dk"}`, want: true},
		{name: "broken settings", config: "etc/docker/daemon.json", text: `{"data-root": "/srv/dk`},
		{name: "long", comm: "dockerd", status: mine, args: "/usr/bin/dockerd -H fd:// --data-root /srv/dk", want: true},
		{name: "equals", comm: "dockerd", status: mine, args: "dockerd --data-root=/srv/dk --debug", want: true},
		{name: "short", comm: "dockerd", status: mine, args: "dockerd -g /srv/dk", want: true},
		{name: "joined", comm: "dockerd", status: mine, args: "dockerd -g/srv/dk", want: true},
		{name: "after a switch", comm: "dockerd", status: mine, args: "dockerd -Dg /srv/dk", want: true},
		{name: "the last one", comm: "dockerd", status: mine, args: "dockerd -g /srv/else --data-root /srv/dk", want: true},
		{name: "not the last one", comm: "dockerd", status: mine, args: "dockerd --data-root /srv/dk -g /srv/else"},
		{name: "other settings", comm: "dockerd", status: mine, args: "dockerd --config-file /opt/d.json", config: "opt/d.json", text: `{"data-root":"/srv/dk"}`, want: true},
		{name: "a value", comm: "dockerd", status: mine, args: "dockerd -l -g /srv/dk"},
		{name: "cut", comm: "dockerd", status: mine, args: "dockerd -g"},
		{name: "relative", comm: "dockerd", status: mine, args: "dockerd -g srv/dk"},
		{name: "another's", comm: "dockerd", status: others, args: "dockerd -g /srv/dk"},
		{name: "another program", comm: "dockerd2", status: mine, args: "dockerd -g /srv/dk"},
		{name: "in a container", comm: "dockerd", status: mine, args: "dockerd -g /srv/dk", within: "srv"},
	} {
		root := t.TempDir()
		files := map[string]string{"srv/dk/containers/x/config.v2.json": dockerState}
		if tt.config != "" {
			files[tt.config] = tt.text
		}
		if tt.comm != "" {
			files["proc/77/comm"], files["proc/77/status"] = tt.comm+"\n", tt.status
			files["proc/77/cmdline"] = strings.ReplaceAll(tt.args, " ", "\x00") + "\x00"
		}
		for name, text := range files {
			file := filepath.Join(root, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if tt.comm != "" {
			if err := os.Symlink(filepath.Join(root, tt.within), filepath.Join(root, "proc/77/root")); err != nil {
				t.Fatal(err)
			}
		}
		if list, _ := List(root); len(list) == 1 != tt.want || tt.want && list[0].Names[0] != "dweb" {
			t.Errorf("%s: %v", tt.name, list)
		}
	}
}

func TestFind(t *testing.T) {
	list, _ := List(machine(t))
	for _, tt := range []struct {
		text, want string // the beginnings of the IDs
		ambiguous  bool
	}{
		{"dweb", "1b5c", false}, {"api", "1b5c", false}, {"web", "4e47", false}, {"4e47", "4e47", false}, {id("4e479d"), "4e47", false},
		{"annweb", "7777", false}, {"ctrweb", "ctrw", false}, {"nerd", "sd", false}, {"sd", "sd", false},
		{"nginx", "c0c0", false}, {"shop", "c1c1 c0c0", false}, {"prod/shop", "c1c1 c0c0", false}, {"shop/nginx", "c0c0", false}, {"prod/shop/nginx", "c0c0", false},
		{"k8s_nginx_shop_prod_1234-5_0", "c0c0", false},
		{"app", "d0d0 e0e0", true}, {"cart-7d/app", "d0d0", false}, {"cart-7d", "d0d0 d1d1 d2d2", false}, {"d", "d0d0 d1d1 d2d2", false}, {"c1c", "c1c1", false}, {"c", "ctrw c1c1 c0c0", true},
		{"od/shop", "", false}, {"POD", "", false}, {"", "", false}, {"we", "", false}, {"/", "", false}, {"ff", "", false},
	} {
		found := Find(list, tt.text)
		var ids []string
		for _, c := range found {
			ids = append(ids, c.ID[:min(4, len(c.ID))])
		}
		if got := strings.Join(ids, " "); got != tt.want || Ambiguous(found) != tt.ambiguous {
			t.Errorf("%q: %s, ambiguous: %v; want %s", tt.text, got, Ambiguous(found), tt.want)
		}
	}
}

// Has knows the groups that real containers had, and the forms of systemd's cgroup drivers.
func TestHas(t *testing.T) {
	list, _ := List(machine(t))
	for _, tt := range []struct{ group, want string }{
		{"/docker/" + id("1b5c0a"), "dweb"},
		{"/system.slice/docker-" + id("1b5c0a") + ".scope", "dweb"},
		{"/libpod_parent/libpod-" + id("4e479d"), "web"},
		{"/machine.slice/libpod-" + id("4e479d") + ".scope/container", "web"},
		{"/system.slice/web.service/libpod-payload-" + id("4e479d"), "web"},
		{"/machine.slice/libpod-conmon-" + id("4e479d") + ".scope", ""}, // podman's moveConmonToCgroupAndSignal
		{"/machine.slice/crio-conmon-" + id("c0") + ".scope", ""},       // CRI-O's createConmonUnitName
		{"/kubepods/burstable/pod1/crio-conmon-" + id("c0"), ""},
		{"/default/ctrweb", "ctrweb"},
		{"/system.slice/nerdctl-sd.scope", "nerd"},
		{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/cri-containerd-" + id("d2") + ".scope", "proxy"},
		{"/default/ctrweb2", ""}, {"/", ""}, {"", ""}, {"/default", ""}, {"/docker/" + id("aa"), ""},
	} {
		got := ""
		for i := range list {
			if list[i].Has([]string{"/user.slice", tt.group}) {
				got += append(list[i].Names, list[i].ID)[0]
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.group, got, tt.want)
		}
	}
}

// A state is a file of bytes from anybody.
func FuzzStates(f *testing.F) {
	for name, text := range states() {
		f.Add(name, []byte(text))
	}
	f.Add("", []byte("dockerd\x00-Dg\x00/srv\x00--data-root=/x\x00-g"))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		bounds.Hold(t, 64*(len(name)+len(text)), func() {
			dockerFlags(strings.Split(string(text), "\x00"))
			for _, s := range sources {
				for _, c := range s.parse(name, text) {
					if c.ID == "" {
						t.Errorf("no ID: %+v", c)
					}
					list := []Container{c, c}
					Find(sorted(list), name)
					c.Has([]string{name})
				}
			}
		})
	})
}
