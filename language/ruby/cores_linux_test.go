package ruby_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/ruby"
	"github.com/sfwalk/sfwalk/target/core"
)

// TestCores has a process die where it has just announced its own trace, and reads that from its
// core file, which has no page of a file that is not changed.
func TestCores(t *testing.T) {
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.ContainsAny(string(pattern), "|/") {
		gdbtest.Cannot(t, fmt.Sprintf("the kernel leaves no cores in the program's folder: core_pattern is %q", pattern))
	}
	for _, interpreter := range rubies(t) {
		t.Run(filepath.Base(interpreter), func(t *testing.T) {
			extension := moment(t, interpreter)
			gdbtest.Await(t, "a process dies at an announced moment", func() bool { return diesAnnounced(t, extension, interpreter) })
		})
	}
}

// diesAnnounced holds the core file of a process against the trace that it has announced. It
// reports false if the process has run on before it died.
func diesAnnounced(t *testing.T, extension, interpreter string) bool {
	t.Helper()
	dir := t.TempDir()
	p, s := startBusy(t, extension, "/bin/sh", "-c", `cd "$0"; ulimit -c unlimited; echo 1 >/proc/$$/coredump_filter; exec "$@"`, dir, interpreter)
	number := stopAnnounced(t, p, s)
	p.Dies(t, syscall.SIGABRT)
	if s.get(atNumber) != number {
		return false
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 1 {
		gdbtest.Cannot(t, "the process has left no core file: is RLIMIT_CORE 0?")
	}
	tg, err := core.Open(files[0], core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	d := languagetest.All(t, tg, ruby.Decorator{}, nil)[s.get(atAnnouncer)]
	want := s.announced()
	if got := asRuby(d.Frames(), absolute(t, "busy.rb"), hasClasses(want)); !slices.Equal(got, want) || len(d.Warnings()) > 0 {
		t.Errorf("got:\n%s\nRuby says:\n%s\n%q", strings.Join(got, "\n"), strings.Join(want, "\n"), d.Warnings())
	}
	return true
}
