package stacks_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/remote"
)

// saved386 are processes of 32-bit x86 that are looked at by way of files and of gdbserver.
var saved386 = []struct {
	name  string
	src   string
	flags []string
	args  []string
}{
	{"threads", "threads.c", plain386, []string{"5"}},
	{"handler in a handler", "sighandler.c", plain386, []string{"alt", "nested", "siginfo"}},
	{"handler without restorer", "sighandler.c", plain386, []string{"alt", "middle", "vdso"}},
	{"static, stripped", "sighandler.c", []string{"-O2", "-static", "-s"}, []string{"normal", "raise"}},
}

// each386 starts each of these processes, and hands over what it shows itself.
func each386(t *testing.T, f func(t *testing.T, p *gdbtest.Process, flags *report.Flags, want *report.Document)) {
	for i, tt := range saved386 {
		t.Run(tt.name, func(t *testing.T) {
			gdbtest.Share(t, i+1)
			p := gdbtest.Start(t, gdbtest.Build386(t, tt.src, tt.flags...), tt.args...)
			flags := &report.Flags{Registers: true}
			want := commandtest.Take(t, p.PID, flags)
			if want.Arch != "386" {
				t.Fatalf("a process of %s", want.Arch)
			}
			f(t, p, flags, want)
		})
	}
}

// TestCoreIsLive386 is TestCoreIsLive for processes of 32-bit x86.
func TestCoreIsLive386(t *testing.T) {
	each386(t, func(t *testing.T, p *gdbtest.Process, flags *report.Flags, want *report.Document) {
		path := filepath.Join(t.TempDir(), "core")
		commandtest.GCore(t, p.PID, path)
		got := asCore(t, path, core.Options{}, flags)
		if got.PID != p.PID || got.Exe != want.Exe || got.Arch != want.Arch {
			t.Errorf("core of %d, %s, %s", got.PID, got.Exe, got.Arch)
		}
		equalThreads(t, got, want)
		commandtest.CompareAll(t, got, gdbtest.BacktraceCore(t, p.PID, want.Exe, path))
	})
}

// TestOpenIsAttach386 is TestOpenIsAttach for processes of 32-bit x86.
func TestOpenIsAttach386(t *testing.T) {
	each386(t, func(t *testing.T, p *gdbtest.Process, flags *report.Flags, _ *report.Document) {
		want, path := saved(t, p.PID, flags)
		end(t, p)
		got, warnings := reopened(t, path, core.Options{}, flags)
		equalAll(t, got, want)
		if got.PID != p.PID || got.Exe != want.Exe || got.Arch != want.Arch || len(warnings) > 0 {
			t.Errorf("snapshot of %d, %s, %s; warnings %q", got.PID, got.Exe, got.Arch, warnings)
		}
		equalThreads(t, asCore(t, path, core.Options{}, flags), want)
		commandtest.CompareAll(t, got, gdbtest.BacktraceCore(t, p.PID, want.Exe, path))
	})
}

// TestRemoteIsLive386 is TestRemoteIsLive for processes of 32-bit x86.
func TestRemoteIsLive386(t *testing.T) {
	each386(t, func(t *testing.T, p *gdbtest.Process, flags *report.Flags, want *report.Document) {
		commandtest.CompareAll(t, want, gdbtest.Backtrace(t, p.PID))
		s, err := targets.Stub(context.Background(), "localhost:"+commandtest.GDBServer(t, p.PID), remote.Options{Resume: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		got, warnings, err := report.Collect(s, flags)
		if err != nil || len(warnings) > 0 {
			t.Fatalf("%v, warnings %q", err, warnings)
		}
		if got.PID != p.PID || got.Exe != want.Exe || got.Arch != want.Arch {
			t.Errorf("process %d, %s, %s", got.PID, got.Exe, got.Arch)
		}
		equalThreads(t, got, want)
	})
}

// TestCoreOfCrash386 compares the kernel's core of a process of 32-bit x86 with gdb's view, and
// says what the process died of.
func TestCoreOfCrash386(t *testing.T) {
	path := coreOfCrash(t, gdbtest.Build386(t, "nullcall.c", plain386...), "crash")
	flags := &report.Flags{Registers: true}
	doc := asCore(t, path, core.Options{}, flags)
	if doc.Arch != "386" || doc.Signal == nil || doc.Signal.Name != "SIGSEGV" || !doc.Threads[0].Died {
		t.Errorf("%+v", doc)
	}
	commandtest.CompareAll(t, doc, gdbtest.BacktraceCore(t, doc.PID, doc.Exe, path))
	out, errOut, err := commandtest.Run("core", path)
	if first, _, _ := strings.Cut(out, "\n"); err != nil || !strings.HasSuffix(first, " died of SIGSEGV (SEGV_MAPERR) at address 0x0") {
		t.Errorf("%v\n%s%s", err, out, errOut)
	}
}
