package beam_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
)

// TestCores has a process die within the stack that it has just told, and reads that from its core
// file.
func TestCores(t *testing.T) {
	needCores(t)
	dir := withNative(t)
	for _, m := range machines(t) {
		t.Run(m.name, func(t *testing.T) {
			for n := range 4 {
				gdbtest.Await(t, "a process dies within the stack that it has told", func() bool { return m.diesWithin(t, dir, kinds[n*5+1]) })
			}
		})
	}
}

func needCores(t *testing.T) {
	t.Helper()
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.ContainsAny(string(pattern), "|/") {
		gdbtest.Cannot(t, fmt.Sprintf("the kernel leaves no cores in the program's folder: core_pattern is %q", pattern))
	}
}

// diesWithin holds the core file of a process against the stack that it has told. It reports false
// if the process was elsewhere when it died.
func (m *machine) diesWithin(t *testing.T, dir, kind string) bool {
	t.Helper()
	cores, file := t.TempDir(), filepath.Join(t.TempDir(), "stack")
	p := m.startIn(t, cores, dir, "-run", "running", "start", file, kind)
	gdbtest.Await(t, "the process tells its stack", func() bool {
		b, err := os.ReadFile(file)
		return err == nil && len(b) > 0 && !strings.HasSuffix(strings.TrimRight(string(b), " "), "\t-")
	})
	before := readFile(t, file)
	tg := dead(t, p, cores)
	if before != readFile(t, file) || strings.HasSuffix(before, "\t-") {
		return false
	}
	d := runner(languagetest.All(t, tg, decorator, nil))
	if d == nil {
		return false
	}
	_, told, _ := strings.Cut(before, "\t")
	holdRunning(t, d, told)
	return true
}

// dead kills a process, and opens its core file.
func dead(t *testing.T, p *gdbtest.Process, cores string) target.Target {
	t.Helper()
	p.Dies(t, syscall.SIGABRT)
	files, err := os.ReadDir(cores)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 {
		gdbtest.Cannot(t, "the process has left no core file: is RLIMIT_CORE 0?")
	}
	tg, err := core.Open(filepath.Join(cores, files[0].Name()), core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

// TestTasksInCores holds the processes in a core file against what the run time system has told of
// them before.
func TestTasksInCores(t *testing.T) {
	needCores(t)
	dir := compiled(t)
	for _, m := range machines(t) {
		t.Run(m.name, func(t *testing.T) {
			cores := t.TempDir()
			p := m.startIn(t, cores, dir, "-s", "parked", "start")
			write(t, p.Stdin, "\n")
			want := lines(t, p.Stdout)
			tg := dead(t, p, cores)
			tasks, err := languagetest.Find(t, tg, decorator)[0].Runtime.(language.Tasker).Tasks(tg.Memory())
			if err != nil {
				t.Fatal(err)
			}
			holdAll(t, 0, want, tasks)
		})
	}
}
