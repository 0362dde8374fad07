package stacks_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/stacks"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
)

// warningsOf returns the warnings for a target, and the functions of its first thread.
func warningsOf(t *testing.T, s report.Source, err error) (warnings, functions []string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	doc, warnings, err := report.Collect(s, &report.Flags{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range doc.Threads[0].Frames {
		functions = append(functions, f.Function)
	}
	return warnings, functions
}

// Code in a file that is no ELF file has no symbols and no tables. That causes no warning: neither
// in the process, nor in its core, nor in a snapshot, whether the file still exists or not.
func TestNotELF(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program := gdbtest.Build(t, "mapfile.c", "-g", "-O2")
	for name, args := range map[string][]string{
		"kept":    {filepath.Join(t.TempDir(), "code")},
		"deleted": {filepath.Join(t.TempDir(), "code"), "-"},
		"memfd":   {"-"},
	} {
		t.Run(name, func(t *testing.T) {
			p := gdbtest.Start(t, program, args...)
			check := func(what string, s report.Source, err error) {
				t.Helper()
				warnings, functions := warningsOf(t, s, err)
				if len(warnings) > 0 {
					t.Errorf("%s: warnings %q", what, warnings)
				}
				if i := slices.Index(functions, "callback"); i < 0 || len(functions) < i+3 || functions[i+1] != "" || functions[i+2] != "main" {
					t.Errorf("%s: stack %q", what, functions)
				}
			}
			process, err := targets.Process(context.Background(), p.PID, live.Options{})
			check("live", process, err)

			saved := filepath.Join(t.TempDir(), "snapshot")
			if _, stderr, err := commandtest.Execute(stacks.NewAttach(nil), "--save", saved, strconv.Itoa(p.PID)); err != nil || stderr != "" {
				t.Fatal(err, stderr)
			}
			snapshot, err := targets.Snapshot(saved, core.Options{})
			check("snapshot", snapshot, err)

			dump := filepath.Join(t.TempDir(), "core")
			commandtest.GCore(t, p.PID, dump)
			dead, err := targets.Core(dump, core.Options{})
			check("core", dead, err)
		})
	}
}

// If a .gnu_debuglink names the module's own file name, as mono's does, it means a file of that
// name in another folder. The module itself is not that file.
func TestDebugLinkToItself(t *testing.T) {
	gdbtest.NeedAMD64(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	text, err := os.ReadFile(gdbtest.Build(t, "chain.c", "-g", "-O2"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "program")
	objcopy := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(gdbtest.Tool(t, "objcopy"), args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	objcopy("--only-keep-debug", program, other)
	objcopy("--strip-all", "--add-gnu-debuglink="+other, program)
	p := gdbtest.Start(t, program)
	s, err := targets.Process(context.Background(), p.PID, live.Options{})
	warnings, functions := warningsOf(t, s, err)
	if len(warnings) > 0 || len(functions) == 0 {
		t.Errorf("warnings %q, stack %q", warnings, functions)
	}

	// In the folder .debug it is found.
	if err := os.Mkdir(filepath.Join(dir, ".debug"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, filepath.Join(dir, ".debug", "program")); err != nil {
		t.Fatal(err)
	}
	s, err = targets.Process(context.Background(), p.PID, live.Options{})
	if warnings, functions = warningsOf(t, s, err); len(warnings) > 0 || !slices.Contains(functions, "main") {
		t.Errorf("warnings %q, stack %q", warnings, functions)
	}

	// A file of another build causes one warning, though it is found twice: through the process's
	// root and the host's.
	if err := os.WriteFile(filepath.Join(dir, ".debug", "program"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err = targets.Process(context.Background(), p.PID, live.Options{})
	if warnings, _ = warningsOf(t, s, err); len(warnings) != 1 || !strings.Contains(warnings[0], "install the debug file of this build") {
		t.Errorf("another build: warnings %q", warnings)
	}
}
