package elf

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// An image's file is another user's, or not.
func TestOthersFile(t *testing.T) {
	gdbtest.NeedRoot(t)
	data := (&elftest.File{}).Bytes()
	for uid, want := range map[int]int64{0: 0, 65534: 1} {
		path := filepath.Join(t.TempDir(), "file")
		if err := errors.Join(os.WriteFile(path, data, 0o644), os.Chown(path, uid, 0)); err != nil {
			t.Fatal(err)
		}
		im, f, err := OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b := Budget{Others: 1}
		if im.Join(&b); b.others != want {
			t.Errorf("%d bytes of a file of user %d count as another's, want %d", b.others, uid, want)
		}
	}
}
