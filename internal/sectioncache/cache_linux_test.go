package sectioncache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/usercache"
	"github.com/sfwalk/sfwalk/symbol"
)

// cacheIn returns a cache in a folder, for which all files have been left alone for long.
func cacheIn(ctx context.Context, dir string) *Cache {
	c := in(ctx, func() *os.Root { return usercache.Open(dir) })
	c.now = func() time.Time { return time.Now().Add(time.Hour) }
	return c
}

// place returns a place for a cache: the folder is not there yet.
func place(t *testing.T) string { return filepath.Join(t.TempDir(), "sfwalk", "sections") }

// debugFile makes a file, and describes a section of it that would inflate to size bytes.
func debugFile(t *testing.T, size int) symbol.CompressedSection {
	t.Helper()
	path := filepath.Join(t.TempDir(), "debug")
	if err := os.WriteFile(path, []byte("packed"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return symbol.CompressedSection{File: f, Name: ".debug_info", Offset: 1, Packed: 5, Size: int64(size)}
}

func from(b []byte) func() (io.Reader, error) {
	return func() (io.Reader, error) { return bytes.NewReader(b), nil }
}

// has reports whether a cache has a section, and checks its bytes.
func has(t *testing.T, c *Cache, s symbol.CompressedSection, want []byte) bool {
	t.Helper()
	kept := c.Open(s)
	if kept == nil {
		return false
	}
	defer kept.Close()
	got := make([]byte, len(want))
	if _, err := kept.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the section is not as it was kept: %v", err)
	}
	return true
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A section is there for the next run. It belongs to one section of one state of one file.
func TestKeep(t *testing.T) {
	dir, want := place(t), bytesOf(100_000)
	s := debugFile(t, len(want))
	c := cacheIn(t.Context(), dir)
	if c.Open(s) != nil {
		t.Fatal("an empty cache has the section")
	}
	c.Keep(s, from(want))
	if !has(t, c, s, want) || !has(t, cacheIn(t.Context(), dir), s, want) {
		t.Error("the section was not kept")
	}
	for _, other := range []func(*symbol.CompressedSection){
		func(s *symbol.CompressedSection) { s.Name = ".debug_line" },
		func(s *symbol.CompressedSection) { s.Offset++ },
		func(s *symbol.CompressedSection) { s.Packed++ },
		func(s *symbol.CompressedSection) { s.Size++ },
		func(s *symbol.CompressedSection) { s.File = debugFile(t, 1).File }, // with the same bytes
	} {
		o := s
		if other(&o); c.Open(o) != nil {
			t.Errorf("%+v is taken for %+v", o, s)
		}
	}
	if n := len(files(t, dir)); n != 1 {
		t.Errorf("%d files", n)
	}
	// The bytes of the file change, and the time of the last write is set back.
	info, err := s.File.Stat()
	if err == nil {
		err = os.WriteFile(s.File.Name(), []byte("PACKED"), 0o644)
	}
	if err == nil {
		err = os.Chtimes(s.File.Name(), info.ModTime(), info.ModTime())
	}
	if again, _ := s.File.Stat(); err != nil || !again.ModTime().Equal(info.ModTime()) || again.Size() != info.Size() {
		t.Fatal(err, again)
	}
	if c.Open(s) != nil {
		t.Error("a file that has changed is taken for the one that was kept")
	}
}

// A file that may change again at the same time is not kept, nor one that changes while it is read.
func TestUnsettled(t *testing.T) {
	want := bytesOf(1000)
	s := debugFile(t, len(want))
	dir := place(t)
	c := in(t.Context(), func() *os.Root { return usercache.Open(dir) })
	c.Keep(s, from(want))
	if c.Open(s) != nil {
		t.Error("a file that was written just now is kept")
	}
	c = cacheIn(t.Context(), dir)
	c.Keep(s, func() (io.Reader, error) {
		return bytes.NewReader(want), os.Chmod(s.File.Name(), 0o600)
	})
	if c.Open(s) != nil || len(files(t, dir)) != 0 {
		t.Errorf("a file that changes meanwhile is kept: %v", files(t, dir))
	}
}

// A file of another user is not kept: that user can have it be anything.
func TestOtherUsersFile(t *testing.T) {
	gdbtest.NeedRoot(t)
	want := bytesOf(1000)
	s := debugFile(t, len(want))
	if err := os.Chown(s.File.Name(), 4711, 4711); err != nil {
		t.Fatal(err)
	}
	c := cacheIn(t.Context(), place(t))
	if c.Keep(s, from(want)); c.Open(s) != nil {
		t.Error("a section of another user's file is kept")
	}
}

// There is no cache in a folder that is not the user's alone, and nothing is made there.
func TestFolder(t *testing.T) {
	root := os.Geteuid() == 0
	want := bytesOf(1000)
	for name, make := range map[string]func(dir string) error{
		"others write": func(dir string) error { return errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o777)) },
		"others write above": func(dir string) error {
			return errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(filepath.Dir(dir), 0o777))
		},
		"others write where it would be made": func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Dir(dir), 0o700), os.Chmod(filepath.Dir(dir), 0o777))
		},
		"another user's": func(dir string) error {
			if !root {
				return errors.ErrUnsupported
			}
			return errors.Join(os.MkdirAll(dir, 0o755), os.Chown(dir, 4711, 4711))
		},
		"another user's home": func(dir string) error {
			if !root {
				return errors.ErrUnsupported
			}
			return errors.Join(os.MkdirAll(filepath.Dir(dir), 0o755), os.Chown(filepath.Dir(dir), 4711, 4711))
		},
		"a file": func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Dir(dir), 0o700), os.WriteFile(dir, nil, 0o600))
		},
		"no home":  func(dir string) error { return os.WriteFile(filepath.Dir(dir), nil, 0o600) },
		"relative": nil,
	} {
		t.Run(name, func(t *testing.T) {
			dir := place(t)
			if make == nil {
				dir = "sections"
			} else if err := make(dir); errors.Is(err, errors.ErrUnsupported) {
				gdbtest.Cannot(t, "only root can give a folder away")
			} else if err != nil {
				t.Fatal(err)
			}
			s := debugFile(t, len(want))
			c := cacheIn(t.Context(), dir)
			if c.Keep(s, from(want)); c.Open(s) != nil {
				t.Error("a section is kept there")
			}
			if info, err := os.Stat(dir); err == nil && info.IsDir() && len(files(t, dir)) != 0 {
				t.Errorf("there is %v", files(t, dir))
			}
		})
	}
}

