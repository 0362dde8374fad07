package command

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

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// apart is a process whose debug file is not beside its program.
type apart struct {
	pid      string
	program  string
	debug    string // its debug file, in a folder of its own
	id       string // build ID
	want     string // what attach prints with the debug file, which lay beside the program then
	snapshot string
	of       *gdbtest.Process
}

func startApart(t *testing.T) *apart {
	t.Helper()
	a := &apart{program: gdbtest.Separate(t, gdbtest.Build(t, "recurse.c", "-O1", "-g", "-Wl,--build-id=sha1"))}
	im, f, err := elf.OpenFile(a.program)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	a.id = im.BuildID
	a.of = gdbtest.Start(t, a.program, "5")
	a.pid = fmt.Sprint(a.of.PID)
	a.snapshot = filepath.Join(t.TempDir(), "snapshot")
	t.Setenv("DEBUGINFOD_URLS", "")
	t.Setenv("DEBUGINFOD_CACHE_PATH", filepath.Join(t.TempDir(), "none"))
	a.want = a.run(t, "attach", a.pid, "--save", a.snapshot)
	if !strings.Contains(a.want, "recurse.c:") {
		t.Fatalf("the debug file beside the program is not used:\n%s", a.want)
	}
	a.debug = filepath.Join(t.TempDir(), "files", "copy.debug")
	move(t, filepath.Join(filepath.Dir(a.program), "copy.debug"), a.debug)
	if out := a.run(t, "attach", a.pid); strings.Contains(out, "recurse.c:") {
		t.Fatalf("the debug file has gone, and there are lines:\n%s", out)
	}
	return a
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Rename(from, to)); err != nil {
		t.Fatal(err)
	}
}

// stack returns what was printed from the innermost frame on.
func stack(out string) string {
	_, frames, _ := strings.Cut(out, "\n#0")
	return strings.TrimRight(frames, "\n")
}

func (a *apart) run(t *testing.T, args ...string) string {
	t.Helper()
	out, warnings, err := command(args...)
	if err != nil || warnings != "" {
		t.Fatalf("%q: %v %s", args, err, warnings)
	}
	return out
}

// Folders of debug files have them by build ID, by the program's path, or by their own names.
func TestDebugDir(t *testing.T) {
	a := startApart(t)
	at := a.debug
	dir := t.TempDir()
	for _, name := range []string{
		filepath.Join(".build-id", a.id[:2], a.id[2:]+".debug"),
		filepath.Join(filepath.Dir(a.program), "copy.debug"),
		"copy.debug",
	} {
		to := filepath.Join(dir, name)
		move(t, at, to)
		at = to
		for _, args := range [][]string{{"attach", a.pid}, {"open", a.snapshot}, {"core", a.snapshot}} {
			got := a.run(t, append(args, "--debug-dir", t.TempDir(), "--debug-dir", dir)...)
			if stack(got) != stack(a.want) {
				t.Errorf("%s, %s:\n%s\nwant\n%s", args[0], name, got, a.want)
			}
		}
	}
	if _, _, err := command("attach", a.pid, "--debug-dir", at); !errors.As(err, new(exit.Usage)) {
		t.Errorf("--debug-dir FILE: %v", err)
	}
}

// The folders of debug files are below --sysroot, too.
func TestDebugFilesOfSysroot(t *testing.T) {
	a := startApart(t)
	root := t.TempDir()
	move(t, a.debug, filepath.Join(root, "usr/lib/debug/.build-id", a.id[:2], a.id[2:]+".debug"))
	for _, m := range take(t, a.of.PID, &report.Flags{}).Threads {
		for _, f := range m.Frames {
			to := filepath.Join(root, f.Module)
			if _, err := os.Stat(to); f.Module != "" && errors.Is(err, fs.ErrNotExist) {
				copyFile(t, f.Module, to)
			}
		}
	}
	for _, name := range []string{"open", "core"} {
		out, _, err := command(name, a.snapshot, "--sysroot", root)
		if err != nil || stack(out) != stack(a.want) {
			t.Errorf("%s --sysroot: %v\n%s", name, err, out)
		}
	}
}

// startDebuginfod starts Debian's own server for the files in a folder, and waits until it has a file.
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

