package kept_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/commandtest/whole"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

func TestMain(m *testing.M) { whole.Main(m) }

// folders makes a home with files of the cache and of elfutils' one.
func folders(t *testing.T) (cache, shared string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("HOME", home)
	t.Setenv("DEBUGINFOD_CACHE_PATH", "")
	cache, shared = filepath.Join(home, "sfwalk"), filepath.Join(home, "debuginfod_client")
	for path, size := range map[string]int{filepath.Join(cache, "sections/a"): 1 << 20, filepath.Join(cache, "kernel/k"): 1 << 10, filepath.Join(shared, "1234/debuginfo"): 3 << 20} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, make([]byte, size), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return cache, shared
}

// TestCacheShown compares with du.
func TestCacheShown(t *testing.T) {
	cache, shared := folders(t)
	out, said, err := commandtest.Run("cache")
	for _, want := range []string{cache + ": 1 MiB, at most 8 GiB\n", "sections          1 MiB  1 file ", "kernel            1 KiB  1 file ", "symbols             0 B  0 files", shared + ": 3 MiB, 1 file: "} {
		if err != nil || said != "" || !strings.Contains(out, want) {
			t.Errorf("%v %s: want %q in\n%s", err, said, want, out)
		}
	}
	out, _, err = commandtest.Run("cache", "--json")
	var doc struct {
		Bytes      int64
		Debuginfod struct{ Bytes int64 }
	}
	if err := errors.Join(err, json.Unmarshal([]byte(out), &doc)); err != nil {
		t.Fatal(err)
	}
	commandtest.InPage(t, "sfwalk cache`", out)
	for dir, got := range map[string]int64{cache: doc.Bytes, shared: doc.Debuginfod.Bytes} {
		du, err := exec.Command(gdbtest.Tool(t, "sh"), "-c", `find "$0" -type f -printf '%s\n' | awk '{n += $1} END {print n}'`, dir).Output()
		if err != nil || strings.TrimSpace(string(du)) != strconv.FormatInt(got, 10) {
			t.Errorf("%s: %d bytes, find has %s, %v", dir, got, du, err)
		}
	}
	if out, _, err := commandtest.Run("cache", "clear"); err != nil || !strings.Contains(out, "2 files with 1 MiB removed") {
		t.Errorf("%v: %s", err, out)
	}
	if left, err := os.ReadDir(cache); err != nil || len(left) > 0 || len(gdbtest.Glob(t, shared+"/*/debuginfo")) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
	// A folder that others can write to is no cache.
	if err := os.Chmod(cache, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"cache"}, {"cache", "clear"}} {
		if out, _, err := commandtest.Run(args...); err == nil || !strings.Contains(err.Error(), cache) {
			t.Errorf("%q of a folder that others can write to: %v\n%s", args, err, out)
		}
	}
}

// TestClearStays has files that their user may not remove.
func TestClearStays(t *testing.T) {
	program := filepath.Join(commandtest.Install(t, "sfwalk"), "sfwalk")
	cache, _ := folders(t)
	home := filepath.Dir(cache)
	cmd := exec.Command(program, "cache", "clear")
	if os.Geteuid() == 0 { // who may remove anything
		const other = 65534
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: other, Gid: other}}
		err := filepath.WalkDir(home, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Chown(path, other, other))
		})
		if err != nil {
			gdbtest.Cannot(t, "root may not give files away here")
		}
		for _, path := range []string{filepath.Dir(home), filepath.Dir(program), filepath.Dir(filepath.Dir(program))} {
			if err := os.Chmod(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	sections := filepath.Join(cache, "sections")
	if err := os.Chmod(sections, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(sections, 0o755)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "1 file with 1 KiB removed") || !strings.Contains(string(out), "1 file could not be removed from "+cache) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestFirstWord: who makes the cache says where it is, once, and nobody exceeds the bound.
func TestFirstWord(t *testing.T) {
	gdbtest.File(t, "/usr/lib/debug/.build-id") // libc's sections are large, and compressed
	p := gdbtest.Start(t, gdbtest.Build(t, "threads.c", "-O2", "-g"))
	program := filepath.Join(commandtest.Install(t, "sfwalk"), "sfwalk")
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	attach := func() string {
		t.Helper()
		_, said, code := commandtest.RunInstalled(t, program, "attach", strconv.Itoa(p.PID))
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, said)
		}
		return said
	}
	t.Setenv("SFWALK_CACHE_SIZE", "0")
	said := attach()
	if made, err := os.ReadDir(home); err != nil || said != "" || len(made) > 0 {
		t.Errorf("with no room: %q, %v, %v", said, made, err)
	}
	t.Setenv("SFWALK_CACHE_SIZE", "1M")
	if said := attach(); strings.Count(said, "\n") != 1 || !strings.Contains(said, home+"/sfwalk, at most 1 MiB: 'sfwalk cache'") {
		t.Errorf("the first time: %q", said)
	}
	if said := attach(); said != "" {
		t.Errorf("the second time: %q", said)
	}
	size := func() (n int64) {
		for _, path := range gdbtest.Glob(t, home+"/sfwalk/sections/*") {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			n += info.Size()
		}
		return n
	}
	if n := size(); n > 1<<20 || n == 0 {
		t.Errorf("%d bytes are kept, of at most 1 MiB", n)
	}
	t.Setenv("SFWALK_CACHE_SIZE", "")
	attach()
	if n := size(); n <= 1<<20 {
		t.Errorf("%d bytes are kept without a bound of one's own", n)
	}
	t.Setenv("SFWALK_CACHE_SIZE", "much")
	if said := attach(); !strings.Contains(said, "SFWALK_CACHE_SIZE=much: want a number of bytes") {
		t.Errorf("a wrong bound: %q", said)
	}
}
