package gdbtest

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"
)

// Changed returns a copy of the ELF file at path with the bytes that change returns. change gets
// the file, and a copy of its bytes, which it may change.
func Changed(t testing.TB, path string, change func(f *elf.File, data []byte) []byte) (copied string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	copied = filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(copied, change(f, data), 0o755); err != nil {
		t.Fatal(err)
	}
	return copied
}
