package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// copyOf copies a program to a folder.
func copyOf(t *testing.T, program, dir string) string {
	t.Helper()
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, filepath.Base(program))
	if err := os.WriteFile(to+".new", text, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(to+".new", to); err != nil {
		t.Fatal(err)
	}
	return to
}

// A Go program's build ID is in no segment of notes. Its file is recognised by the contents, and
// another build of the program is not taken for it.
func TestGoBuildID(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		dir := t.TempDir()
		first := gdbtest.Build(t, "gotarget")
		path := copyOf(t, first, dir)
		p := gdbtest.StartRunning(t, path)

		copyOf(t, first, dir) // the same bytes, another inode
		tg := attach(t, p.PID)
		_, im := moduleAt(t, tg, path)
		if _, ok := symbolNamed(im, "main.lockedInner"); !ok || im.BuildID != readelfBuildID(t, first) {
			t.Errorf("main.lockedInner: %v, build ID %s", ok, im.BuildID)
		}
		if w := tg.Warnings(); len(w) != 0 {
			t.Errorf("a copy: warnings %q", w)
		}

		other := gdbtest.Build(t, "gotarget", "-gcflags=-N -l")
		copyOf(t, other, dir)
		mapped, onDisk := readelfBuildID(t, first), readelfBuildID(t, other)
		tg = attach(t, p.PID)
		if _, im = moduleAt(t, tg, path); im.BuildID != mapped || mapped == onDisk {
			t.Errorf("build ID %s, mapped %s, on disk %s", im.BuildID, mapped, onDisk)
		}
		want := fmt.Sprintf("%s: the file on disk is not what is mapped (build ID %s, mapped %s): ", path, onDisk, mapped)
		if w := tg.Warnings(); len(w) != 1 || !strings.HasPrefix(w[0], want) {
			t.Errorf("another build: warnings %q, want %q", w, want)
		}
	})
}

// On an overlay file system, a mapping's device or inode may differ from stat(2)'s. The file is
// found all the same.
func TestOverlay(t *testing.T) {
	programs := []string{gdbtest.Build(t, "gotarget"), build(t, "idle.c")}
	merged := gdbtest.Overlay(t, programs...)
	everyWay(t, func(t *testing.T) {
		for i, symbol := range []string{"main.lockedInner", "sleeper"} {
			path := filepath.Join(merged, filepath.Base(programs[i]))
			tg := attach(t, gdbtest.StartRunning(t, path).PID)
			_, im := moduleAt(t, tg, path)
			if _, ok := symbolNamed(im, symbol); !ok || im.BuildID != readelfBuildID(t, programs[i]) {
				t.Errorf("%s: %s: %v, build ID %s", path, symbol, ok, im.BuildID)
			}
			if w := tg.Warnings(); len(w) != 0 {
				t.Errorf("%s: warnings %q", path, w)
			}
		}
	})
}
