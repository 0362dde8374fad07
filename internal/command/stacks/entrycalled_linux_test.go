package stacks_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// An ordinary function at the entry point of its file has a caller. The programs know their calls.
func TestEntryCalled(t *testing.T) {
	const bare = "-fno-asynchronous-unwind-tables"
	library := gdbtest.Build(t, "entrycalled.c", "-O2", bare, "-fPIC", "-shared", "-nostdlib", "-DLIBRARY", "-Wl,-e,borrowed", "-Wl,-soname,libentry.so")
	stripped := filepath.Join(t.TempDir(), "libentry.so")
	if err := exec.Command(gdbtest.Tool(t, "strip"), "-o", stripped, library).Run(); err != nil {
		t.Fatal(err)
	}
	program := gdbtest.Build(t, "entrycalled.c", "-O2", "-DUSES_LIBRARY", "-Wl,--no-as-needed", library)
	for _, v := range []struct {
		name, program, library, want string
	}{
		{"library", program, library, "back borrowed back borrowed back borrowed outer main"},
		{"stripped library", program, stripped, "back borrowed back borrowed back borrowed outer main"},
		{"program", gdbtest.Build(t, "entrycalled.c", "-O2", bare, "-nostdlib", "-static", "-fno-pie", "-no-pie", "-fno-stack-protector", "-mno-sse", "-Wl,-e,begin"), "", "begin between begin between begin"},
	} {
		t.Run(v.name, func(t *testing.T) {
			if v.library != "" {
				dir := t.TempDir()
				if err := os.Symlink(v.library, filepath.Join(dir, "libentry.so")); err != nil {
					t.Fatal(err)
				}
				t.Setenv("LD_LIBRARY_PATH", dir)
			}
			p := gdbtest.Start(t, v.program)
			got := commandtest.Take(t, p.PID, &report.Flags{})
			var names []string
			for _, f := range got.Threads[0].Frames {
				name, _, _ := strings.Cut(f.Function, "+")
				names = append(names, name)
			}
			all := strings.Join(names, " ")
			if !strings.Contains(" "+all+" ", " "+v.want+" ") || got.Threads[0].Stop != "outermost" {
				t.Errorf("%s: %s, stop %s %s", v.name, all, got.Threads[0].Stop, got.Threads[0].Error)
			}
			if v.library == "" && !strings.HasSuffix(all, v.want) {
				t.Errorf("%s: goes on: %s", v.name, all)
			}
		})
	}
}
