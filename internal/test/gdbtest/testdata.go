package gdbtest

import (
	"os"
	"path/filepath"
	"testing"
)

// Testdata returns the path of a file under the testdata folder of sfwalk's module, also for tests
// of modules inside.
func Testdata(t testing.TB, elem ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		_, noModule := os.Stat(filepath.Join(dir, "go.mod"))
		if _, err := os.Stat(filepath.Join(dir, "testdata")); noModule == nil && err == nil {
			return filepath.Join(append([]string{dir, "testdata"}, elem...)...)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod with a testdata folder beside it in the working directory or above it")
		}
		dir = parent
	}
}
