package stacks_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Folders of debug files have them by build ID, by the program's path, or by their own names.
func TestDebugDir(t *testing.T) {
	a := commandtest.StartApart(t)
	at := a.Debug
	dir := t.TempDir()
	for _, name := range []string{
		filepath.Join(".build-id", a.Id[:2], a.Id[2:]+".debug"),
		filepath.Join(filepath.Dir(a.Program), "copy.debug"),
		"copy.debug",
	} {
		to := filepath.Join(dir, name)
		commandtest.Move(t, at, to)
		at = to
		for _, args := range [][]string{{"attach", a.Pid}, {"open", a.Snapshot}, {"core", a.Snapshot}} {
			got := a.Run(t, append(args, "--debug-dir", t.TempDir(), "--debug-dir", dir)...)
			if commandtest.StackIn(got) != commandtest.StackIn(a.Want) {
				t.Errorf("%s, %s:\n%s\nwant\n%s", args[0], name, got, a.Want)
			}
		}
	}
	if _, _, err := commandtest.Run("attach", a.Pid, "--debug-dir", at); !errors.As(err, new(exit.Usage)) {
		t.Errorf("--debug-dir FILE: %v", err)
	}
}

// The folders of debug files are below --sysroot, too.
func TestDebugFilesOfSysroot(t *testing.T) {
	a := commandtest.StartApart(t)
	root := t.TempDir()
	commandtest.Move(t, a.Debug, filepath.Join(root, "usr/lib/debug/.build-id", a.Id[:2], a.Id[2:]+".debug"))
	for _, m := range commandtest.Take(t, a.Of.PID, &report.Flags{}).Threads {
		for _, f := range m.Frames {
			to := filepath.Join(root, f.Module)
			if _, err := os.Stat(to); f.Module != "" && errors.Is(err, fs.ErrNotExist) {
				commandtest.CopyFile(t, f.Module, to)
			}
		}
	}
	for _, name := range []string{"open", "core"} {
		out, _, err := commandtest.Run(name, a.Snapshot, "--sysroot", root)
		if err != nil || commandtest.StackIn(out) != commandtest.StackIn(a.Want) {
			t.Errorf("%s --sysroot: %v\n%s", name, err, out)
		}
	}
}

