package python_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/python"
	"github.com/sfwalk/sfwalk/target/core"
)

// TestGuests holds the frames of Python on other processors, from core files that qemu writes,
// against what faulthandler says as the process dies.
func TestGuests(t *testing.T) {
	for _, g := range []struct{ arch, qemu, suite, interpreter string }{
		{"arm64", "qemu-aarch64", "bookworm", "python3.11"},
		{"s390x", "qemu-s390x", "bookworm", "python3.11"},
		{"arm64", "qemu-aarch64", "trixie", "python3.13"},
	} {
		t.Run(g.arch+"/"+g.interpreter, func(t *testing.T) {
			gdbtest.Later(t, g.qemu)
			qemu := gdbtest.Tool(t, g.qemu)
			root := unpacked(t, g.arch, g.suite)
			exe := filepath.Join(root, "usr", "bin", g.interpreter)
			dir := t.TempDir()
			// No core file of qemu itself. A guest's stack is as large as qemu's may be. The guest
			// finds what is below root as if it were below /.
			const run = `cd "$1"; shift; echo 0 >/proc/$$/coredump_filter; ulimit -c unlimited; ulimit -s 4096; PYTHONHOME=/usr exec "$@"`
			p := gdbtest.Start(t, "/bin/sh", "-c", run, "sh", dir, qemu, "-L", root, exe, absolute(t, "dies.py"), absolute(t, "frames.py"))
			p.Stdin.Close()
			text, err := io.ReadAll(p.Stdout)
			if err != nil {
				t.Fatal(err)
			}
			want, whole := parseFaulthandler(string(text))
			if len(want) != 6 || !whole {
				t.Fatalf("faulthandler: %s", text)
			}
			tg, err := core.Open(gdbtest.Glob(t, filepath.Join(dir, "qemu_*.core"))[0], core.Options{Exe: exe, Sysroot: root})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			threads, err := tg.Threads()
			if err != nil {
				t.Fatal(err)
			}
			runtimes, err := language.Find(&language.Process{Arch: tg.Arch(), Memory: tg.Memory(), Modules: tg.Modules()}, []language.Decorator{python.Decorator{}})
			if err != nil {
				t.Fatal(err)
			}
			for _, th := range threads {
				d := decorate(t, tg, th, runtimes, false)
				if d.said == nil {
					continue // qemu's own
				}
				if len(d.said.Warnings) > 0 {
					t.Errorf("thread %d: %v", th.ID(), d.said.Warnings)
				}
				have, found := d.frames(), false
				for id, w := range want { // what a processor calls a thread differs from what the C library does
					if found = w.equal(have); found {
						delete(want, id)
						break
					}
				}
				if !found {
					t.Errorf("thread %d:\n%s\nfaulthandler:\n%s", th.ID(), strings.Join(have, "\n"), text)
				}
			}
			if len(want) > 0 {
				t.Errorf("%d threads are missing", len(want))
			}
		})
	}
}

// unpacked returns the folder of a release of Debian for another processor, with Python in it.
func unpacked(t *testing.T, arch, suite string) string {
	t.Helper()
	dir := filepath.Join("..", "..", ".cache", "python", suite, arch)
	cmd := exec.Command("sh", filepath.Join("..", "..", "internal", "bench", "debian.sh"), dir, suite+"/", "base-files", "python3")
	cmd.Env = append(os.Environ(), "DEBIAN_ARCH="+arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		gdbtest.Missing(t, string(out))
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
