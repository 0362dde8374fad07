package external_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/sniffer/external/plugintest"
)

// hostMain makes this program a host, if its name says so: it starts the plug-ins that its
// arguments name, says so, and does not end by itself.
func hostMain() {
	if filepath.Base(os.Args[0]) != "host" {
		return
	}
	for _, path := range os.Args[1:] {
		if _, err := external.Start(context.Background(), external.Options{Path: path}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	fmt.Println("ready")
	time.Sleep(time.Minute)
}

// TestHostKilled: no plug-in, however stubborn, outlives its host, however that ends; and
// the signal of Ctrl-C is for the host alone.
func TestHostKilled(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGSEGV} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			paths := []string{plugintest.Path(t, "declines"), plugintest.Path(t, "sigterm"), plugintest.Path(t, "fork")}
			cmd := exec.Command("/proc/self/exe", paths...)
			cmd.Args[0] = "host"
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
			cmd.Env = append(os.Environ(), "GOTRACEBACK=none", "TMPDIR="+t.TempDir()) // a host that is killed leaves its files
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			runtime.LockOSThread() // Pdeathsig is of the thread
			defer runtime.UnlockOSThread()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
				t.Fatalf("%q, %v", line, err)
			}
			for _, path := range paths {
				if len(processes(filepath.Dir(path))) == 0 {
					t.Fatalf("%s does not run", path)
				}
			}
			if err := syscall.Kill(-cmd.Process.Pid, sig); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			for _, path := range paths[:2] {
				noneLeft(t, path)
			}
			// What a plug-in has forked has no host, and this machine's kernel no way to say
			// that it has: it is ended with the plug-in where the host lives.
		})
	}
}

// TestStdin: a plug-in does not get what is typed.
func TestStdin(t *testing.T) {
	t.Parallel()
	p, err := start(t, "declines", external.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, process := range processes(filepath.Dir(p.Path)) {
		dir, _, _ := strings.Cut(process, " ")
		own, _ := os.Readlink("/proc/self/fd/0")
		if theirs, err := os.Readlink(dir + "/fd/0"); err != nil || theirs == own || !strings.HasPrefix(theirs, "pipe:") {
			t.Errorf("its standard input is %s, ours %s, %v", theirs, own, err)
		}
	}
}

// TestEnvironment: a plug-in gets little of the host's environment, and no files.
func TestEnvironment(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "a secret")
	t.Setenv("LD_PRELOAD", "")
	p, err := start(t, "declines", external.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list := processes(filepath.Dir(p.Path))
	if len(list) != 1 {
		t.Fatalf("%d processes", len(list))
	}
	dir, _, _ := strings.Cut(list[0], " ")
	raw, err := os.ReadFile(dir + "/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range strings.Split(strings.TrimRight(string(raw), "\x00"), "\x00") {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "SFWALK_PLUGIN",
			"PLUGIN_MIN_PORT", "PLUGIN_MAX_PORT", "PLUGIN_PROTOCOL_VERSIONS", "PLUGIN_CLIENT_CERT", "PLUGIN_UNIX_SOCKET_DIR":
		default:
			t.Errorf("it has %s", name)
		}
	}
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	fds, err := filepath.Glob(dir + "/fd/*")
	if err != nil || len(fds) == 0 {
		t.Fatalf("its files: %v, %v", fds, err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && (strings.HasPrefix(to, filepath.Dir(self)+"/") || strings.Contains(to, "recorded")) {
			t.Errorf("%s is %s", fd, to)
		}
	}
}

// TestLongTMPDIR: a folder for temporary files whose name is too long for a socket.
func TestLongTMPDIR(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	p, err := start(t, "declines", external.Options{})
	if err != nil {
		says(t, err, "TMPDIR")
		return
	}
	p.Close()
}

// TestNoTMPDIR: without a folder for temporary files the error says so.
func TestNoTMPDIR(t *testing.T) {
	t.Setenv("TMPDIR", "/no/such/folder")
	path := plugintestPath(t)
	p, err := external.Start(context.Background(), external.Options{Path: path})
	if err == nil {
		p.Close()
		t.Fatal("no error")
	}
	says(t, err, path, "/no/such/folder")
}

// plugintestPath is plugintest.Path where there is no folder for temporary files.
func plugintestPath(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "sfw-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, plugintest.Prefix+"declines")
	if err := plugintest.Copy(path); err != nil {
		t.Fatal(err)
	}
	return path
}
