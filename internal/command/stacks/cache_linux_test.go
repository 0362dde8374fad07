package stacks_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// What is printed is the same without a cache, when the cache is filled, when it is used, and when
// it is damaged. Without --no-cache, a second command fills nothing.
func TestCache(t *testing.T) {
	gdbtest.File(t, "/usr/lib/debug/.build-id") // libc's sections are large, and compressed
	p := gdbtest.Start(t, gdbtest.Build(t, "threads.c", "-O2", "-g"))
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	snapshot := filepath.Join(t.TempDir(), "snapshot")
	run := func(args ...string) string {
		t.Helper()
		out, warnings, err := commandtest.Run(args...)
		if err != nil || warnings != "" {
			t.Fatalf("%q: %v %s", args, err, warnings)
		}
		return out
	}
	kept := func() (names []string) {
		t.Helper()
		list, err := os.ReadDir(filepath.Join(home, "sfwalk", "sections"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		for _, f := range list {
			info, err := f.Info()
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, fmt.Sprint(f.Name(), " ", info.ModTime()))
		}
		return names
	}
	attach := []string{"attach", fmt.Sprint(p.PID)}
	want := run(append(attach, "--no-cache", "--save", snapshot)...)
	if len(kept()) != 0 {
		t.Errorf("--no-cache keeps %q", kept())
	}
	for _, args := range [][]string{attach, {"open", snapshot}, {"core", snapshot}} {
		os.RemoveAll(filepath.Join(home, "sfwalk"))
		want := run(append(args, "--no-cache")...)
		if got := run(args...); got != want {
			t.Errorf("%s when the cache is filled:\n%s\nwant\n%s", args[0], got, want)
		}
		first := kept()
		if len(first) == 0 {
			t.Fatalf("%s: nothing was kept", args[0])
		}
		if got := run(args...); got != want {
			t.Errorf("%s with the cache:\n%s\nwant\n%s", args[0], got, want)
		}
		if again := kept(); fmt.Sprint(again) != fmt.Sprint(first) {
			t.Errorf("%s: the second command has changed the cache: %q, then %q", args[0], first, again)
		}
	}
	for _, path := range gdbtest.Glob(t, filepath.Join(home, "sfwalk", "sections", "*")) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := 4 << 10; at < len(data); at += 8 << 10 {
			data[at] ^= 0x55
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damaged := kept()
	if got := run(attach...); got != want {
		t.Errorf("attach with a damaged cache:\n%s\nwant\n%s", got, want)
	}
	if fmt.Sprint(kept()) == fmt.Sprint(damaged) {
		t.Error("the damaged files are still there")
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if got := run(attach...); got != want {
		t.Errorf("attach without a home:\n%s\nwant\n%s", got, want)
	}
}