// startDebuginfod starts Debian's own server for the files in a folder, and waits until it has a
// file.
func startDebuginfod(t *testing.T, dir, id string) (address string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	var log bytes.Buffer
	cmd := exec.Command(gdbtest.Tool(t, "debuginfod"), "-F", "-c1", "-p", fmt.Sprint(port), "-d", filepath.Join(t.TempDir(), "db"), dir)
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() { cmd.Process.Kill(); cmd.Wait() })
	t.Cleanup(stop)
	address = fmt.Sprintf("http://127.0.0.1:%d", port)
	gdbtest.Await(t, "debuginfod has the debug file", func() bool {
		r, err := http.Get(address + "/buildid/" + id + "/debuginfo")
		if err != nil {
			return false
		}
		r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
	return address, stop
}

// Debug files that the stacks need come from Debian's own debuginfod server into the cache that
// elfutils has, too.
func TestDebuginfod(t *testing.T) {
	a := commandtest.StartApart(t)
	server, stop := startDebuginfod(t, filepath.Dir(a.Debug), a.Id)
	plain, both := filepath.Join(commandtest.Install(t, "sfwalk"), "sfwalk"), commandtest.Install(t, "sfwalk", "sfwalk-full")
	t.Setenv("PATH", "/usr/bin:/bin")
	t.Setenv("DEBUGINFOD_URLS", server)
	fresh := func() (cache string) {
		cache = filepath.Join(t.TempDir(), "cache")
		t.Setenv("DEBUGINFOD_CACHE_PATH", cache)
		return cache
	}
	run := func(program string, args ...string) (out, errOut string) {
		t.Helper()
		out, errOut, code := commandtest.RunInstalled(t, program, args...)
		if code != 0 {
			t.Errorf("%s %q: exit code %d, %s", program, args, code, errOut)
		}
		return out, errOut
	}
	for _, name := range []string{"sfwalk", "sfwalk-full"} {
		program := filepath.Join(both, name)
		cache := fresh()
		if out, errOut := run(program, "attach", a.Pid, "--no-debuginfod"); strings.Contains(out, "recurse.c:") || commandtest.WithoutHints(errOut) != "" {
			t.Errorf("%s --no-debuginfod:\n%s\n%s", name, out, errOut)
		}
		if _, err := os.Stat(cache); err == nil {
			t.Errorf("%s --no-debuginfod has made %s", name, cache)
		}
		for _, args := range [][]string{{"attach", a.Pid}, {"attach", a.Pid}, {"open", a.Snapshot}, {"core", a.Snapshot}} {
			if args[0] != "attach" {
				fresh()
			}
			if out, errOut := run(program, args...); commandtest.StackIn(out) != commandtest.StackIn(a.Want) || errOut != "" {
				t.Errorf("%s %s:\n%s\n%s\nwant\n%s", name, args[0], out, errOut, a.Want)
			}
		}
		fresh()
		t.Setenv("DEBUGINFOD_PROGRESS", "1")
		if _, errOut := run(program, "attach", a.Pid); !strings.HasPrefix(errOut, "Downloading from "+server) {
			t.Errorf("%s: DEBUGINFOD_PROGRESS shows %q", name, errOut)
		}
		os.Unsetenv("DEBUGINFOD_PROGRESS")
	}

	// Without sfwalk-full, a warning says how to get the files.
	cache := fresh()
	if out, errOut := run(plain, "attach", a.Pid); strings.Contains(out, "recurse.c:") || !strings.Contains(errOut, "go install") || !strings.Contains(errOut, "--no-debuginfod") {
		t.Errorf("without sfwalk-full:\n%s\n%s", out, errOut)
	}
	// What elfutils has fetched is there without any server, and without sfwalk-full.
	path, err := exec.Command(gdbtest.Tool(t, "debuginfod-find"), "debuginfo", a.Id).Output()
	if err != nil || !strings.HasPrefix(string(path), cache) {
		t.Fatalf("debuginfod-find: %s, %v", path, err)
	}
	stop()
	for _, urls := range []string{server, ""} {
		t.Setenv("DEBUGINFOD_URLS", urls)
		if out, errOut := run(plain, "attach", a.Pid); commandtest.StackIn(out) != commandtest.StackIn(a.Want) || errOut != "" {
			t.Errorf("with what elfutils has fetched:\n%s\n%s", out, errOut)
		}
	}
	// A server that is not there costs a warning.
	fresh()
	t.Setenv("DEBUGINFOD_URLS", server)
	t.Setenv("DEBUGINFOD_RETRY_LIMIT", "0")
	if out, errOut := run(filepath.Join(both, "sfwalk"), "attach", a.Pid); !strings.Contains(out, "#0") || !strings.Contains(errOut, server) || !strings.Contains(errOut, a.Id) {
		t.Errorf("without a server:\n%s\n%s", out, errOut)
	}
}

// While a server lets sfwalk wait, no thread is held. Ctrl-C ends the wait, and nothing is left
// behind.
func TestDebuginfodWaits(t *testing.T) {
	a := commandtest.StartApart(t)
	asked := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- a.Of.States(t)
		<-r.Context().Done()
	}))
	defer server.Close()
	both := commandtest.Install(t, "sfwalk", "sfwalk-full")
	t.Setenv("DEBUGINFOD_URLS", server.URL)
	for _, name := range []string{"sfwalk", "sfwalk-full"} {
		cache := filepath.Join(t.TempDir(), "cache")
		t.Setenv("DEBUGINFOD_CACHE_PATH", cache)
		cmd := exec.Command(filepath.Join(both, name), "attach", a.Pid)
		var out, errOut bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errOut
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if states := <-asked; strings.ContainsAny(states, "tT") {
			t.Errorf("%s: while a server is asked, the threads are in states %s", name, states)
		}
		cmd.Process.Signal(os.Interrupt) // to sfwalk alone: the one that fetches must end, too
		err := cmd.Wait()
		if cmd.ProcessState.ExitCode() != exit.Error || !strings.Contains(errOut.String(), "interrupted") {
			t.Errorf("%s: %v, %s", name, err, &errOut)
		}
		filepath.WalkDir(cache, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.Contains(filepath.Base(path), "debuginfo") {
				t.Errorf("%s: left behind: %s", name, path)
			}
			return nil
		})
	}
}
