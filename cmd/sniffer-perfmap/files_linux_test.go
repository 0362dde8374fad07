package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/perfmap"
	"github.com/sfwalk/sfwalk/plugin"
)

// The plug-in opens regular files only, which belong to the process's user or root and are below
// the process's root.
func TestOpenRefuses(t *testing.T) {
	folder := t.TempDir()
	put := func(name string, make func(path string) error) {
		t.Helper()
		if err := make(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	file := func(path string) error { return os.WriteFile(path, []byte("1000 10 f\n"), 0o644) }
	put("good", file)
	put("outside", func(path string) error { return os.Symlink("/etc/passwd", path) })
	put("inside", func(path string) error { return os.Symlink("good", path) })
	put("fifo", func(path string) error { return syscall.Mkfifo(path, 0o644) })
	put("folder", func(path string) error { return os.Mkdir(path, 0o755) })
	put("out", func(path string) error { return os.Symlink("..", path) })
	put("socket", func(path string) error {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		defer syscall.Close(fd)
		return syscall.Bind(fd, &syscall.SockaddrUnix{Name: path})
	})
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	p := process{root: folder, uid: os.Getuid()}
	for name, want := range map[string]error{
		"/good": nil, "/folder/../good": nil, "/fifo": errIrregular, "/folder": errIrregular, "/inside": errIrregular, "/outside": errIrregular,
		"/socket": errIrregular, "/none": fs.ErrNotExist, "/good/x": syscall.ENOTDIR,
	} {
		f, err := p.open(root, name)
		if !errors.Is(err, want) || (err == nil) != (f != nil) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if f != nil {
			f.Close()
		}
	}
	// Neither a name nor a link leads out of the root.
	for _, name := range []string{"/../" + filepath.Base(folder) + "/good", "/out/" + filepath.Base(folder) + "/good"} {
		if f, err := p.open(root, name); err == nil {
			f.Close()
			t.Errorf("%s is opened", name)
		}
	}
	if os.Getuid() != 0 {
		t.Log("NOT TESTED: files of other users, by a user that cannot make such")
		return
	}
	if err := os.Chown(filepath.Join(folder, "good"), 12345, -1); err != nil {
		t.Fatal(err)
	}
	for uid, want := range map[int]error{0: errOwner, 12345: nil, 777: errOwner, -1: nil} {
		f, err := (&process{uid: uid}).open(root, "/good")
		if !errors.Is(err, want) {
			t.Errorf("user %d: %v, want %v", uid, err, want)
		}
		if f != nil {
			f.Close()
		}
	}
}

// This is the status of a process in a container, as the kernel writes it.
func TestReadStatus(t *testing.T) {
	pid, uid := perfmap.Owner(strings.NewReader("Name:\tnode\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t4242\nNgid:\t0\nPid:\t4242\n" +
		"Uid:\t1000\t1001\t1002\t1003\nGid:\t100\t100\t100\t100\nNStgid:\t4242\t17\nNSpid:\t4242\t17\n"))
	if pid != 17 || uid != 1001 {
		t.Errorf("it is %d of user %d, want 17 of 1001", pid, uid)
	}
	own, err := processOf(&plugin.Target{PID: os.Getpid(), Live: true})
	if err != nil || own.pid != os.Getpid() || own.uid != os.Geteuid() || own.root != "/" {
		t.Errorf("this process is %+v, %v", own, err)
	}
}

func TestProcessOf(t *testing.T) {
	for _, tt := range []struct {
		target plugin.Target
		want   error
	}{
		{plugin.Target{}, errNoProcess},
		{plugin.Target{PID: -1, Live: true}, errNoProcess},
		{plugin.Target{PID: 1}, errDead},
		{plugin.Target{PID: 1, Root: "/srv/root"}, nil},
		{plugin.Target{PID: 1 << 30, Live: true}, fs.ErrNotExist},
	} {
		if _, err := processOf(&tt.target); !errors.Is(err, tt.want) {
			t.Errorf("%+v: %v, want %v", tt.target, err, tt.want)
		}
	}
}

// The plug-in finds a jitdump where it is mapped. It declines a process that has written nothing,
// or a file that cannot be trusted, and says why.
func TestListings(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(root+"/srv/work", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(root+"/tmp", 0o755); err != nil {
		t.Fatal(err)
	}
	s := &sniffer{}
	target := &plugin.Target{PID: 7, Root: root, Arch: "amd64"}
	if _, err := s.open(target, nil, amd64.Arch); !errors.Is(err, errNone) {
		t.Errorf("%v, want %v", err, errNone)
	}
	if err := os.Symlink("/etc/passwd", root+"/tmp/perf-7.map"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.open(target, nil, amd64.Arch); !errors.Is(err, errIrregular) {
		t.Errorf("%v, want %v", err, errIrregular)
	}
	if err := os.WriteFile(root+"/srv/work/jit-7.dump", testdata(t, "jit-node20.dump"), 0o644); err != nil {
		t.Fatal(err)
	}
	modules := []plugin.Module{{Path: "/srv/work/jit-8.dump"}, {Path: "/srv/work/jit-7.dump"}}
	list, err := s.open(target, modules, amd64.Arch)
	if err != nil || len(list) != 1 || list[0].path != "/srv/work/jit-7.dump" || len(list[0].index) != 7 {
		t.Fatalf("%+v, %v", list, err)
	}
	again, err := s.open(target, modules, amd64.Arch)
	if err != nil || len(again) != 1 || again[0] != list[0] {
		t.Errorf("the file is read anew: %v, %v", again, err)
	}
	// At most maxKept files stay open.
	for pid := range 3 * maxKept {
		name := fmt.Sprintf("%s/tmp/perf-%d.map", root, 100+pid)
		if err := os.WriteFile(name, []byte("1000 10 f\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := s.open(&plugin.Target{PID: 100 + pid, Root: root}, nil, amd64.Arch); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.kept) != maxKept {
		t.Errorf("%d files are open, want %d", len(s.kept), maxKept)
	}
}