// A file of the cache that is not the user's, that others can write to, or that is no file, does
// not count.
func TestFile(t *testing.T) {
	dir, want := place(t), bytesOf(1000)
	s := debugFile(t, len(want))
	for name, change := range map[string]func(path string) error{
		"others write": func(path string) error { return os.Chmod(path, 0o666) },
		"another user's": func(path string) error {
			if os.Geteuid() != 0 {
				return nil
			}
			return os.Chown(path, 4711, 4711)
		},
		"a folder": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"a pipe":   func(path string) error { return errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600)) },
		"a link out": func(path string) error {
			away := filepath.Join(filepath.Dir(filepath.Dir(path)), "away")
			return errors.Join(os.Rename(path, away), os.Symlink(away, path))
		},
		"shorter": func(path string) error { return os.Truncate(path, 3000) },
		"longer":  func(path string) error { return os.Truncate(path, 1<<20) },
		"empty":   func(path string) error { return os.Truncate(path, 0) },
	} {
		c := cacheIn(t.Context(), dir)
		c.Keep(s, from(want))
		list := files(t, dir)
		if len(list) != 1 || !has(t, c, s, want) {
			t.Fatalf("%s: before: %v", name, list)
		}
		path := filepath.Join(dir, list[0])
		if err := change(path); err != nil {
			t.Fatal(err)
		}
		if name == "another user's" && os.Geteuid() != 0 {
			continue
		}
		if c.Open(s) != nil {
			t.Errorf("%s: the file counts", name)
		}
		os.Remove(path)
	}
}

