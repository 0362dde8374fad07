package stacks_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A deleted program of 256 MB, most of them a hole, is saved with the hole.
func TestSaveHoles(t *testing.T) {
	program, err := os.ReadFile(gdbtest.Build(t, "chain.c", gdbtest.Plain...))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path, file := filepath.Join(dir, "sparse"), filepath.Join(dir, "snapshot")
	const size = 256 << 20
	if err := os.WriteFile(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	p := gdbtest.Start(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	want, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--save", file)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if room := 512 * info.Sys().(*syscall.Stat_t).Blocks; info.Size() < size || room > 16<<20 {
		t.Errorf("a file of %d bytes takes up %d", info.Size(), room)
	}
	p.Exit(t)
	if got, _, err := commandtest.Run("open", file); err != nil || !strings.Contains(got, want) {
		t.Errorf("%v: %s\nwant %s", err, got, want)
	}
}

// If the stacks are larger than --max-saved, their inner parts are saved, and a warning says so.
// All frames are printed.
func TestSaveLargeStack(t *testing.T) {
	const depth, least, most = 150_000, 40_000, 60_000
	p := startDeep(t, depth, false)
	file := filepath.Join(t.TempDir(), "snapshot")
	out, errOut, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--max-saved", "4M", "--save", file)
	n := 0
	if callCounter(&n)([]byte(out)); err != nil || n != depth || strings.Contains(out, "moved on") {
		t.Errorf("%v: %d calls, want %d\n%s", err, n, depth, errOut)
	}
	if !strings.Contains(errOut, "more than 4 MiB of stacks") || !strings.Contains(errOut, "--max-saved") {
		t.Errorf("said: %s", errOut)
	}
	if info, err := os.Stat(file); err != nil || info.Size() > 6<<20 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	n = 0
	if out, errOut, err = commandtest.Run("open", file); err == nil || !strings.Contains(out, "stop: memory error") {
		t.Errorf("%v\n%s", err, errOut)
	}
	if callCounter(&n)([]byte(out)); n < least || n > most {
		t.Errorf("%d calls are saved, want some 50,000", n)
	}
	out, errOut, err = commandtest.Run("attach", strconv.Itoa(p.PID), "--max-frames", "1", "--save", file)
	if err != nil || strings.Contains(errOut, "--max-saved") {
		t.Errorf("%v: %s\n%s", err, out, errOut)
	}
}
