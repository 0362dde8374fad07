package symbolstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/format/breakpad"
)

// TestKept: the index of a large file is kept, is used as long as the content is the same, and is
// never believed otherwise.
func TestKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	name := filepath.Join(t.TempDir(), "a.sym")
	text := func(function string) string {
		return "MODULE Linux x86_64 1 a\n" + strings.Repeat("# padding of a hundred bytes "+strings.Repeat("x", 70)+"\n", minKept/100) + "FUNC 1000 10 0 " + function + "\n"
	}
	write := func(function string, age time.Duration) {
		t.Helper()
		then := time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(name, []byte(text(function)), 0o644), os.Chtimes(name, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	open := func(want string) *breakpad.File {
		t.Helper()
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		info, err := file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		f, err := openKept(name, file, info)
		if err != nil {
			t.Fatal(err)
		}
		if at, err := f.Locate(0x1001); err != nil || len(at) != 1 || at[0].Function != want {
			t.Errorf("%+v, %v, want %s", at, err, want)
		}
		return f
	}
	kept := func() []os.DirEntry {
		list, _ := os.ReadDir(indexes())
		return list
	}
	write("first_", time.Hour)
	if open("first_").Indexed() || len(kept()) != 1 {
		t.Errorf("the first time: %v", kept())
	}
	if !open("first_").Indexed() {
		t.Error("the second time it is not read by its index")
	}
	// The same size and time, another content.
	info, _ := os.Stat(name)
	write("second", 0)
	os.Chtimes(name, info.ModTime(), info.ModTime())
	if open("second").Indexed() || !open("second").Indexed() {
		t.Error("a changed file")
	}
	// The same content with another stamp: it is compared, and used.
	write("second", 0)
	if !open("second").Indexed() {
		t.Error("a touched file")
	}
	path := filepath.Join(indexes(), kept()[0].Name())
	for i, damage := range []func(b []byte) []byte{
		func(b []byte) []byte { return b[:len(b)/2] },
		func(b []byte) []byte { return nil },
		func(b []byte) []byte { b[0]++; return b },
		func(b []byte) []byte { b[200]++; return b },
	} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		os.WriteFile(path, damage(b), 0o600)
		open("second")
		if !open("second").Indexed() {
			t.Errorf("damage %d stays", i)
		}
	}
	// A folder that cannot be written costs only the index.
	blocked := filepath.Join(t.TempDir(), "file")
	os.WriteFile(blocked, nil, 0o600)
	t.Setenv("XDG_CACHE_HOME", blocked)
	open("second")
}

// TestSettled: a stamp of a file that was written just before proves nothing.
func TestSettled(t *testing.T) {
	now := time.Now()
	for age, want := range map[time.Duration]bool{0: false, time.Second: false, 3 * time.Second: true, -time.Hour: false} {
		s := keptStamp{stamp{change: now.Add(-age).UnixNano()}, now}
		if s.settled() != want {
			t.Errorf("%v: %v", age, s.settled())
		}
	}
}

// TestRoom: the oldest indexes make room.
func TestRoom(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 {
		name := filepath.Join(dir, fmt.Sprint(i))
		then := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, maxKept/3+1), os.Chtimes(name, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	makeRoom(dir)
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 2 || list[0].Name() != "2" {
		t.Errorf("%v, %v", list, err)
	}
}
