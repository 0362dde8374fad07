package commandtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// apart is a process whose debug file is not beside its program.
type apart struct {
	Pid      string
	Program  string
	Debug    string // its debug file, in a folder of its own
	Id       string // build ID
	Want     string // what attach prints with the debug file, which lay beside the program then
	Snapshot string
	Of       *gdbtest.Process
}

func (a *apart) Run(t *testing.T, args ...string) string {
	t.Helper()
	out, warnings, err := Run(args...)
	if err != nil || WithoutHints(warnings) != "" {
		t.Fatalf("%q: %v %s", args, err, warnings)
	}
	return out
}

// StartApart starts a program whose debug file lies in another folder.
func StartApart(t *testing.T) *apart {
	t.Helper()
	a := &apart{Program: gdbtest.Separate(t, gdbtest.Build(t, "recurse.c", "-O1", "-g", "-Wl,--build-id=sha1"))}
	im, f, err := elf.OpenFile(a.Program)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	a.Id = im.BuildID
	a.Of = gdbtest.Start(t, a.Program, "5")
	a.Pid = fmt.Sprint(a.Of.PID)
	a.Snapshot = filepath.Join(t.TempDir(), "snapshot")
	t.Setenv("DEBUGINFOD_URLS", "")
	t.Setenv("DEBUGINFOD_CACHE_PATH", filepath.Join(t.TempDir(), "none"))
	a.Want = a.Run(t, "attach", a.Pid, "--save", a.Snapshot)
	if !strings.Contains(a.Want, "recurse.c:") {
		t.Fatalf("the debug file beside the program is not used:\n%s", a.Want)
	}
	a.Debug = filepath.Join(t.TempDir(), "files", "copy.debug")
	Move(t, filepath.Join(filepath.Dir(a.Program), "copy.debug"), a.Debug)
	if out := a.Run(t, "attach", a.Pid); strings.Contains(out, "recurse.c:") {
		t.Fatalf("the debug file has gone, and there are lines:\n%s", out)
	}
	return a
}

// Move renames a file, and makes the folder that it goes to.
func Move(t *testing.T, from, to string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Rename(from, to)); err != nil {
		t.Fatal(err)
	}
}

// StackIn returns what was printed from the innermost frame on.
func StackIn(out string) string {
	_, frames, _ := strings.Cut(out, "\n#0")
	return strings.TrimRight(frames, "\n")
}