// A damaged file is removed when the damage is found, and the section can be kept again.
func TestDamagedFile(t *testing.T) {
	dir, want := place(t), bytesOf(3*blockSize)
	s := debugFile(t, len(want))
	c := cacheIn(t.Context(), dir)
	c.Keep(s, from(want))
	path := filepath.Join(dir, files(t, dir)[0])
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-5] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	kept := c.Open(s)
	if kept == nil {
		t.Fatal("the head is sound, and the file does not count")
	}
	p := make([]byte, 10)
	if _, err := kept.ReadAt(p, 5); err != nil || !bytes.Equal(p, want[5:15]) {
		t.Errorf("a sound block: %v", err)
	}
	if _, err := kept.ReadAt(p, 2*blockSize); !errors.Is(err, errDamaged) {
		t.Errorf("the damaged block: %v", err)
	}
	kept.Close()
	if list := files(t, dir); len(list) != 0 {
		t.Errorf("left behind: %v", list)
	}
	if c.Keep(s, from(want)); !has(t, c, s, want) {
		t.Error("the section is not kept again")
	}
}

// When there is too much, the files go that were not used for longest.
func TestRoom(t *testing.T) {
	dir := place(t)
	c := cacheIn(t.Context(), dir)
	const size = 100_000
	c.room = 4 * (size + 2*headAlign)
	var sections []symbol.CompressedSection
	for i := range 3 {
		s := debugFile(t, size+i)
		sections = append(sections, s)
		c.Keep(s, from(bytesOf(size+i)))
		key, _, _ := keyOf(s, c.now())
		old := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, fileName(key)), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if !has(t, c, sections[0], bytesOf(size)) { // now it was used last
		t.Fatal("not kept")
	}
	for i := 3; i < 5; i++ {
		s := debugFile(t, size+i)
		sections = append(sections, s)
		c.Keep(s, from(bytesOf(size+i)))
	}
	for i, want := range []bool{true, false, true, true, true} {
		if has(t, c, sections[i], bytesOf(size+i)) != want {
			t.Errorf("section %d is there: want %v", i, want)
		}
	}
	large := debugFile(t, int(c.room))
	if c.Keep(large, from(make([]byte, c.room))); c.Open(large) != nil || len(files(t, dir)) != 4 {
		t.Errorf("a section larger than the room: %v", files(t, dir))
	}
}

// No more files are open at once than a process may open.
func TestMostOpen(t *testing.T) {
	want := bytesOf(10)
	s := debugFile(t, len(want))
	c := cacheIn(t.Context(), place(t))
	c.Keep(s, from(want))
	var open []symbol.InflatedSection
	for range mostOpen {
		open = append(open, c.Open(s))
	}
	if open[mostOpen-1] == nil || c.Open(s) != nil {
		t.Error("not as many files are open as may be")
	}
	for _, x := range open {
		x.Close()
	}
	if !has(t, c, s, want) {
		t.Error("closed files count as open")
	}
}

// Many processes keep and read the same section at once.
func TestTogether(t *testing.T) {
	dir, want := place(t), bytesOf(200_000)
	s := debugFile(t, len(want))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				c := cacheIn(t.Context(), dir) // as each process has its own
				has(t, c, s, want)
				c.Keep(s, from(want))
				if !has(t, c, s, want) {
					t.Error("not kept")
				}
				if c.folder() != nil {
					c.folder().Close()
				}
			}
		})
	}
	all.Wait()
	if list := files(t, dir); len(list) != 1 {
		t.Errorf("left behind: %v", list)
	}
}

