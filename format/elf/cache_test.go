package elf

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A file opened by two names has one image. Another file, or other bytes of the file, have another.
func TestCache(t *testing.T) {
	data, err := os.ReadFile("../../testdata/bin/mix-v3")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	for _, name := range []string{a, c} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(a, b); err != nil {
		gdbtest.Cannot(t, err.Error())
	}
	var s Cache
	open := func(name string) *Image {
		im, file, err := s.OpenFileIn("", name)
		if err != nil {
			t.Fatal(err)
		}
		if file != nil {
			t.Cleanup(func() { file.Close() })
		}
		return im
	}
	first := open(a)
	if open(b) != first || open(c) == first || open(a) != first {
		t.Error("files are taken for one another, or for several")
	}
	r := bytes.NewReader(data)
	x, again, err := s.Open(r, int64(len(data)))
	if y, twice, _ := s.Open(r, int64(len(data))); err != nil || again || !twice || x != y || x == first {
		t.Error("readers are taken for one another, or for several")
	}
}
