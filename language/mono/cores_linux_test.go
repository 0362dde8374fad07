package mono_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/mono"
	"github.com/sfwalk/sfwalk/target/core"
)

// TestCore holds the frames in a core file that has the files that were mapped against what Mono
// says.
func TestCore(t *testing.T) {
	command := monoCommand(t)
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.ContainsAny(string(pattern), "|/") {
		gdbtest.Cannot(t, fmt.Sprintf("the kernel leaves no cores in the program's folder: core_pattern is %q", pattern))
	}
	program, err := filepath.Abs("testdata/stops.exe")
	if err != nil {
		t.Fatal(err)
	}
	dir, name := t.TempDir(), slotsFile(t)
	const script = `cd "$1"; echo 0x3f >/proc/self/coredump_filter; ulimit -c unlimited; shift; exec "$@"`
	p := gdbtest.StartRunning(t, "/bin/sh", "-c", script, "sh", dir, command, program, name, "3", "die")
	_ = p.Exit(t) // by SIGABRT
	tg, err := core.Open(gdbtest.Glob(t, filepath.Join(dir, "core*"))[0], core.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	if n, _ := compare(t, said(t, name), languagetest.All(t, tg, mono.Decorator{}, nil)); n == 0 {
		t.Error("no thread says what its frames are")
	}
}
