package systemtest

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// modules are what the network and the tests need of the kernel's modules, in their order; what a
// kernel does not have as a module is built in.
var modules = []string{
	"virtio", "virtio_ring", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci", "failover", "net_failover", "virtio_net",
	"overlay", // for the tests of overlay file systems
}

// tools are the programs that run on this machine instead of in the guest.
var tools = []string{"cc", "gcc", "c++", "go", "readelf"}

const initScript = `#!/bin/sh
export PATH=/sbin:/usr/bin:/bin:/usr/sbin HOME=/root LC_ALL=C TERM=dumb
/bin/busybox mkdir -p /proc /sys /dev /tmp /root /var/tmp
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm; mount -t devpts devpts /dev/pts; mount -t tmpfs shm /dev/shm
mount -t tmpfs cgroups /sys/fs/cgroup; mkdir /sys/fs/cgroup/freezer /sys/fs/cgroup/unified
mount -t cgroup -o freezer freezer /sys/fs/cgroup/freezer; mount -t cgroup2 unified /sys/fs/cgroup/unified
for m in /modules/*; do [ ! -e $m ] || insmod $m; done
ip link set lo up; ip address add 10.0.2.15/24 dev eth0; ip link set eth0 up
cd /root; /sbin/agent
poweroff -f
`

// unneeded is left out of the guest's root.
var unneeded = regexp.MustCompile(`^(usr/share/(doc|man|locale|lintian|perl5|perl|icu|source-highlight|bug|zoneinfo)|var|packages|usr/bin/dpkg.*)$`)

// writeImage writes the initramfs: Debian's packages, the kernel's modules, and the agent.
func (g *Guest) writeImage(path, moduleFolder string) error {
	agent := filepath.Join(g.Temp, "agent")
	cmd := exec.Command("go", "build", "-o", agent, "./internal/test/systemtest/agent")
	cmd.Dir, cmd.Env = g.Source, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+g.GOARCH)
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.New(string(out))
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	a := newArchive(w)
	for _, dir := range []string{"bin", "sbin", "lib", "lib64"} {
		if to, err := os.Readlink(filepath.Join(g.Root, dir)); err == nil {
			a.moved(dir, to)
		}
	}
	a.add("init", typeFile|0o755, []byte(initScript))
	a.add("bin/sh", typeLink|0o777, []byte("busybox"))
	a.add("etc/passwd", typeFile|0o644, []byte("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"))
	a.add("etc/hosts", typeFile|0o644, []byte("127.0.0.1 localhost\n"))
	a.file("sbin/agent", agent)
	for _, name := range tools {
		a.add("sbin/"+name, typeLink|0o777, []byte("agent"))
	}
	for i, name := range modules {
		for _, ext := range []string{".ko", ".ko.xz"} {
			if found, _ := findFile(filepath.Join(moduleFolder, "kernel"), name+ext); found != "" {
				a.file("modules/"+string(rune('a'+i))+ext, found)
			}
		}
	}
	a.tree("", g.Root, func(name string) bool { return unneeded.MatchString(name) })
	return errors.Join(a.close(), w.Flush())
}

// findFile returns the first file of that name below a folder, "" if there is none.
func findFile(dir, name string) (found string, err error) {
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && filepath.Base(path) == name {
			found = path
			return filepath.SkipAll
		}
		return err
	})
	return found, err
}
