package command

import (
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// No command waits for a pipe, or reads from anything but regular files.
func TestIrregularFiles(t *testing.T) {
	dir := t.TempDir()
	fifo, socket := filepath.Join(dir, "fifo"), filepath.Join(dir, "socket")
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	program := gdbtest.Build(t, "hostilenames.c", "-g")
	pid := strconv.Itoa(gdbtest.Start(t, program).PID)
	saved := filepath.Join(dir, "saved")
	if _, stderr, err := command("attach", pid, "--save", saved); err != nil {
		t.Fatal(err, stderr)
	}
	for path, kind := range map[string]string{fifo: "p", socket: "S", dir: "d", "/dev/zero": "Dc"} {
		want := "not a regular file (" + kind + "---------)"
		for _, args := range [][]string{
			{"sframe", "dump", path}, {"sframe", "verify", path}, {"sframe", "gen", path, "-o", filepath.Join(dir, "out")},
			{"core", path}, {"open", path}, {"core", saved, "--exe", path}, {"open", saved, "--exe", path},
			{"dlv", "exec", path}, {"dlv", "core", path, saved}, {"dlv", "core", program, path},
		} {
			if _, stderr, err := command(args...); err == nil && !strings.Contains(stderr, want) || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, %s", args, err, stderr)
			}
		}
	}
}
