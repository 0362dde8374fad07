package beam_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/beam"
)

var decorator = beam.Decorator{}

// compiled returns a folder with the programs of testdata, compiled.
func compiled(t testing.TB) string {
	t.Helper()
	gdbtest.Later(t, "erl")
	dir := t.TempDir()
	files := gdbtest.Glob(t, "testdata/*.erl")
	c := exec.Command(gdbtest.Tool(t, "erlc"), append([]string{"-o", dir}, files...)...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("erlc: %v\n%s", err, out)
	}
	return dir
}

// machine is a run time system of Erlang, and how it is run.
type machine struct {
	name, erl string
	flags     []string
}

// machines returns the machine's Erlang, without and with frame pointers, and what is in
// .cache/erlang: 'make rest' puts OTP 28 there (testdata/fetch.sh), and testdata/interpreter.sh the
// interpreter.
func machines(t testing.TB) []machine {
	t.Helper()
	erl := gdbtest.Tool(t, "erl")
	list := []machine{{"compiled", erl, nil}, {"frame pointers", erl, []string{"+JPperf", "map"}}}
	cache := gdbtest.Testdata(t, "..", ".cache", "erlang")
	entries, _ := os.ReadDir(cache) // none if there is no such folder
	for _, e := range entries {
		list = append(list, machine{e.Name(), filepath.Join(cache, e.Name(), "bin", "erl"), nil})
	}
	return list
}

// start starts a program with few schedulers.
func (m *machine) start(t testing.TB, dir string, args ...string) *gdbtest.Process {
	t.Helper()
	return gdbtest.StartRunning(t, m.erl, m.arguments(dir, args)...)
}

// startIn does so in another folder, in which a core file is left when the program dies.
func (m *machine) startIn(t *testing.T, cores, dir string, args ...string) *gdbtest.Process {
	t.Helper()
	all := append([]string{"-c", `cd "$0"; ulimit -c unlimited; exec "$@"`, cores, m.erl}, m.arguments(dir, args)...)
	return gdbtest.StartRunning(t, "/bin/sh", all...)
}

func (m *machine) arguments(dir string, args []string) []string {
	all := []string{"-noshell", "+S", "2:2", "+SDcpu", "1:1", "+SDio", "1", "+A", "1", "-pa", dir}
	return append(append(all, m.flags...), args...)
}

// text writes frames as the programs write theirs. The run time system leaves out a frame whose
// return address is the one before it.
func text(frames []language.Frame) string {
	var list []string
	for i, f := range frames {
		if i == 0 || f.Place != frames[i-1].Place {
			list = append(list, fmt.Sprintf("%s@%s:%d", f.Function, f.File, f.Line))
		}
	}
	return strings.Join(list, ";")
}

// lines reads lines up to "end".
func lines(t *testing.T, r *bufio.Reader) (list []string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line = strings.TrimRight(line, "\n"); line == "end" {
			return list
		}
		list = append(list, line)
	}
}

func write(t *testing.T, w io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(string(b), " ")
}
