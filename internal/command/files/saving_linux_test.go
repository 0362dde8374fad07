package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/command/exit"
)

// text is a content.
type text string

func (s text) Write(w io.Writer) error {
	_, err := io.WriteString(w, string(s))
	return err
}

// umask sets the umask for a test.
func umask(t *testing.T, mask int) {
	before := unix.Umask(mask)
	t.Cleanup(func() { unix.Umask(before) })
}

// A new file of -o has the rights of a file that a shell makes. One that was there keeps its
// rights; a link stays one. A snapshot is its owner's alone.
func TestCreate(t *testing.T) {
	umask(t, 0o027)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, mode := range map[string]os.FileMode{"there": 0o604, "target": 0o600} {
		if err := os.WriteFile(path(name), []byte("something that is longer"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": "target", "dangling": "made"} {
		if err := os.Symlink(to, path(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, at string
		perm     os.FileMode
	}{{"new", "new", 0o640}, {"there", "there", 0o604}, {"link", "target", 0o600}, {"dangling", "made", 0o640}} {
		f, err := Create("--output", path(tt.name), 0o666)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Write(text("whole")); err != nil {
			t.Fatal(err)
		}
		f.Discard()
		info, err := os.Lstat(path(tt.at))
		if err != nil || info.Mode() != tt.perm {
			t.Errorf("%s: %v, %v, want %v", tt.name, info, err, tt.perm)
		}
		if b, err := os.ReadFile(path(tt.name)); string(b) != "whole" {
			t.Errorf("%s has %q, %v", tt.name, b, err)
		}
	}
	f, err := New("--save", path("there"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(text("secret")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path("there")); err != nil || info.Mode() != 0o600 {
		t.Errorf("a snapshot has the rights %v, %v", info.Mode(), err)
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 6 {
		t.Errorf("%v, %v", list, err)
	}
}

// What is not written whole leaves nothing, and what was there stays.
func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x", "y"} {
		f, err := Create("--output", filepath.Join(dir, name), 0o666)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f.Begin(), "half")
		if err := f.End(io.ErrShortWrite); err == nil || !strings.HasPrefix(err.Error(), "--output "+filepath.Join(dir, name)+": ") {
			t.Error(err)
		}
		f.Discard()
		f, err = Create("--output", filepath.Join(dir, name), 0o666)
		if err != nil {
			t.Fatal(err)
		}
		f.Discard()
	}
	if b, _ := os.ReadFile(path); string(b) != "before" {
		t.Errorf("the file has %q", b)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("%v is left", list)
	}
}

// What cannot be written to is said before anything is written. Devices and pipes are written as
// they are.
func TestCreateErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path  string
		usage bool
		want  string
	}{
		{dir, true, "it is a folder: name a file in it"},
		{dir + "/", true, "it is a folder: name a file in it"},
		{dir + "/none/", true, "it is a folder that is not there"},
		{dir + "/none/x", false, "there is no folder " + dir + "/none: make it first"},
		{file + "/x", false, "not a directory"},
		{"/proc/self/x", false, "the folder /proc/self cannot be written to"},
	} {
		for flag, create := range map[string]func() (*Saving, error){
			"--output": func() (*Saving, error) { return Create("--output", tt.path, 0o666) },
			"--save":   func() (*Saving, error) { return New("--save", tt.path, nil) },
		} {
			_, err := create()
			usage := exit.Usage{}
			if err == nil || !strings.HasPrefix(err.Error(), flag+" "+tt.path+": ") || !strings.Contains(err.Error(), tt.want) || errors.As(err, &usage) != tt.usage {
				t.Errorf("%s %s: %v, want %s", flag, tt.path, err, tt.want)
			}
		}
	}
	f, err := Create("--output", "/dev/full", 0o666)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(text("x")); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("/dev/full: %v", err)
	}
	f.Discard()
	if info, err := os.Stat("/dev/full"); err != nil || info.Mode().Type() != os.ModeDevice|os.ModeCharDevice {
		t.Errorf("/dev/full is %v, %v", info.Mode(), err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if f, err = Create("--output", "/proc/self/fd/"+strconv.Itoa(int(w.Fd())), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Write(text("through a pipe")), w.Close()); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); string(b) != "through a pipe" {
		t.Errorf("%q, %v", b, err)
	}
}
