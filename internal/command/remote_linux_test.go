package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/target/remote"
)

// gdbserver attaches a gdbserver to a process, which it stops, and returns its port. The gdbserver
// ends with the test, or when a client detaches from it.
func gdbserver(t *testing.T, pid int) (port string) {
	t.Helper()
	cmd := exec.Command(gdbtest.Tool(t, "gdbserver"), "--attach", "localhost:0", strconv.Itoa(pid))
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	said := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said += lines.Text() + "\n"
		if m := regexp.MustCompile(`Listening on port (\d+)`).FindStringSubmatch(lines.Text()); m != nil {
			go io.Copy(io.Discard, out)
			return m[1]
		}
	}
	t.Fatalf("gdbserver: %s", said)
	return ""
}

// A gdbserver shows the same of a threaded process as the process itself.
func TestRemoteIsLive(t *testing.T) {
	for _, tt := range [][]string{{"threads.c", "5"}, {"sighandler.c", "alt", "middle"}, {"recurse.c"}} {
		t.Run(tt[0], func(t *testing.T) {
			p := gdbtest.Start(t, gdbtest.Build(t, tt[0], gdbtest.Plain...), tt[1:]...)
			flags := &walkFlags{registers: tt[0] != "recurse.c"} // recurse.c has 20,000 frames
			want := take(t, p.PID, flags)
			port := gdbserver(t, p.PID)
			// The process was stopped, and stays so: a second look sees the same.
			for range 2 {
				s, err := stub(context.Background(), "localhost:"+port, remote.Options{})
				if err != nil {
					t.Fatal(err)
				}
				got, warnings, err := collect(s, flags)
				if err != nil || len(warnings) > 0 {
					t.Fatalf("%v, warnings %q", err, warnings)
				}
				if got.PID != p.PID || got.Exe != want.Exe || got.Arch != "amd64" {
					t.Errorf("process %d, %s, %s", got.PID, got.Exe, got.Arch)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				equalThreads(t, got, want)
			}
			out, errOut, err := command("remote", "localhost:"+port, "--resume", "--json", "--registers", "--explain", "--max-frames", "50")
			if err != nil {
				t.Fatalf("%v\n%s", err, errOut)
			}
			inPage(t, "sfwalk remote", out)
			equalThreads(t, take(t, p.PID, flags), want) // gdbserver has let the process go
		})
	}
}

// onSocket serves a stub's TCP port as a unix socket, as qemu -g PATH does.
func onSocket(t *testing.T, port string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		in, err := l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", "localhost:"+port)
		if err == nil {
			go io.Copy(in, out)
			io.Copy(out, in)
			out.Close()
		}
		in.Close()
	}()
	return path
}

// remoteExample turns a documented command into one for a stub that it starts.
func remoteExample(t *testing.T, line string, pid int) string {
	t.Helper()
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		t.Fatal(err)
	}
	port := gdbserver(t, pid)
	line = strings.NewReplacer("HOST:PORT", "localhost:"+port, "localhost:1234", "localhost:"+port, "localhost:3333", "localhost:"+port, "./firmware.elf", exe).Replace(line)
	if strings.Contains(line, "unix:/run/qemu.sock") {
		line = strings.ReplaceAll(line, "unix:/run/qemu.sock", "unix:"+onSocket(t, port))
	}
	return line + " --resume" // for the commands that follow
}