// Debug files that the stacks need come from Debian's own debuginfod server into the cache that elfutils has, too.
func TestDebuginfod(t *testing.T) {
	a := startApart(t)
	server, stop := startDebuginfod(t, filepath.Dir(a.debug), a.id)
	plain, both := filepath.Join(install(t, "sfwalk"), "sfwalk"), install(t, "sfwalk", "sfwalk-full")
	t.Setenv("PATH", "/usr/bin:/bin")
	t.Setenv("DEBUGINFOD_URLS", server)
	fresh := func() (cache string) {
		cache = filepath.Join(t.TempDir(), "cache")
		t.Setenv("DEBUGINFOD_CACHE_PATH", cache)
		return cache
	}
	run := func(program string, args ...string) (out, errOut string) {
		t.Helper()
		out, errOut, code := sfwalk(t, program, args...)
		if code != 0 {
			t.Errorf("%s %q: exit code %d, %s", program, args, code, errOut)
		}
		return out, errOut
	}
	for _, name := range []string{"sfwalk", "sfwalk-full"} {
		program := filepath.Join(both, name)
		cache := fresh()
		if out, errOut := run(program, "attach", a.pid, "--no-debuginfod"); strings.Contains(out, "recurse.c:") || errOut != "" {
			t.Errorf("%s --no-debuginfod:\n%s\n%s", name, out, errOut)
		}
		if _, err := os.Stat(cache); err == nil {
			t.Errorf("%s --no-debuginfod has made %s", name, cache)
		}
		for _, args := range [][]string{{"attach", a.pid}, {"attach", a.pid}, {"open", a.snapshot}, {"core", a.snapshot}} {
			if args[0] != "attach" {
				fresh()
			}
			if out, errOut := run(program, args...); stack(out) != stack(a.want) || errOut != "" {
				t.Errorf("%s %s:\n%s\n%s\nwant\n%s", name, args[0], out, errOut, a.want)
			}
		}
		fresh()
		t.Setenv("DEBUGINFOD_PROGRESS", "1")
		if _, errOut := run(program, "attach", a.pid); !strings.HasPrefix(errOut, "Downloading from "+server) {
			t.Errorf("%s: DEBUGINFOD_PROGRESS shows %q", name, errOut)
		}
		os.Unsetenv("DEBUGINFOD_PROGRESS")
	}

	// Without sfwalk-full, a warning says how to get the files.
	cache := fresh()
	if out, errOut := run(plain, "attach", a.pid); strings.Contains(out, "recurse.c:") || !strings.Contains(errOut, "go install") || !strings.Contains(errOut, "--no-debuginfod") {
		t.Errorf("without sfwalk-full:\n%s\n%s", out, errOut)
	}
	// What elfutils has fetched is there without any server, and without sfwalk-full.
	path, err := exec.Command(gdbtest.Tool(t, "debuginfod-find"), "debuginfo", a.id).Output()
	if err != nil || !strings.HasPrefix(string(path), cache) {
		t.Fatalf("debuginfod-find: %s, %v", path, err)
	}
	stop()
	for _, urls := range []string{server, ""} {
		t.Setenv("DEBUGINFOD_URLS", urls)
		if out, errOut := run(plain, "attach", a.pid); stack(out) != stack(a.want) || errOut != "" {
			t.Errorf("with what elfutils has fetched:\n%s\n%s", out, errOut)
		}
	}
	// A server that is not there costs a warning.
	fresh()
	t.Setenv("DEBUGINFOD_URLS", server)
	t.Setenv("DEBUGINFOD_RETRY_LIMIT", "0")
	if out, errOut := run(filepath.Join(both, "sfwalk"), "attach", a.pid); !strings.Contains(out, "#0") || !strings.Contains(errOut, server) || !strings.Contains(errOut, a.id) {
		t.Errorf("without a server:\n%s\n%s", out, errOut)
	}
}

// While a server lets sfwalk wait, no thread is held. Ctrl-C ends the wait, and nothing is left behind.
func TestDebuginfodWaits(t *testing.T) {
	a := startApart(t)
	asked := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- a.of.States(t)
		<-r.Context().Done()
	}))
	defer server.Close()
	both := install(t, "sfwalk", "sfwalk-full")
	t.Setenv("DEBUGINFOD_URLS", server.URL)
	for _, name := range []string{"sfwalk", "sfwalk-full"} {
		cache := filepath.Join(t.TempDir(), "cache")
		t.Setenv("DEBUGINFOD_CACHE_PATH", cache)
		cmd := exec.Command(filepath.Join(both, name), "attach", a.pid)
		var out, errOut bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errOut
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if states := <-asked; strings.Trim(states, "S") != "" {
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
