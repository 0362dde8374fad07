package usercache

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestMake: a folder is the user's own, or it is not made; nothing is made in another user's
// folder, nor where a link of theirs leads.
func TestMake(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "mine", "sfwalk", "x")
	for range 2 {
		real, err := Make(mine)
		if info, failed := os.Stat(mine); err != nil || failed != nil || !info.IsDir() || info.Mode().Perm() != 0o700 || filepath.Base(real) != "x" {
			t.Errorf("%s, %v, %v", real, err, failed)
		}
	}
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	bad := []string{open, filepath.Join(open, "x", "y"), file, "relative"}
	if os.Geteuid() == 0 {
		theirs := filepath.Join(dir, "theirs")
		if err := os.Mkdir(theirs, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(dir, "mine"), filepath.Join(theirs, "link")); err != nil {
			t.Fatal(err)
		}
		if os.Chown(theirs, 65534, 65534) != nil || os.Lchown(filepath.Join(theirs, "link"), 65534, 65534) != nil {
			gdbtest.Cannot(t, "root may not give folders away here")
		}
		bad = append(bad, theirs, filepath.Join(theirs, "x"), filepath.Join(theirs, "link"), filepath.Join(theirs, "link", "new"))
	}
	for _, path := range bad {
		if real, err := Make(path); err == nil {
			t.Errorf("%s: %s", path, real)
		}
	}
	for _, made := range []string{filepath.Join(open, "x"), filepath.Join(dir, "theirs", "x"), filepath.Join(dir, "mine", "new"), "relative"} {
		if _, err := os.Stat(made); err == nil {
			t.Errorf("%s was made", made)
		}
	}
}
