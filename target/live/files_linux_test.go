package live

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// everyWay runs a test with and without the way to files that needs privileges.
func everyWay(t *testing.T, f func(t *testing.T)) {
	t.Run("map_files", func(t *testing.T) {
		gdbtest.NeedRoot(t)
		f(t)
	})
	t.Run("path", func(t *testing.T) {
		useMapFiles = false
		t.Cleanup(func() { useMapFiles = true })
		f(t)
	})
}

// moduleAt returns the module of a path and its image.
func moduleAt(t *testing.T, tg *Target, path string) (*target.Module, *elfimage.Image) {
	t.Helper()
	for _, m := range tg.Modules().All() {
		if m.Path == path {
			im, _, err := m.Image()
			if err != nil {
				t.Fatal(err)
			}
			return m, im
		}
	}
	t.Fatalf("no module %s", path)
	return nil, nil
}

// readelfBuildID returns the build ID of a file as readelf prints it.
func readelfBuildID(t *testing.T, path string) string {
	t.Helper()
	out := output(t, exec.Command(gdbtest.Tool(t, "readelf"), "-n", path))
	_, id, ok := strings.Cut(out, "Build ID: ")
	if !ok {
		t.Fatalf("readelf -n %s: %s", path, out)
	}
	return strings.TrimSpace(strings.SplitN(id, "\n", 2)[0])
}

func symbolNamed(im *elfimage.Image, name string) (addr uint64, ok bool) {
	for i := range im.Symbols().Len() {
		if s := im.Symbols().At(i); im.Symbols().Name(s) == name {
			return s.Addr, true
		}
	}
	return 0, false
}

// Every loaded file is a module at the right place: gdb says where main is.
func TestModules(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		path := build(t, "idle.c")
		p := gdbtest.StartRunning(t, path)
		tg := attach(t, p.PID)
		if tg.Exe != path {
			t.Errorf("Exe is %q, want %q", tg.Exe, path)
		}
		m, im := moduleAt(t, tg, path)
		if want := readelfBuildID(t, path); im.BuildID != want {
			t.Errorf("build ID %s, want %s", im.BuildID, want)
		}
		_, bias, _ := m.Image()
		addr, _ := symbolNamed(im, "main")
		out := output(t, exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-p", fmt.Sprint(p.PID), "-ex", "output/x (long) &main"))
		if want := fmt.Sprintf("%#x", addr+bias); !strings.Contains(out, want) {
			t.Errorf("main is at %s, gdb says %s", want, out)
		}
		var libc *target.Module
		for _, m := range tg.Modules().All() {
			if strings.Contains(m.Path, "libc.so") {
				libc = m
			}
			if _, _, err := m.Image(); err != nil {
				t.Error(err)
			}
		}
		if libc == nil || len(libc.Mappings) < 3 {
			t.Errorf("libc: %+v", libc)
		}
		if w := tg.Warnings(); len(w) > 0 {
			t.Errorf("warnings: %q", w)
		}
	})
}

func TestVDSO(t *testing.T) {
	p := start(t, "idle.c")
	m, im := moduleAt(t, attach(t, p.PID), "[vdso]")
	// The function has up to two names, at the same address.
	if !slices.ContainsFunc([]string{"clock_gettime", "__vdso_clock_gettime", "__kernel_clock_gettime"}, func(name string) bool {
		_, ok := symbolNamed(im, name)
		return ok
	}) {
		t.Error("the vDSO has no clock_gettime")
	}
	if _, _, err := im.Section(".eh_frame"); err != nil && runtime.GOARCH != "arm64" { // arm64's vDSO has none
		t.Error(err)
	}
	// The kernel maps the same image into every process, so into this one, too.
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := procmaps.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	for _, own := range maps {
		if own.Path == "[vdso]" {
			data := make([]byte, own.Hi-own.Lo)
			if _, err := mem.ReadAt(data, int64(own.Lo)); err != nil {
				t.Fatal(err)
			}
			f, err := elf.NewFile(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			want, _ := f.Section(".text").Data()
			got, _, err := im.Section(".text")
			if err != nil || !bytes.Equal(got, want) || m.Hi()-m.Lo() != own.Hi-own.Lo {
				t.Errorf("the vDSO's code differs from our own: %d and %d bytes, %v", len(got), len(want), err)
			}
		}
	}
}

func TestDeletedExecutable(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		path := build(t, "idle.c")
		id := readelfBuildID(t, path)
		p := gdbtest.StartRunning(t, path)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		tg := attach(t, p.PID)
		_, im := moduleAt(t, tg, path)
		if _, ok := symbolNamed(im, "sleeper"); im.BuildID != id || !ok || tg.Exe != path {
			t.Errorf("build ID %s, want %s; sleeper: %v; exe %q", im.BuildID, id, ok, tg.Exe)
		}
		if w := tg.Warnings(); len(w) > 0 { // nothing is lost
			t.Errorf("warnings: %q", w)
		}
	})
}

// withLibrary builds and starts a program with a shared library of its own.
func withLibrary(t *testing.T) (p *gdbtest.Process, library string) {
	t.Helper()
	dir := t.TempDir()
	library = filepath.Join(dir, "libanswer.so")
	compile(t, library, "library.c", "-shared", "-fPIC", "-DANSWER=42")
	program := filepath.Join(dir, "idle")
	compile(t, program, "idle.c", "-DLIBRARY", library, "-Wl,-rpath,"+dir)
	return gdbtest.StartRunning(t, program), library
}

