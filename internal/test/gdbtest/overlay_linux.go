package gdbtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Overlay returns a folder of an overlay file system with copies of programs: there, the device or
// the inode of a mapping may differ from stat(2)'s.
func Overlay(t *testing.T, programs ...string) (dir string) {
	t.Helper()
	NeedRoot(t)
	top := t.TempDir()
	mount := func(source, to, kind, options string) {
		t.Helper()
		if err := os.MkdirAll(to, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount(source, to, kind, 0, options); errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENODEV) {
			Cannot(t, fmt.Sprintf("mount %s: %v", kind, err))
		} else if err != nil {
			t.Fatalf("mount %s: %v", kind, err)
		}
		t.Cleanup(func() { unix.Unmount(to, unix.MNT_DETACH) })
	}
	mount("tmpfs", top, "tmpfs", "")
	for _, name := range []string{"lower", "upper", "work"} {
		if err := os.Mkdir(filepath.Join(top, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range programs {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(top, "lower", filepath.Base(p)), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir = filepath.Join(top, "merged")
	mount("overlay", dir, "overlay", fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", top))
	return dir
}
