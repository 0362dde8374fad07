package commandtest

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// RemoteExample turns a documented command into one for a stub that it starts.
func RemoteExample(t *testing.T, line string, pid int) string {
	t.Helper()
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		t.Fatal(err)
	}
	port := GDBServer(t, pid)
	line = strings.NewReplacer("HOST:PORT", "localhost:"+port, "localhost:1234", "localhost:"+port, "localhost:3333", "localhost:"+port, "./firmware.elf", exe).Replace(line)
	if strings.Contains(line, "unix:/run/qemu.sock") {
		line = strings.ReplaceAll(line, "unix:/run/qemu.sock", "unix:"+onSocket(t, port))
	}
	return line + " --resume" // for the commands that follow
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