// An interrupt ends the keeping, and so does a section that cannot be inflated.
func TestGivenUp(t *testing.T) {
	dir, want := place(t), bytesOf(40*blockSize)
	s := debugFile(t, len(want))
	ctx, cancel := context.WithCancel(t.Context())
	rest := readerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
	broken := errors.New("broken")
	for name, inflate := range map[string]func() (io.Reader, error){
		"interrupted": func() (io.Reader, error) { return io.MultiReader(bytes.NewReader(want[:20*blockSize]), rest), nil },
		"short":       from(want[:len(want)-1]),
		"no section":  func() (io.Reader, error) { return nil, broken },
	} {
		c := cacheIn(t.Context(), dir)
		if name == "interrupted" {
			c = cacheIn(ctx, dir)
		}
		if c.Keep(s, inflate); c.Open(s) != nil || len(files(t, dir)) != 0 {
			t.Errorf("%s: %v", name, files(t, dir))
		}
	}
	c := cacheIn(t.Context(), dir)
	c.ReadOnly = true
	if c.Keep(s, from(want)); c.Open(s) != nil {
		t.Error("a cache that is only read keeps a section")
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// again runs a test of this program in a process of its own, in a folder.
func again(t *testing.T, dir string, with *syscall.SysProcAttr) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "SFWALK_TEST_DIR="+dir)
	cmd.SysProcAttr = with
	return cmd
}

// A process that is killed while it writes leaves no section, and its file is removed later.
func TestKilled(t *testing.T) {
	want := bytesOf(20 * blockSize)
	if dir := os.Getenv("SFWALK_TEST_DIR"); dir != "" {
		s := debugFile(t, len(want))
		cacheIn(t.Context(), dir).Keep(s, func() (io.Reader, error) {
			return io.MultiReader(bytes.NewReader(want[:10*blockSize]), readerFunc(func([]byte) (int, error) {
				return 0, syscall.Kill(os.Getpid(), syscall.SIGKILL)
			})), nil
		})
		return
	}
	dir := place(t)
	err := again(t, dir, nil).Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the process was not killed: %v", err)
	}
	left := files(t, dir)
	if len(left) != 1 || !strings.HasPrefix(left[0], partial) {
		t.Fatalf("left behind: %v", left)
	}
	s := debugFile(t, len(want))
	c := cacheIn(t.Context(), dir)
	if c.Keep(s, from(want)); !has(t, c, s, want) || len(files(t, dir)) != 2 {
		t.Errorf("a file that another process may be writing: %v", files(t, dir))
	}
	old := time.Now().Add(-2 * abandoned)
	if err := os.Chtimes(filepath.Join(dir, left[0]), old, old); err != nil {
		t.Fatal(err)
	}
	if c.Keep(debugFile(t, len(want)), from(want)); len(files(t, dir)) != 2 || files(t, dir)[0] == left[0] {
		t.Errorf("an abandoned file: %v", files(t, dir))
	}
}

// A disk that is full, or becomes full meanwhile, or cannot be written to: nothing is kept, and
// nothing is left behind.
func TestFullDisk(t *testing.T) {
	const small = 4 << 20
	if dir := os.Getenv("SFWALK_TEST_DIR"); dir != "" {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", small)); err != nil {
			fmt.Println("no tmpfs:", err)
			os.Exit(4)
		}
		place := filepath.Join(dir, "sections")
		want := bytesOf(small / 10)
		s := debugFile(t, len(want))
		c := cacheIn(t.Context(), place)
		c.Keep(s, func() (io.Reader, error) {
			data := make([]byte, small+1)
			if err := os.WriteFile(filepath.Join(dir, "fills"), data, 0o600); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("the disk is not full: %v", err)
			}
			return bytes.NewReader(want), nil
		})
		if c.Open(s) != nil || len(files(t, place)) != 0 {
			t.Errorf("on a full disk: %v", files(t, place))
		}
		if c.Keep(s, from(want)); c.Open(s) != nil {
			t.Error("something was kept on a full disk")
		}
		os.Remove(filepath.Join(dir, "fills"))
		if c.Keep(s, from(want)); !has(t, c, s, want) {
			t.Error("the disk has room, and nothing is kept")
		}
		other := debugFile(t, len(want))
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
		if c.Keep(other, from(want)); c.Open(other) != nil || !has(t, c, s, want) {
			t.Error("a disk that is only read: what it has should be there, and no more")
		}
		return
	}
	own := &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := again(t, t.TempDir(), own).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() == 4) {
		gdbtest.Cannot(t, fmt.Sprintf("no namespace of its own to mount in: %v\n%s", err, out))
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
