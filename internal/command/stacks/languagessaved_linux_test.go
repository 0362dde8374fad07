package stacks_test

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/pluginhost"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/show"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target/live"
)

// A snapshot has the frames of languages as they were: it is opened without the decorator that knew
// them, and without the heap. Their variables are in it, and shown where they are asked for.
func TestSavedLanguages(t *testing.T) {
	pid, threads := toyTarget(t)
	flags := report.Flags{Decorators: []language.Decorator{toy{}}, Kept: report.NewKeptLanguages()}
	file := filepath.Join(t.TempDir(), "snapshot")
	cmd := &cobra.Command{RunE: func(cmd *cobra.Command, _ []string) error {
		if err := flags.Begin(cmd); err != nil {
			return err
		}
		defer flags.End(cmd)
		s, err := targets.Process(cmd.Context(), pid, live.Options{Timeout: 10 * time.Second})
		if err != nil {
			return err
		}
		defer s.Close()
		if err := show.Target(cmd, s, &flags); err != nil {
			return err
		}
		made, err := s.Snapshot()
		if err != nil {
			return err
		}
		if left := flags.Kept.AddTo(made); left != 0 {
			t.Errorf("the frames of %d threads are too large", left)
		}
		dump, err := targets.Minidump(s.Target, made)
		if err != nil {
			return err
		}
		for path, content := range map[string]interface{ Write(io.Writer) error }{file: made, file + ".dmp": dump} {
			f, err := os.Create(path)
			if err != nil {
				return err
			}
			defer f.Close()
			if err := content.Write(f); err != nil {
				return err
			}
		}
		return nil
	}}
	flags.Add(cmd, pluginhost.Host{})
	flags.Sum.AddFormat(cmd)
	attached, warnings, err := commandtest.Execute(cmd)
	if err != nil {
		t.Fatalf("%v\n%s", err, warnings)
	}
	want := map[int][]string{}
	for _, th := range threads {
		want[th.tid] = th.shown
	}
	opened, warnings, err := commandtest.Run("minidump", file+".dmp")
	if got := shownFunctions(opened); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("minidump: %v: %v\nwant %v, as gdb and the source have it\n%s", err, got, want, warnings)
	}
	opened, warnings, err = commandtest.Run("open", file)
	if got := shownFunctions(opened); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: %v\nwant %v, as gdb and the source have it\n%s", err, got, want, warnings)
	}
	all, _, err := commandtest.Run("open", file, "--all-frames")
	if n := strings.Count(all, " in evaluate ") + strings.Count(all, " evaluate "); err != nil || n == 0 {
		t.Errorf("%v: --all-frames shows no interpreter's frame:\n%s", err, all)
	}
	const variable = "<Request 7>"
	if strings.Contains(attached, variable) || strings.Contains(opened, variable) {
		t.Errorf("variables are shown unasked:\n%s\n%s", attached, opened)
	}
	if locals, _, err := commandtest.Run("open", file, "--locals"); err != nil || !strings.Contains(locals, variable) {
		t.Errorf("%v: --locals does not show the languages' variables:\n%s", err, locals)
	}
}

// A snapshot that is saved beside a list of tasks has the threads' frames, too: Python's own here,
// without the process. So have minidumps that are made of a snapshot, or of a core file.
func TestSavedPython(t *testing.T) {
	source := filepath.Join(t.TempDir(), "waits.py")
	text := "import sys\ndef inner():\n  print('ready', flush=True)\n  sys.stdin.read()\ndef outer():\n  inner()\nouter()\n"
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	want := "inner at " + source + ":4\nouter at " + source + ":6\n<module> at " + source + ":7\n"
	for _, with := range []string{"--tasks", "--merge", "--locals", "--max-frames=1"} {
		p := gdbtest.StartRunning(t, gdbtest.Tool(t, "/usr/bin/python3"), source)
		file := filepath.Join(t.TempDir(), "snapshot")
		if _, warnings, err := commandtest.Run("attach", strconv.Itoa(p.PID), with, "--save", file); err != nil {
			t.Fatalf("%s: %v\n%s", with, err, warnings)
		}
		p.Exit(t)
		hasPython(t, want, "open", file)
		if with == "--locals" {
			savedAsMinidump(t, want, "open", file)
		}
	}
	// A core file has the heap; a minidump that is made of it has what was decoded.
	p := gdbtest.StartRunning(t, gdbtest.Tool(t, "/usr/bin/python3"), source)
	file := filepath.Join(t.TempDir(), "core")
	commandtest.GCore(t, p.PID, file)
	p.Exit(t)
	savedAsMinidump(t, want, "core", file)
}

// savedAsMinidump checks Python's frames in a minidump that is made of a file.
func savedAsMinidump(t *testing.T, want, verb, file string) {
	t.Helper()
	if _, warnings, err := commandtest.Run(verb, file, "--save", file+".dmp", "--format", "minidump"); err != nil {
		t.Fatalf("%s: %v\n%s", verb, err, warnings)
	}
	hasPython(t, want, "minidump", file+".dmp")
}

// hasPython checks Python's frames in what a command prints.
func hasPython(t *testing.T, want string, args ...string) {
	t.Helper()
	out, warnings, err := commandtest.Run(args...)
	got := ""
	for _, m := range regexp.MustCompile(`(?m)^#\d+ +(.*) \[python\]$`).FindAllStringSubmatch(out, -1) {
		got += m[1] + "\n"
	}
	if err != nil || got != want {
		t.Errorf("%q: %v: frames\n%swant\n%s%s", args, err, got, want, warnings)
	}
}
