package python_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/python"
	"github.com/sfwalk/sfwalk/target/core"
)

// TestCores holds the frames of each release in core files, which have no page of the program's
// file that is not changed, against what faulthandler says as the process dies.
func TestCores(t *testing.T) {
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.ContainsAny(string(pattern), "|/") {
		gdbtest.Cannot(t, fmt.Sprintf("the kernel leaves no cores in the program's folder: core_pattern is %q", pattern))
	}
	for _, interpreter := range pythons(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			dir := t.TempDir()
			text := die(t, dir, `echo 1 >/proc/$$/coredump_filter; exec "$@"`, interpreter)
			holdCore(t, coreIn(t, dir, ""), core.Options{}, text)
		})
	}
}

// TestGuests does so with Python on other processors, of which qemu writes the core files.
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
			text := die(t, dir, `echo 0 >/proc/$$/coredump_filter; ulimit -s 4096; PYTHONHOME=/usr exec "$@"`, qemu, "-L", root, exe)
			holdCore(t, coreIn(t, dir, "qemu_"), core.Options{Exe: exe, Sysroot: root}, text)
		})
	}
}

// die has an interpreter run testdata/frames.py in a folder, and die. It returns what faulthandler
// says. The shell runs script with the command of the interpreter.
func die(t *testing.T, dir, script string, interpreter ...string) string {
	t.Helper()
	args := append([]string{"-c", `cd "$1"; shift; ulimit -c unlimited; ` + script, "sh", dir}, interpreter...)
	p := gdbtest.Start(t, "/bin/sh", append(args, absolute(t, "dies.py"), absolute(t, "frames.py"))...)
	p.Stdin.Close()
	text, err := io.ReadAll(p.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// coreIn returns the core file in a folder whose name begins with prefix.
func coreIn(t *testing.T, dir, prefix string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), prefix) {
			return filepath.Join(dir, f.Name())
		}
	}
	gdbtest.Cannot(t, "the process has left no core file: is RLIMIT_CORE 0?")
	return ""
}

// holdCore holds the frames of all threads in a core file against what faulthandler says.
func holdCore(t *testing.T, path string, o core.Options, text string) {
	t.Helper()
	want, whole := parseFaulthandler(text)
	if len(want) != 6 || !whole {
		t.Fatalf("faulthandler: %s", text)
	}
	tg, err := core.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	runtimes := languagetest.Find(t, tg, python.Decorator{})
	for _, th := range threads {
		d := &decorated{languagetest.Decorate(t, tg, th, runtimes, nil)}
		if d.Said == nil {
			continue // qemu's own
		}
		if len(d.Said.Warnings) > 0 {
			t.Errorf("thread %d: %v", th.ID(), d.Said.Warnings)
		}
		have, found := d.frames(), false
		for id, w := range want { // the C library may call a thread otherwise than the processor does
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
