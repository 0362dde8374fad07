package stacks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A core that comes through standard input, or another pipe, has the stacks of the file, and
// nothing is left of the copy.
func TestCoreFromPipe(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "threads.c", gdbtest.Plain...), "3")
	file := filepath.Join(t.TempDir(), "snapshot")
	if _, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--save", file); err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	for _, name := range []string{"core", "open"} {
		want, _, err := commandtest.Run(name, file)
		if err != nil {
			t.Fatal(err)
		}
		root := commandtest.New([]string{name, "-"})
		var out bytes.Buffer
		in, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		root.SetIn(in)
		root.SetOut(&out)
		root.SetArgs([]string{name, "-"})
		if err := root.ExecuteContext(context.Background()); err != nil || out.String() != want {
			t.Errorf("%s -: %v\n%s\nwant\n%s", name, err, out.String(), want)
		}
		in.Close()
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			text, _ := os.ReadFile(file)
			write.Write(text)
			write.Close()
		}()
		if got, _, err := commandtest.Run(name, fmt.Sprintf("/dev/fd/%d", read.Fd())); err != nil || got != strings.ReplaceAll(want, file, fmt.Sprintf("/dev/fd/%d", read.Fd())) {
			t.Errorf("%s, through a pipe: %v\n%s", name, err, got)
		}
		read.Close()
	}
	if _, _, err := commandtest.Run("core", file+"x"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// A file that is no core, through a pipe, has the name that the user gave; /dev/null is no
// terminal.
func TestNoCoreFromPipe(t *testing.T) {
	empty, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	for name, in := range map[string]io.Reader{"nothing": empty, "text": strings.NewReader("hello, this is not a core\n")} {
		root := commandtest.New([]string{"core", "-"})
		root.SetIn(in)
		root.SetArgs([]string{"core", "-"})
		if err := root.ExecuteContext(context.Background()); err == nil || err.Error() != "core -: not an ELF file: not a core file" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The snapshot is written whole also when nobody reads the text to its end, or sfwalk is killed by
// SIGPIPE otherwise. Nothing is left beside it.
func TestSaveWithoutReader(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "threads.c", gdbtest.Plain...), "60")
	dir := t.TempDir()
	file := filepath.Join(dir, "snapshot")
	cmd := exec.Command("sh", "-c", `"$0" "$@" | head -n 1`, filepath.Join(commandtest.Install(t, "sfwalk"), "sfwalk"), "attach", strconv.Itoa(p.PID), "--save", file)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "Thread ") {
		t.Fatalf("%v: %s", err, out)
	}
	got, _, err := commandtest.Run("open", file)
	if err != nil || strings.Count(got, "Thread ") != 61 {
		t.Errorf("%v: %d threads, want 61", err, strings.Count(got, "Thread "))
	}
	if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
		t.Errorf("%v is left", left)
	}
}
