package regular

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain reads files after chroot(2) if told to, to ask the kernel itself.
func TestMain(m *testing.M) {
	if root := os.Getenv("SFWALK_TEST_CHROOT"); root != "" {
		if err := errors.Join(syscall.Chroot(root), os.Chdir("/")); err != nil {
			panic(err)
		}
		for _, path := range os.Args[1:] {
			// Opening anything but a regular file may wait.
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				text, _ := os.ReadFile(path)
				os.Stdout.Write(text)
			}
			os.Stdout.WriteString("\n")
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// read returns what a file holds, "" if it cannot be opened.
func read(a At) (string, error) {
	f, err := a.Open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	return string(text), err
}

// bothWays runs a test with openat2(2) and without.
func bothWays(t *testing.T, f func(*testing.T)) {
	t.Run("openat2", f)
	useOpenat2 = false
	defer func() { useOpenat2 = true }()
	t.Run("os.Root", f)
}

// tree makes folders, files (which contain their name) and links, "name -> target".
func tree(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		name, to, link := strings.Cut(name, " -> ")
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		switch {
		case link:
			err = errors.Join(err, os.Symlink(to, path))
		case strings.HasSuffix(name, "/"):
			err = errors.Join(err, os.MkdirAll(path, 0o755))
		default:
			err = errors.Join(err, os.WriteFile(path, []byte(name), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Below a root, every path leads to the same file as after chroot(2).
func TestAsChroot(t *testing.T) {
	outside := t.TempDir()
	root := filepath.Join(outside, "root")
	tree(t, outside, "secret", "folder/secret")
	tree(t, root,
		"file", "a/b/file", "empty/",
		"abs -> /file", "a/abs -> /a/b/file", "a/b/up -> ../../file", "a/b/far -> ../../../../../../file",
		"out -> ../secret", "a/out -> ../../folder/secret", "host -> "+outside+"/secret",
		"dir -> /a/b", "rel -> a/../a/b", "dots -> ..", "a/root -> /", "chain -> /a/chain", "a/chain -> ../a/abs",
		"loop -> loop", "ring -> /a/ring", "a/ring -> ../ring", "gone -> /none", "me -> /proc/self/root/../secret",
		"tmp -> "+outside, "a/b/sl -> file/", "self -> .",
	)
	paths := []string{
		"file", "/file", "//file", "./file", "a/../file", "../secret", "/../../../../secret", "a/../../secret", "none", "none/../file",
		"abs", "a/abs", "a/b/up", "a/b/far", "out", "a/out", "host", "dir/file", "dir/../file", "dir/../b/file", "rel/file", "dots/secret",
		"dots/file", "a/root/file", "a/root/../secret", "chain", "loop", "ring", "gone", "me", "tmp/secret", "tmp/root/file", "empty",
		"empty/../file", "self/self/self/file", "file/file", "", "/", "..", outside + "/secret", strings.Repeat("self/", 45) + "file",
	}
	var want []string
	if os.Getuid() == 0 {
		cmd := exec.Command(os.Args[0], paths...)
		cmd.Env = append(os.Environ(), "SFWALK_TEST_CHROOT="+root)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		want = strings.Split(string(out), "\n")
	}
	bothWays(t, func(t *testing.T) {
		for i, path := range paths {
			at := At{root, path}
			got, err := read(at)
			if strings.Contains(got, "secret") {
				t.Errorf("%q leads out", path)
			}
			if want != nil && got != want[i] {
				t.Errorf("%q is %q (%v), after chroot it is %q", path, got, err, want[i])
			}
			to, err := at.Resolve()
			if err == nil && got != "" {
				if plain, err := os.ReadFile(to.String()); string(plain) != got {
					t.Errorf("%q is resolved to %v, which has %q, %v", path, to, plain, err)
				}
			}
			if info, err := at.Stat(); (err == nil && info.Mode().IsRegular()) != (got != "") {
				t.Errorf("%q: %v, %v", path, info, err)
			}
		}
		if _, err := read(At{root, "gone"}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), root+"/gone") {
			t.Error(err)
		}
	})
}

// No open waits for a pipe, and nothing but files is opened.
func TestIrregular(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tree(t, dir, "folder/", "link -> fifo", "null -> /dev/null", "tty -> /dev/tty", "file")
	if os.Getuid() == 0 {
		if err := syscall.Mknod(filepath.Join(dir, "zero"), syscall.S_IFCHR|0o666, 1<<8|5); err != nil {
			t.Log(err) // not allowed in some containers
		}
	}
	bothWays(t, func(t *testing.T) {
		for _, name := range []string{"fifo", "socket", "folder", "link", "null", "zero", "tty"} {
			for _, at := range []At{{"", filepath.Join(dir, name)}, {dir, name}} {
				if f, err := at.Open(); err == nil || at.Root == "" && !strings.Contains(err.Error(), "not a regular file") && name != "zero" {
					t.Errorf("%v: %v, %v", at, f, err)
				}
			}
		}
		for _, at := range []At{{"", filepath.Join(dir, "file")}, {dir, "file"}} {
			if got, err := read(at); got != "file" {
				t.Errorf("%v: %q, %v", at, got, err)
			}
		}
	})
	if f, err := openPlainly(filepath.Join(dir, "fifo"), func(string) (os.FileInfo, error) { return os.Stat(filepath.Join(dir, "file")) }, os.OpenFile); err == nil {
		t.Errorf("a pipe that has come in between: %v", f)
	}
}

// A link that changes all the time never leads out of the root.
func TestExchanged(t *testing.T) {
	outside := t.TempDir()
	root := filepath.Join(outside, "root")
	tree(t, outside, "folder/file")
	tree(t, root, "in/file", "at -> in")
	if err := os.WriteFile(filepath.Join(outside, "folder/file"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	bothWays(t, func(t *testing.T) {
		done, stop := make(chan int), make(chan struct{})
		go func() {
			defer close(done)
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				to := []string{"in", "../folder", outside + "/folder", "/in"}[i%4]
				os.Symlink(to, filepath.Join(root, "new"))
				os.Rename(filepath.Join(root, "new"), filepath.Join(root, "at"))
			}
		}()
		found := 0
		for range 3000 {
			got, _ := read(At{root, "at/file"})
			if got == "secret" {
				t.Fatal("it leads out")
			}
			if got != "" {
				found++
			}
		}
		close(stop)
		<-done
		if found == 0 {
			t.Error("it is never found")
		}
	})
}
