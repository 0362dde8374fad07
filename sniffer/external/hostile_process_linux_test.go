package external_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/plugintest"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// hostMain makes this program a host, if its name says so. It starts the plug-ins that its
// arguments name, prints that it has, and does not end by itself.
func hostMain() {
	if filepath.Base(os.Args[0]) != "host" {
		return
	}
	for _, path := range os.Args[1:] {
		if _, err := external.Start(context.Background(), external.Options{Path: path, StartTimeout: patience}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	fmt.Println("ready")
	time.Sleep(10 * time.Minute)
}

// startHost starts this program as a host of plug-ins, in a process group of its own, with
// a folder for temporary files of its own.
func startHost(t *testing.T, paths ...string) (cmd *exec.Cmd, stdout io.Reader, tmp string) {
	t.Helper()
	tmp, err := os.MkdirTemp("", "") // its name is short: sockets are in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(tmp) })
	cmd = exec.Command("/proc/self/exe", paths...)
	cmd.Args[0] = "host"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Env = append(os.Environ(), "GOTRACEBACK=none", "TMPDIR="+tmp, "XDG_RUNTIME_DIR="+tmp)
	if stdout, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // Pdeathsig comes when this thread ends
	t.Cleanup(runtime.UnlockOSThread)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, stdout, tmp
}

// nothingLeft checks that a host has left nothing, however it has ended.
func nothingLeft(t *testing.T, tmp string, paths ...string) {
	t.Helper()
	for _, path := range paths {
		noneLeft(t, path)
	}
	gdbtest.Await(t, "nothing is in "+tmp+" any more", func() bool {
		left, err := os.ReadDir(tmp)
		if err != nil {
			t.Fatal(err)
		}
		return len(left) == 0
	})
}

// TestHostKilled: however a host ends, nothing survives it: no plug-in, however stubborn, no
// process that a plug-in has started, and no plug-in's folder. The signal of Ctrl-C comes to the
// host alone.
func TestHostKilled(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT, syscall.SIGSEGV} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			var paths []string
			for _, mode := range []string{"declines", "sigterm", "fork", "fork-away", "fork-twice"} {
				paths = append(paths, plugintest.Path(t, mode))
			}
			cmd, stdout, tmp := startHost(t, paths...)
			if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
				t.Fatalf("%q, %v", line, err)
			}
			for i, path := range paths {
				want := 1
				if i > 1 {
					want = 2 // with the process that it has started
				}
				if got := len(processes(filepath.Dir(path))); got < want {
					t.Fatalf("%s: %d processes, want %d", path, got, want)
				}
			}
			if err := syscall.Kill(-cmd.Process.Pid, sig); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			nothingLeft(t, tmp, paths...)
		})
	}
}

// TestHostKilledAnywhen: a host leaves nothing, whenever it is killed.
func TestHostKilledAnywhen(t *testing.T) {
	t.Parallel()
	times := 20
	if os.Getenv("SFWALK_SOAK") != "" {
		times = 500
	}
	paths := []string{plugintest.Path(t, "declines"), plugintest.Path(t, "fork-twice")}
	begin := time.Now()
	cmd, stdout, tmp := startHost(t, paths...)
	bufio.NewReader(stdout).ReadString('\n')
	ready := time.Since(begin)
	for range times {
		syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
		nothingLeft(t, tmp, paths...)
		if t.Failed() {
			return
		}
		cmd, _, tmp = startHost(t, paths...)
		time.Sleep(rand.N(ready + ready/4)) // the test is about the moment
	}
	syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)
	cmd.Wait()
	nothingLeft(t, tmp, paths...)
}

// TestStdin: a plug-in does not get typed text.
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
	secret := filepath.Join(t.TempDir(), "secret")
	inherited, err := syscall.Open(secret, syscall.O_CREAT|syscall.O_RDWR, 0o600) // without O_CLOEXEC, as from a shell
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
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
		if to, err := os.Readlink(fd); err == nil && (strings.HasPrefix(to, filepath.Dir(self)+"/") || strings.Contains(to, "recorded") || to == secret) {
			t.Errorf("%s is %s", fd, to)
		}
	}
}

// TestForkChain: processes that fork and exit too quickly to be killed by their PIDs are killed,
// too.
func TestForkChain(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "chain.c")
	err := os.WriteFile(source, []byte(`
#include <signal.h>
#include <unistd.h>
int main(void) {
	signal(SIGTERM, SIG_IGN);
	if (fork() == 0) {
		setsid();
		for (int i = 0; i < 100000; i++)
			if (fork() > 0)
				_exit(0);
		pause();
	}
	return 1;
}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	path := gdbtest.Compile(t, source, gdbtest.Tool(t, "cc"), "-O2")
	if p, err := external.Start(context.Background(), external.Options{Path: path, StartTimeout: patience}); err == nil {
		p.Close()
		t.Fatal("no error")
	}
	noneLeft(t, path)
}

// TestKeeperKilled: a plug-in has no terminal, and is not the host's child: its keeper becomes the
// parent of processes that it leaves behind. When the keeper is killed, the plug-in ends.
func TestKeeperKilled(t *testing.T) {
	p, err := start(t, "sigterm", external.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir, _, _ := strings.Cut(processes(filepath.Dir(p.Path))[0], " ")
	text, err := os.ReadFile(dir + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	var state string
	var parent, group, session, terminal int
	if _, err := fmt.Sscan(string(text[bytes.LastIndexByte(text, ')')+1:]), &state, &parent, &group, &session, &terminal); err != nil {
		t.Fatal(err)
	}
	if terminal != 0 || session != parent || parent == os.Getpid() {
		t.Errorf("its parent is %d, its session %d, its terminal %d", parent, session, terminal)
	}
	if err := syscall.Kill(parent, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	noneLeft(t, p.Path)
	p.Close()
}

// TestLongTMPDIR: the name of the folder for temporary files is too long for a socket's path.
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
	p, err := external.Start(context.Background(), external.Options{Path: path, StartTimeout: patience})
	if err == nil {
		p.Close()
		t.Fatal("no error")
	}
	says(t, err, path, "/no/such/folder")
}

// plugintestPath is plugintest.Path without a folder for temporary files.
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

// TestPinnedElsewhere: a pinned program in another user's folder runs from a copy that cannot be
// changed.
func TestPinnedElsewhere(t *testing.T) {
	path := plugintest.Path(t, "declines")
	dir := filepath.Dir(path)
	gdbtest.NeedRoot(t)
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := external.Start(context.Background(), external.Options{Path: path, SHA256: fmt.Sprintf("%x", sha256.Sum256(program))})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if list := processes(dir); len(list) > 0 {
		t.Errorf("the file in another's folder runs: %v", list)
	}
}
