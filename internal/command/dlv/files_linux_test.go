//go:build amd64 || arm64

package dlv

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Clients of Delve get lines from the debug files that the other commands find: in folders, and on
// servers.
func TestDlvDebugFiles(t *testing.T) {
	a := commandtest.StartApart(t)
	look := func(args ...string) string {
		t.Helper()
		cmd, addr := startDlv(t, append([]string{"attach", a.Pid}, args...)...)
		out := dlvConnect(t, addr, "stack", "exit -d")
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		return out
	}
	if out := look(); strings.Contains(out, "recurse.c:") {
		t.Fatalf("without the debug file there are lines:\n%s", out)
	}
	dir := t.TempDir()
	at := filepath.Join(dir, ".build-id", a.Id[:2], a.Id[2:]+".debug")
	commandtest.Move(t, a.Debug, at)
	if out := look("--debug-dir", dir); !strings.Contains(out, "recurse.c:") {
		t.Errorf("--debug-dir:\n%s", out)
	}
	server := t.TempDir()
	commandtest.Move(t, at, filepath.Join(server, "buildid", a.Id, "debuginfo"))
	t.Setenv("DEBUGINFOD_URLS", "file://"+server)
	t.Setenv("DEBUGINFOD_CACHE_PATH", filepath.Join(t.TempDir(), "cache"))
	if out := look("--no-debuginfod"); strings.Contains(out, "recurse.c:") {
		t.Errorf("--no-debuginfod:\n%s", out)
	}
	if out := look(); !strings.Contains(out, "recurse.c:") {
		t.Errorf("by a server:\n%s", out)
	}
	// Of a program that is started, they are fetched when they are needed.
	t.Setenv("DEBUGINFOD_CACHE_PATH", filepath.Join(t.TempDir(), "other"))
	before := commandtest.Running(t, a.Program)
	input := filepath.Join(t.TempDir(), "input")
	if err := syscall.Mkfifo(input, 0o600); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(input, os.O_RDWR, 0) // the program waits for input
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	cmd, addr := startDlv(t, "--accept-multiclient", "exec", "--continue", "-r", input, a.Program, "--", "5")
	gdbtest.Await(t, "the program is in read(2)", func() bool {
		for _, pid := range commandtest.Running(t, a.Program) {
			call, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/syscall")
			if err == nil && !slices.Contains(before, pid) && strings.HasPrefix(string(call), strconv.Itoa(syscall.SYS_READ)+" ") {
				return true
			}
		}
		return false
	})
	if out := dlvConnect(t, addr, "stack", "quit -c"); !strings.Contains(out, "recurse.c:") {
		t.Errorf("by a server, of a program that is started:\n%s", out)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// What compressed debug information is inflated to for Delve's clients is kept, too.
func TestDlvCache(t *testing.T) {
	gdbtest.File(t, "/usr/lib/debug/.build-id") // libc's sections are large, and compressed
	p := gdbtest.Start(t, gdbtest.Build(t, "chain.c"))
	cache, err := exec.Command(gdbtest.Tool(t, "go"), "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache))) // or all is compiled anew
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	for _, no := range []bool{true, false} {
		args := []string{"attach", strconv.Itoa(p.PID)}
		if no {
			args = append(args, "--no-cache")
		}
		cmd, addr := startDlv(t, args...)
		out := dlvConnect(t, addr, "stack", "exit -d")
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		list, err := os.ReadDir(filepath.Join(home, "sfwalk", "sections"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if (len(list) == 0) != no {
			t.Errorf("with --no-cache %v, %d sections are kept after\n%s", no, len(list), out)
		}
	}
}
