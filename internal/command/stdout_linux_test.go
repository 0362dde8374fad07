package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestStandardOutput: "-o -" is standard output in all commands that write a file, and a file of
// another name has the same.
func TestStandardOutput(t *testing.T) {
	program := gdbtest.Build(t, "chain.c", append([]string{"-Wl,--build-id"}, gdbtest.Plain...)...)
	dump := commandtest.Unpack(t, filepath.Join("..", "..", "testdata", "breakpad", "linux_null_dereference.dmp.xz"), t.TempDir())
	core, err := filepath.Abs(filepath.Join("..", "..", "target", "core", "testdata", "amd64-gdb.core"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, args := range [][]string{
		{"minidump", dump}, {"minidump", dump, "--json"}, {"minidump", dump, "--merge"},
		{"minidump", dump, "--format", "pprof"}, {"minidump", dump, "--info"},
		{"minidump", dump, "--info", "--json"}, {"minidump", dump, "--format", "breakpad"}, {"core", core}, {"core", core, "--tree"},
		{"symbols", "dump", program}, {"sframe", "gen", program},
	} {
		out, _, err := command(append(args, "-o", "-")...)
		if err != nil && err != exit.ErrEarly || len(out) < 100 {
			t.Errorf("%v: %d bytes, %v", args, len(out), err)
		}
		if _, _, err := command(append(args, "-o", "file")...); err != nil && err != exit.ErrEarly {
			t.Errorf("%v: %v", args, err)
		}
		if file, err := os.ReadFile("file"); err != nil || !bytes.Equal(file, []byte(out)) && args[len(args)-1] != "pprof" { // it has the time
			t.Errorf("%v: the file has %d bytes, standard output %d: %v", args, len(file), len(out), err)
		}
		if list, err := os.ReadDir("."); err != nil || len(list) != 1 {
			t.Errorf("%v: %v, %v", args, list, err)
		}
	}
	args := []string{"core", core, "--format", "minidump", "--save", "-"}
	if out, _, err := command(args...); err != nil && err != exit.ErrEarly || !strings.HasPrefix(out, "MDMP") {
		t.Errorf("%v: %.20q, %v", args, out, err)
	}
}