// A library is replaced by another build. The mapped one is used, and the user told.
func TestReplacedLibrary(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		p, library := withLibrary(t)
		mapped := readelfBuildID(t, library)
		compile(t, library+".new", "library.c", "-shared", "-fPIC", "-DANSWER=43")
		if err := os.Rename(library+".new", library); err != nil {
			t.Fatal(err)
		}
		onDisk := readelfBuildID(t, library)
		tg := attach(t, p.PID)
		m, im := moduleAt(t, tg, library)
		if im.BuildID != mapped || onDisk == mapped {
			t.Errorf("build ID %s, mapped %s, on disk %s", im.BuildID, mapped, onDisk)
		}
		addr, ok := symbolNamed(im, "answer")
		if lo, _, in := m.Function(m.Lo() + addr); !ok || !in || lo != m.Lo()+addr {
			t.Errorf("answer is at %#x, %v, %v", addr, ok, in)
		}
		want := fmt.Sprintf("%s: the file on disk is not what is mapped (build ID %s, mapped %s): ", library, onDisk, mapped)
		if w := tg.Warnings(); len(w) != 1 || !strings.HasPrefix(w[0], want) {
			t.Errorf("warnings %q, want %q", w, want)
		} else {
			t.Log(w[0])
		}
	})
}

// A library is deleted. If nothing else leads to it, its image in memory serves.
func TestDeletedLibrary(t *testing.T) {
	everyWay(t, func(t *testing.T) {
		p, library := withLibrary(t)
		id := readelfBuildID(t, library)
		if err := os.Remove(library); err != nil {
			t.Fatal(err)
		}
		tg := attach(t, p.PID)
		if _, im := moduleAt(t, tg, library); im.BuildID != id {
			t.Errorf("build ID %s, want %s", im.BuildID, id)
		}
		w := tg.Warnings()
		if useMapFiles && len(w) != 0 || !useMapFiles && (len(w) != 1 || w[0] != library+": the file was deleted: unwinding from memory") {
			t.Errorf("warnings %q", w)
		}
	})
}

// A copy of a file has another inode and the same build ID. It serves, as does a file on a file
// system where stat's inodes differ from the mapping's.
func TestSameBuildID(t *testing.T) {
	p, library := withLibrary(t)
	text, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(library+".new", text, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(library+".new", library); err != nil {
		t.Fatal(err)
	}
	useMapFiles = false
	t.Cleanup(func() { useMapFiles = true })
	tg := attach(t, p.PID)
	_, im := moduleAt(t, tg, library)
	if im.ELF().Section(".symtab") == nil || len(tg.Warnings()) != 0 {
		t.Errorf("the file was not used; warnings %q", tg.Warnings())
	}
}

// interpreter returns the dynamic linker that a program names.
func interpreter(t *testing.T, program string) string {
	t.Helper()
	_, path, ok := strings.Cut(output(t, exec.Command(gdbtest.Tool(t, "readelf"), "-lW", program)), "program interpreter: ")
	path, _, end := strings.Cut(path, "]")
	if !ok || !end {
		t.Fatalf("%s names no dynamic linker", program)
	}
	return path
}

// The paths of a process in a chroot folder are not ours.
func TestChroot(t *testing.T) {
	gdbtest.NeedRoot(t)
	program := build(t, "idle.c")
	// The libraries that the program needs, as they are mapped in this process.
	libraries := map[string]string{"/idle": program}
	for _, m := range attach(t, gdbtest.StartRunning(t, program).PID).Modules().All() {
		if base := filepath.Base(m.Path); base == filepath.Base(interpreter(t, program)) {
			libraries[interpreter(t, program)] = m.Path
		} else if strings.Contains(m.Path, "/libc.so") {
			libraries[m.Path] = m.Path
		}
	}
	everyWay(t, func(t *testing.T) {
		root := t.TempDir()
		for to, from := range libraries {
			text, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(root+to), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(root+to, text, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		p := gdbtest.StartRunning(t, gdbtest.Tool(t, "chroot"), root, "/idle")
		tg := attach(t, p.PID)
		n := 0
		for _, m := range tg.Modules().All() {
			im, _, err := m.Image()
			if err != nil {
				t.Error(err)
				continue
			}
			for to := range libraries {
				if strings.HasSuffix(m.Path, to) {
					n++
					if im.BuildID != readelfBuildID(t, root+to) || im.ELF().Section(".gnu_debuglink") == nil && im.ELF().Section(".symtab") == nil {
						t.Errorf("%s: not the file %s", m.Path, root+to)
					}
				}
			}
		}
		if n != len(libraries) {
			t.Errorf("%d of the modules are there, want %d", n, len(libraries))
		}
		if w := tg.Warnings(); len(w) != 0 {
			t.Errorf("warnings %q", w)
		}
	})
}

// A file system may be mounted in the process's own namespace alone.
func TestMountNamespace(t *testing.T) {
	gdbtest.NeedRoot(t)
	everyWay(t, func(t *testing.T) {
		dir := t.TempDir()
		program := build(t, "idle.c")
		inside := filepath.Join(dir, "idle")
		p := gdbtest.StartRunning(t, gdbtest.Tool(t, "unshare"), "-m", "sh", "-c",
			`mount -t tmpfs none "$1" && cp "$0" "$1/idle" && exec "$1/idle"`, program, dir)
		if _, err := os.Stat(inside); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%s is visible here, too: %v", inside, err)
		}
		tg := attach(t, p.PID)
		_, im := moduleAt(t, tg, inside)
		if _, ok := symbolNamed(im, "sleeper"); !ok || im.BuildID != readelfBuildID(t, program) {
			t.Errorf("build ID %s", im.BuildID)
		}
		if w := tg.Warnings(); len(w) != 0 {
			t.Errorf("warnings %q", w)
		}
	})
}
