package usercache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// cacheWith makes a cache of files: path below it, bytes, hours since the last use.
func cacheWith(t *testing.T, files ...string) (top string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	top = filepath.Join(home, "sfwalk")
	if err := os.Mkdir(top, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		var name string
		var size, hours int
		if _, err := fmt.Sscan(f, &name, &size, &hours); err != nil {
			t.Fatal(err)
		}
		path, used := filepath.Join(top, name), time.Now().Add(-time.Duration(hours)*time.Hour)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, make([]byte, size), 0o600), os.Chtimes(path, used, used)); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

// left lists the files of a cache.
func left(t *testing.T, top string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(top, path)
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// What was not used for longest goes first, whatever kind it is of; symbols go with all that is
// about them, but not if they were used just now.
func TestMakeRoom(t *testing.T) {
	defer SetRoom(UsualRoom)
	files := []string{"sections/a 100 9", "sections/b 100 2", "kernel/k 50 8", "symbol-index/i 200 7",
		"symbols/host/x.pdb/1/x.sym 300 6", "symbols/host/x.pdb/1/.used 0 3", "symbols/host/y.pdb/1/y.sym 300 0", "other 1000 99"}
	const all = "kernel/k other sections/a sections/b symbol-index/i symbols/host/x.pdb/1/.used symbols/host/x.pdb/1/x.sym symbols/host/y.pdb/1/y.sym"
	for _, tt := range []struct {
		room, size int64
		want       string
	}{
		{1050, 0, all},
		{1049, 0, strings.Replace(all, "sections/a ", "", 1)},
		{1050, 1, strings.Replace(all, "sections/a ", "", 1)},
		{960, 0, "other sections/b symbol-index/i symbols/host/x.pdb/1/.used symbols/host/x.pdb/1/x.sym symbols/host/y.pdb/1/y.sym"},
		{699, 0, "other sections/b symbols/host/y.pdb/1/y.sym"},
		{0, 0, "other symbols/host/y.pdb/1/y.sym"},
	} {
		top := cacheWith(t, files...)
		SetRoom(tt.room)
		removeOld(tt.size)
		if got := left(t, top); got != tt.want {
			t.Errorf("room of %d, %d more: %s\nwant %s", tt.room, tt.size, got, tt.want)
		}
	}
}

// List counts, Clear removes, and neither follows a link or touches what is not the cache's.
func TestClear(t *testing.T) {
	top := cacheWith(t, "sections/a 100 1", "symbols/host/x/1/x.sym 10 0", "symbols/host/x/1/.used 0 0", "other 7 1")
	away := filepath.Join(t.TempDir(), "away")
	if err := errors.Join(os.Mkdir(away, 0o700), os.WriteFile(filepath.Join(away, "precious"), make([]byte, 1000), 0o600),
		os.Symlink(away, filepath.Join(top, "kernel")), os.Symlink(filepath.Join(away, "precious"), filepath.Join(top, "sections", "link")),
		os.Symlink(away, filepath.Join(top, "symbols", "link"))); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range List() {
		got = append(got, fmt.Sprint(k.Name, " ", k.Files))
	}
	if want := "[sections 2 symbol-index 0 symbols 3 kernel 0]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if files, _, stay := Clear(); files != 5 || stay != 0 || left(t, top) != "other" || left(t, away) != "precious" {
		t.Errorf("%d files; left: %s; elsewhere: %s", files, left(t, top), left(t, away))
	}
	if files, size, _ := Clear(); files != 0 || size != 0 {
		t.Errorf("once more: %d files, %d bytes", files, size)
	}
	if _, err := os.Lstat(filepath.Join(top, "kernel")); err == nil {
		t.Error("the link in a kind's place is still there")
	}
	// Others can write to the folder: nothing there counts.
	top = cacheWith(t, "sections/a 100 1")
	if err := os.Chmod(top, 0o777); err != nil {
		t.Fatal(err)
	}
	if files, _, _ := Clear(); files != 0 || left(t, top) != "sections/a" || List()[0].Files != 0 {
		t.Errorf("%d files of a folder that others can write to; left: %s", files, left(t, top))
	}
}

// Several processes make room at once.
func TestMakeRoomTogether(t *testing.T) {
	defer SetRoom(UsualRoom)
	var files []string
	for i := range 200 {
		files = append(files, fmt.Sprintf("sections/%03d 10 %d", i, 1000-i))
	}
	top := cacheWith(t, files...)
	SetRoom(500)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { removeOld(0) })
	}
	all.Wait()
	if n := len(strings.Fields(left(t, top))); n > 50 || n < 25 {
		t.Errorf("%d files are left, of 50 for which there is room", n)
	}
}

// What this process adds counts without another walk, up to the bound.
func TestMakeRoomCounted(t *testing.T) {
	defer SetRoom(UsualRoom)
	top := cacheWith(t, "sections/a 100 9")
	SetRoom(1000)
	if !MakeRoom(400) {
		t.Error("no room for 400 bytes more")
	}
	for name, size := range map[string]int{"b": 400, "unseen": 5000} {
		if err := os.WriteFile(filepath.Join(top, "sections", name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !MakeRoom(500) || left(t, top) != "sections/a sections/b sections/unseen" {
		t.Errorf("there was a walk, or no room; left: %s", left(t, top))
	}
	if !MakeRoom(1) || left(t, top) == "sections/a sections/b sections/unseen" {
		t.Errorf("there was no walk, or no room; left: %s", left(t, top))
	}
	cacheWith(t, "symbols/host/x/1/x.sym 1000 0") // of another folder; used just now
	if MakeRoom(1) {
		t.Error("there is room where nothing may be removed")
	}
	if MakeRoom(1001) {
		t.Error("there is room for more than the bound")
	}
}

// The first process that keeps something makes the folder, and knows it; without room there is no
// folder.
func TestMade(t *testing.T) {
	defer SetRoom(UsualRoom)
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	made.Store(nil)
	SetRoom(0)
	if root := Folder("sections"); root != nil || left(t, home) != "" || Made() != "" {
		t.Errorf("without room: %v, made %q", root, Made())
	}
	SetRoom(1)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if root := Folder("sections"); root == nil {
				t.Error("no folder")
			} else {
				root.Close()
			}
		})
	}
	all.Wait()
	if Made() != filepath.Join(home, "sfwalk") {
		t.Errorf("made %q", Made())
	}
	made.Store(nil)
	if root := Folder("kernel"); root == nil || Made() != "" {
		t.Errorf("the second time: made %q", Made())
	} else {
		root.Close()
	}
}
