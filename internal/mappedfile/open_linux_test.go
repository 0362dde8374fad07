package mappedfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Only regular files are opened, because opening others alone can do harm.
func TestOpenRegular(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/outside", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "outside"), []byte("inside"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if file, err := openBelow(root, "/fifo"); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("fifo: %v, %v", file, err)
	}
	// An absolute link is followed within the process's root.
	file, err := openBelow(root, "/link")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var b [6]byte
	if file.ReadAt(b[:], 0); string(b[:]) != "inside" {
		t.Errorf("the link leads to %q", b)
	}
}
