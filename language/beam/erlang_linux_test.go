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
func compiled(t *testing.T) string {
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

// flavours are the ways in which the machine's Erlang can run: compiled code, and with frame
// pointers.
func flavours(t *testing.T) map[string][]string {
	t.Helper()
	list := map[string][]string{"jit": nil, "frame pointers": {"+JPperf", "map"}}
	if emulators, _ := filepath.Glob("/usr/lib/erlang/erts-*/bin/beam.emu.smp"); len(emulators) > 0 {
		list["interpreter"] = []string{"-emu_flavor", "emu"}
	}
	return list
}

// startErlang starts a program with few schedulers.
func startErlang(t *testing.T, dir string, flags []string, args ...string) *gdbtest.Process {
	t.Helper()
	all := []string{"-noshell", "+S", "2:2", "+SDcpu", "1:1", "+SDio", "1", "+A", "1", "-pa", dir}
	all = append(append(all, flags...), args...)
	return gdbtest.StartRunning(t, gdbtest.Tool(t, "erl"), all...)
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
