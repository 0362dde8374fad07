package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/mappedfile"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// A process may have thousands of files mapped: to open each takes no look at all of them. Of more
// than there may be, those are still known that are open.
func TestManyFiles(t *testing.T) {
	const n = 1500
	dir := t.TempDir()
	content, err := os.ReadFile(gdbtest.Testdata(t, "bin", "mix-v3"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		mapped, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ, unix.MAP_PRIVATE)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Munmap(mapped)
	}
	m := newMachine()
	defer m.close()
	maps, err := m.maps(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	var files []*procmaps.File
	for _, f := range procmaps.Files(maps) {
		if strings.HasPrefix(f.Path, dir) {
			files = append(files, f)
		}
	}
	if len(files) != n {
		t.Fatalf("%d files of %d", len(files), n)
	}
	bounds.Hold(t, 96<<20, func() {
		for _, f := range files {
			if _, err := m.open(os.Getpid(), f); err != nil {
				t.Fatal(err)
			}
		}
	})
	few := newMachine()
	defer few.close()
	few.images.Most = 10
	for i, f := range append(files[:20:20], files[:5]...) {
		if _, err := few.open(os.Getpid(), f); errors.Is(err, mappedfile.ErrMany) != (i >= 10 && i < 20) {
			t.Errorf("file %d: %v", i, err)
		}
	}
	if len(few.leftOut()) != 1 || few.leftOut() != nil || m.leftOut() != nil {
		t.Error("that files are left out is not said once")
	}
}
