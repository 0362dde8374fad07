package commandtest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/sfwalk/sfwalk/internal/demo"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// StartDemo starts the bundled demo program.
func StartDemo(t *testing.T) *demo.Process {
	t.Helper()
	p, err := demo.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop() })
	return p
}

// GCore makes gdb write a core of a process, which then runs on.
func GCore(t *testing.T, pid int, path string) {
	t.Helper()
	out, err := exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-p", strconv.Itoa(pid), "-ex", "generate-core-file "+path).CombinedOutput()
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
}

// GDBServer attaches gdbserver to a process, which it stops, and returns its port. The server
// ends with the test, or when a client detaches from it.
func GDBServer(t *testing.T, pid int, settings ...string) (port string) {
	t.Helper()
	cmd := exec.Command(gdbtest.Tool(t, "gdbserver"), "--attach", "localhost:0", strconv.Itoa(pid))
	cmd.Env = append(os.Environ(), settings...)
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

// CopyFile copies a file with its mode.
func CopyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		if err = os.MkdirAll(filepath.Dir(to), 0o755); err == nil {
			err = os.WriteFile(to, text, 0o755)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// CanRecord leaves the test out on a machine that does not let processes be recorded.
func CanRecord(t *testing.T) {
	t.Helper()
	gdbtest.CanRecord(t)
}
