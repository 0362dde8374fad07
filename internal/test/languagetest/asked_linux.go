package languagetest

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Told is a process with a handler of SIGUSR2 that writes what the run time of its language says
// of the thread at once, wherever it is, and an empty line behind it.
type Told struct {
	*gdbtest.Process
	// Signal is another signal that the handler is of; 0 for SIGUSR2.
	Signal syscall.Signal

	out *os.File
	at  int64 // what is before it was read
}

// StartTold starts such a process, as [gdbtest.StartRunning] does. The environment's variable
// ORACLE has the path of the file to which the handler appends.
func StartTold(t testing.TB, path string, args ...string) *Told {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "told"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	t.(interface{ Setenv(key, value string) }).Setenv("ORACLE", out.Name())
	return &Told{Process: gdbtest.StartRunning(t, path, args...), out: out}
}

// AtRandom stops the process at a random moment, calls look, and returns what the run time says of
// the same moment: the handler is the first that runs when the process goes on. It returns "" if
// the process has died of that, for a run time may be just changing what the handler reads.
func (p *Told) AtRandom(t testing.TB, look func()) string {
	t.Helper()
	for range rand.N(100) {
		p.States(t) // it runs meanwhile
	}
	p.Stop(t)
	look()
	if err := unix.Tgkill(p.PID, p.PID, cmp.Or(p.Signal, syscall.SIGUSR2)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(p.PID, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	return p.Next(t)
}

// Next returns what the handler writes next, "" if the process ends before.
func (p *Told) Next(t testing.TB) string {
	t.Helper()
	var text []byte
	ended := false
	gdbtest.Await(t, "the process tells its stack", func() bool {
		info, err := p.out.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if len(text) < int(info.Size()-p.at) {
			text = make([]byte, info.Size()-p.at)
			if _, err := p.out.ReadAt(text, p.at); err != nil {
				t.Fatal(err)
			}
		}
		_, err = os.Stat(fmt.Sprintf("/proc/%d/stat", p.PID))
		ended = err != nil
		return ended || bytes.HasSuffix(text, []byte("\n\n"))
	})
	if ended {
		return ""
	}
	p.at += int64(len(text))
	return string(text)
}
