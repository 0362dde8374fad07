package stacks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/core"
)

// equalThreads compares the stacks of two documents of one process. Only the order of the threads
// may differ.
func equalThreads(t *testing.T, got, want *report.Document) {
	t.Helper()
	if len(got.Threads) != len(want.Threads) {
		t.Fatalf("%d threads, want %d", len(got.Threads), len(want.Threads))
	}
	byID := map[int]*report.Thread{}
	for i := range got.Threads {
		byID[got.Threads[i].TID] = &got.Threads[i]
	}
	frames := 0
	for _, w := range want.Threads {
		g := byID[w.TID]
		if g == nil {
			t.Errorf("thread %d is missing", w.TID)
			continue
		}
		if g.Stop != w.Stop || len(g.Frames) != len(w.Frames) {
			t.Errorf("thread %d: %d frames, stop %q (%s); want %d, %q", w.TID, len(g.Frames), g.Stop, g.Error, len(w.Frames), w.Stop)
			continue
		}
		for i, f := range w.Frames {
			if x := g.Frames[i]; x.PC != f.PC || x.CFA != f.CFA || x.Type != f.Type || x.Function != f.Function || x.File != f.File || x.Line != f.Line || x.BuildID != f.BuildID || x.Sniffer != f.Sniffer || (x.Signal == nil) != (f.Signal == nil) || x.Signal != nil && !x.Signal.Equal(f.Signal) || fmt.Sprint(x.Registers) != fmt.Sprint(f.Registers) {
				t.Errorf("thread %d frame %d:\n%+v\nwant\n%+v", w.TID, i, x, f)
			}
			frames++
		}
	}
	t.Logf("%d threads, %d frames", len(want.Threads), frames)
}

// A core that gdb has made of a process shows the same as the process.
func TestCoreIsLive(t *testing.T) {
	for _, tt := range [][]string{{"threads.c", "5"}, {"sighandler.c", "alt", "middle"}, {"recurse.c"}} {
		t.Run(tt[0], func(t *testing.T) {
			p := gdbtest.Start(t, gdbtest.Build(t, tt[0], gdbtest.Plain...), tt[1:]...)
			flags := &report.Flags{Registers: tt[0] != "recurse.c"} // recurse.c has 20,000 frames
			want := commandtest.Take(t, p.PID, flags)
			path := filepath.Join(t.TempDir(), "core")
			commandtest.GCore(t, p.PID, path)
			s, err := targets.Core(path, core.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			got, warnings, err := report.Collect(s, flags)
			if err != nil || len(warnings) > 0 {
				t.Fatalf("%v, warnings %q", err, warnings)
			}
			if got.PID != p.PID || got.Exe != want.Exe || got.Arch != "amd64" || got.Core != path {
				t.Errorf("core of %d, %s, %s", got.PID, got.Exe, got.Arch)
			}
			equalThreads(t, got, want)
		})
	}
}

// coreOfCrash runs a program in a folder of its own until it dies, and returns the core that the
// kernel leaves there.
func coreOfCrash(t *testing.T, program string, args ...string) string {
	t.Helper()
	core, _ := coreAndWords(t, program, args...)
	return core
}

// coreAndWords is coreOfCrash that also returns what the program has written to its standard error.
func coreAndWords(t *testing.T, program string, args ...string) (core, said string) {
	t.Helper()
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.ContainsAny(string(pattern), "|/") {
		gdbtest.Cannot(t, fmt.Sprintf("the kernel leaves no cores in the program's folder: core_pattern is %q", pattern))
	}
	dir := t.TempDir()
	cmd := exec.Command("sh", append([]string{"-c", `ulimit -c unlimited && exec "$0" "$@"`, program}, args...)...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	cmd.Run()
	files, _ := filepath.Glob(filepath.Join(dir, "*core*"))
	emulated := func(path string) bool { return strings.HasPrefix(filepath.Base(path), "qemu_") }
	if i := slices.IndexFunc(files, emulated); i >= 0 {
		return files[i], errs.String() // the other core is the emulator's own
	}
	if len(files) == 1 {
		return files[0], errs.String()
	}
	gdbtest.Cannot(t, fmt.Sprintf("%s has left no core in %s: is RLIMIT_CORE 0?", program, dir))
	return "", ""
}

// For the kernel's core, text and JSON say what the process died of, and where.
func TestCoreOfCrash(t *testing.T) {
	path := coreOfCrash(t, gdbtest.Build(t, "nullcall.c", gdbtest.Plain...), "crash")
	out, errOut, err := commandtest.Run("core", path)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, errOut)
	}
	first, rest, _ := strings.Cut(out, "\n")
	if !strings.HasPrefix(first, "Process ") || !strings.HasSuffix(first, " died of SIGSEGV (SEGV_MAPERR) at address 0x0") || !strings.Contains(rest, " died of SIGSEGV\n#0  0x0000000000000000 in ?? ()") {
		t.Errorf("%s", out)
	}
	out, _, err = commandtest.Run("core", path, "--json", "--registers", "--explain")
	if err != nil {
		t.Fatal(err)
	}
	commandtest.InPage(t, "sfwalk core", out)
	var doc struct {
		Core, Exe string
		Signal    struct {
			Number              int
			Name, Code, Address string
		}
		Threads []struct {
			Died   bool
			Frames []struct{ Function, Sniffer string }
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	if s := doc.Signal; s.Number != 11 || s.Name != "SIGSEGV" || s.Code != "SEGV_MAPERR" || s.Address != "0x0" || !doc.Threads[0].Died || doc.Core != path {
		t.Errorf("document %+v", doc)
	}
}
