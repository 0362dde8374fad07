package v8_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/v8"
	"github.com/sfwalk/sfwalk/target/core"
)

// TestCores holds the frames in core files, which have no page of a file that is not changed,
// against Error.stack as it was when the process died. The other file has no symbol table.
func TestCores(t *testing.T) {
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.ContainsAny(string(pattern), "|/") {
		gdbtest.Cannot(t, fmt.Sprintf("the kernel leaves no cores in the program's folder: core_pattern is %q", pattern))
	}
	script, err := filepath.Abs("testdata/dies.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes(t) {
		for _, strip := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stripped: %t", strings.TrimPrefix(node, "/"), strip), func(t *testing.T) {
				program := node
				if strip {
					program = stripped(t, node)
				}
				dir := t.TempDir()
				p := gdbtest.Start(t, "/bin/sh", "-c", `cd "$1"; shift; ulimit -c unlimited; echo 1 >/proc/$$/coredump_filter; exec "$@"`, "sh", dir, program, script)
				if _, err := p.Stdin.Write([]byte("\n")); err != nil {
					t.Fatal(err)
				}
				line, err := p.Stdout.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				var stack string
				if err := json.Unmarshal([]byte(line), &stack); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				if _, err := io.ReadAll(p.Stdout); err != nil { // it dies
					t.Fatal(err)
				}
				want := framesOf(t, stack)
				files := gdbtest.Glob(t, filepath.Join(dir, "core*"))
				if len(files) != 1 {
					t.Fatalf("core files: %q", files)
				}
				tg, err := core.Open(files[0], core.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer tg.Close()
				got, _ := shown(languagetest.All(t, tg, v8.Decorator{}, nil)[p.PID])
				if !same(got, want) {
					t.Errorf("got:\n%s\nwant:\n%s", lines(got), lines(want))
				}
			})
		}
	}
}

// stripped returns a copy of a program without symbols.
func stripped(t *testing.T, program string) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), filepath.Base(program))
	if out, err := exec.Command(gdbtest.Tool(t, "strip"), "-o", copied, program).CombinedOutput(); err != nil {
		t.Fatalf("strip: %v: %s", err, out)
	}
	return copied
}
