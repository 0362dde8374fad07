package systemtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A Processor is a processor whose kernel is booted.
type Processor struct {
	GOARCH string // Debian's name as well
	Triple string // of the cross tools

	suite    string // the release of Debian that kernel and packages are of
	kernel   string // a package, which leads to the newest of the suite
	packages []string
	qemu     []string
	tty      string // the kernel's name of the console
	options  string // of the kernel
	net      string // the network card
}

// debuggers are the packages of guests in which sfwalk's answers are compared with gdb's and
// perf's.
var debuggers = []string{"gdb", "gdbserver", "libc6-dbg", "busybox-static", "linux-perf"}

// The processors, beside amd64, that attach is built for.
var (
	ARM64 = &Processor{
		GOARCH: "arm64", Triple: "aarch64-linux-gnu",
		suite: "bookworm", kernel: "linux-image-cloud-arm64", packages: debuggers,
		// Return addresses are signed; by a cheaper algorithm than the processors' own.
		qemu: []string{"qemu-system-aarch64", "-M", "virt", "-cpu", "max,pauth-impdef=on"},
		tty:  "ttyAMA0", net: "virtio-net-pci",
	}
	S390X = &Processor{
		GOARCH: "s390x", Triple: "s390x-linux-gnu",
		suite: "bookworm", kernel: "linux-image-s390x", packages: debuggers,
		qemu: []string{"qemu-system-s390x", "-M", "s390-ccw-virtio", "-cpu", "max"},
		tty:  "ttysclp0", net: "virtio-net-ccw",
	}
)

// optionsAMD64 keep the kernel from counting the timer's interrupts while it boots, for it panics
// if this machine has too much else to do; and have it say so if it panics early all the same.
const optionsAMD64 = "no_timer_check earlyprintk=ttyS0"

// AMD64 returns a machine whose processor is one of qemu's models. Its emulation knows AVX2, and
// neither AVX-512 nor AMX.
func AMD64(model string) *Processor {
	return &Processor{
		GOARCH: "amd64", Triple: "x86_64-linux-gnu",
		suite: "bookworm", kernel: "linux-image-cloud-amd64", packages: debuggers,
		qemu: []string{"qemu-system-x86_64", "-M", "q35", "-cpu", model},
		tty:  "ttyS0", net: "virtio-net-pci", options: optionsAMD64,
	}
}

// Later is the machine of [AMD64] with a kernel of Debian's next release. Its base-files has the
// links by which /lib is /usr/lib.
var Later = &Processor{
	GOARCH: "amd64", Triple: "x86_64-linux-gnu", suite: "testing", kernel: "linux-image-cloud-amd64",
	packages: []string{"base-files", "busybox-static", "linux-perf"},
	qemu:     AMD64("max").qemu,
	tty:      "ttyS0", net: "virtio-net-pci", options: optionsAMD64,
}

// module returns the folder of this module's source.
func module() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod in the working folder or above it")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// unpack unpacks packages into a folder, with the packages that they depend on and whose names
// begin with dependencies.
func (p *Processor) unpack(source, dir, dependencies string, packages ...string) error {
	args := append([]string{filepath.Join(source, "internal", "bench", "debian.sh"), dir, p.suite + "/" + dependencies}, packages...)
	cmd := exec.Command("sh", args...)
	cmd.Env = append(os.Environ(), "DEBIAN_ARCH="+p.GOARCH)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("unpack %v of %s: %w\n%s", packages, p.GOARCH, err, out)
	}
	return nil
}

// files are the files on this machine that a guest is made of.
type files struct {
	kernel  string // the image that is booted
	modules string // the folder of its modules
	root    string // Debian's packages, unpacked
}

// fetch gets the packages, unless they are there.
func (p *Processor) fetch(t testing.TB) (f files) {
	t.Helper()
	source, err := module()
	if err != nil {
		t.Fatal(err)
	}
	gdbtest.Tool(t, p.qemu[0])
	cache := filepath.Join(source, ".cache", "system", p.suite, p.GOARCH)
	f.root = filepath.Join(cache, strings.Join(p.packages, "-")) // a folder of other packages has another name
	kernel := filepath.Join(cache, "kernel")
	if err := errors.Join(
		p.unpack(source, kernel, "linux-", p.kernel),
		p.unpack(source, f.root, "", p.packages...),
	); err != nil {
		t.Fatal(err)
	}
	if f.modules, err = one(filepath.Join(kernel, "lib", "modules", "*")); err == nil {
		f.kernel, err = one(filepath.Join(kernel, "boot", "vmlinuz-*"))
	} else if f.modules, err = one(filepath.Join(kernel, "usr", "lib", "modules", "*")); err == nil {
		f.kernel = filepath.Join(f.modules, "vmlinuz")
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func one(pattern string) (string, error) {
	list, err := filepath.Glob(pattern)
	if err == nil && len(list) != 1 {
		err = fmt.Errorf("%d files are there of %s, not one", len(list), pattern)
	}
	if err != nil {
		return "", err
	}
	return list[0], nil
}
