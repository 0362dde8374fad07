package sysroot_test

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
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/internal/sysroot"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// process is a program with a library that dlopen has loaded.
func process(t *testing.T) (tg *live.Target, objects []linkmap.Object, plugin string) {
	t.Helper()
	plugin = gdbtest.Build(t, "plugin.c", append([]string{"-shared", "-fPIC"}, gdbtest.Plain...)...)
	p := gdbtest.Start(t, gdbtest.Build(t, "dlopen.c", append([]string{"-pie"}, gdbtest.Plain...)...), plugin)
	tg, err := live.Attach(context.Background(), p.PID, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/auxv", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	objects, err = linkmap.Read(tg.Memory(), amd64.Arch, linkmap.ParseAuxv(data, amd64.Arch), nil)
	if err != nil {
		t.Fatal(err)
	}
	return tg, objects, plugin
}

func buildID(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command(gdbtest.Tool(t, "readelf"), "-n", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	_, id, _ := strings.Cut(string(out), "Build ID: ")
	return strings.TrimSpace(strings.SplitN(id, "\n", 2)[0])
}

// An object that is loaded from a file, found by its headers alone, has the executable mappings of
// the kernel's list, and the file's image.
func TestObject(t *testing.T) {
	tg, objects, _ := process(t)
	files := sysroot.New(sysroot.Options{Arch: amd64.Arch}, tg.Memory())
	defer files.Close()
	for _, o := range objects {
		if o.Program {
			o.Path = tg.Exe
		}
		m, err := files.Object(o)
		if err != nil {
			t.Fatal(err)
		}
		im, bias, err := m.Image()
		if err != nil || bias != o.Bias {
			t.Errorf("%s: bias %#x, want %#x: %v", o.Path, bias, o.Bias, err)
			continue
		}
		if o.Path == "[vdso]" {
			continue // mapped whole
		}
		if want := buildID(t, o.Path); im.BuildID != want {
			t.Errorf("%s: build ID %q, want %q", o.Path, im.BuildID, want)
		}
		for _, x := range m.Mappings {
			if of := tg.Modules().Find(x.Lo); of == nil || x.Exec && (!tg.Modules().IsCode(x.Lo) || !tg.Modules().IsCode(x.Hi-1)) {
				t.Errorf("%s: the kernel has something else at %#x to %#x", o.Path, x.Lo, x.Hi)
			}
		}
	}
	if w := files.Warnings(); len(w) != 0 {
		t.Errorf("warnings %q", w)
	}
}

// module returns where the process has a file mapped.
func module(t *testing.T, tg *live.Target, path string) *target.Module {
	t.Helper()
	for _, m := range tg.Modules().All() {
		if m.Path == path {
			return m
		}
	}
	t.Fatalf("%s is not mapped", path)
	return nil
}

// copyTo makes a sysroot with one file.
func copyTo(t *testing.T, root, path, from string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRoot(t *testing.T) {
	tg, _, plugin := process(t)
	other := gdbtest.Build(t, "plugin.c", append([]string{"-shared", "-fPIC", "-DOTHER"}, gdbtest.Plain...)...)
	noID := gdbtest.Build(t, "plugin.c", append([]string{"-shared", "-fPIC", "-Wl,--build-id=none"}, gdbtest.Plain...)...)
	if buildID(t, other) == buildID(t, plugin) {
		other = gdbtest.Build(t, "plugin.c", "-shared", "-fPIC", "-O0")
	}
	arm := filepath.Join(t.TempDir(), "arm")
	text, err := os.ReadFile(plugin)
	if err != nil {
		t.Fatal(err)
	}
	text[18] = 183 // e_machine: EM_AARCH64
	if err := os.WriteFile(arm, text, 0o644); err != nil {
		t.Fatal(err)
	}
	mapped := module(t, tg, plugin)
	for _, tt := range []struct {
		name, file, warning string
		opts                sysroot.Options
	}{
		{name: "the file", file: plugin},
		{name: "another build", file: other, warning: fmt.Sprintf("build ID %s, mapped %s: the file is not what is mapped: unwinding from memory", buildID(t, other), buildID(t, plugin))},
		{name: "no build ID", file: noID, warning: "mapped " + buildID(t, plugin)},
		{name: "another machine", file: arm, warning: "it is for EM_AARCH64, the target is amd64"},
		{name: "no file", warning: " cannot be opened (no such file or directory): unwinding from memory"},
		{name: "not ELF", file: gdbtest.Testdata(t, "progs", "plugin.c"), warning: "magic number"},
		{name: "another build, but the target has it", file: other, opts: sysroot.Options{Fetch: func(path string) (io.ReaderAt, int64, error) {
			text, err := os.ReadFile(path)
			return bytes.NewReader(text), int64(len(text)), err
		}}},
		{name: "by --exe", opts: sysroot.Options{Exe: plugin, ExePath: plugin}},
		{name: "through the target", opts: sysroot.Options{Fetch: func(path string) (io.ReaderAt, int64, error) {
			text, err := os.ReadFile(path)
			return bytes.NewReader(text), int64(len(text)), err
		}}},
		{name: "nor there", warning: "cannot be opened (it says no): unwinding from memory", opts: sysroot.Options{
			Fetch: func(string) (io.ReaderAt, int64, error) { return nil, 0, errors.New("it says no") }}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.Arch, tt.opts.Root = amd64.Arch, t.TempDir()
			if tt.file != "" {
				copyTo(t, tt.opts.Root, plugin, tt.file)
			}
			files := sysroot.New(tt.opts, tg.Memory())
			im, bias, err := files.Module(plugin, mapped.Mappings).Image()
			if err != nil {
				t.Fatal(err)
			}
			if _, want, _ := mapped.Image(); bias != want || im.BuildID != buildID(t, plugin) {
				t.Errorf("bias %#x, want %#x; build ID %s", bias, want, im.BuildID)
			}
			if w := strings.Join(files.Warnings(), "\n"); (w == "") != (tt.warning == "") || !strings.Contains(w, tt.warning) {
				t.Errorf("warnings %q, want %q", w, tt.warning)
			}
			if hasSymtab := im.ELF().Section(".symtab") != nil; hasSymtab != (tt.warning == "") {
				t.Errorf("from the file: %v", hasSymtab)
			}
			files.Close()
			if tt.file != "" && tt.opts.Fetch == nil {
				if _, _, err := files.Open(plugin); err == nil {
					t.Error("a file is opened after Close")
				}
			}
		})
	}
}

// No path leads out of the sysroot: links lead where they do after chroot(2), and ".." stays
// inside.
func TestRootIsNotLeft(t *testing.T) {
	tg, _, plugin := process(t)
	mapped := module(t, tg, plugin)
	outside := t.TempDir()
	copyTo(t, outside, "elsewhere/plugin", plugin)
	for _, tt := range []struct {
		name, path, link, to string
		inside               string // where the file is in the sysroot, too
	}{
		{"absolute link to a file", plugin, plugin, outside + "/elsewhere/plugin", ""},
		{"absolute link to a folder", "/a/plugin", "/a", outside + "/elsewhere", ""},
		{"relative link", "/a/b/plugin", "/a/b", "../../../elsewhere", ""},
		{"no link", "/../elsewhere/plugin", "/x", "y", ""},
		{"no link, from below", "/a/../../elsewhere/plugin", "/a/x", "y", ""},
		{"absolute link, inside", "/a/plugin", "/a", outside + "/elsewhere", outside + "/elsewhere/plugin"},
		{"relative link, inside", "/a/b/plugin", "/a/b", "../../../elsewhere", "/elsewhere/plugin"},
		{"no link, inside", "/../elsewhere/plugin", "/x", "y", "/elsewhere/plugin"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := filepath.Join(outside, "root")
			defer os.RemoveAll(root)
			link := filepath.Join(root, tt.link)
			if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(tt.to, link)); err != nil {
				t.Fatal(err)
			}
			if tt.inside != "" {
				copyTo(t, root, tt.inside, plugin)
			}
			files := sysroot.New(sysroot.Options{Arch: amd64.Arch, Root: root}, tg.Memory())
			defer files.Close()
			im, _, err := files.Module(tt.path, mapped.Mappings).Image()
			if err != nil {
				t.Fatal(err)
			}
			if fromFile := im.Path != ""; fromFile != (tt.inside != "") {
				t.Errorf("the image is of %q, warnings %q", im.Path, files.Warnings())
			}
		})
	}
}

// A sysroot may be a path relative to the command's folder.
func TestRelativeRoot(t *testing.T) {
	tg, _, plugin := process(t)
	mapped := module(t, tg, plugin)
	t.Chdir(t.TempDir())
	copyTo(t, "some/root", plugin, plugin)
	if err := os.Mkdir("other", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{"some/root", "./some/root/", "other/../some/root", "some/root/."} {
		files := sysroot.New(sysroot.Options{Arch: amd64.Arch, Root: root}, tg.Memory())
		im, _, err := files.Module(plugin, mapped.Mappings).Image()
		if err != nil {
			t.Fatal(err)
		}
		if im.Path == "" {
			t.Errorf("%s: the file is not found: %q", root, files.Warnings())
		}
		files.Close()
	}
}

// textless is a core's memory: it lacks the parts that files have.
type textless struct{ *live.Target }

func (m textless) ReadMemory(addr uint64, p []byte) (int, error) {
	if m.Modules().IsCode(addr) {
		return 0, target.ErrUnmapped
	}
	if of := m.Modules().Find(addr); of != nil && addr < of.Lo()+0x1000 {
		return 0, target.ErrUnmapped
	}
	return m.Memory().ReadMemory(addr, p)
}

// If memory has no build ID, the dynamic section distinguishes builds.
func TestDynamic(t *testing.T) {
	tg, _, plugin := process(t)
	larger := gdbtest.Build(t, "dlopen.c", append([]string{"-shared", "-fPIC"}, gdbtest.Plain...)...)
	for _, file := range []string{plugin, larger} {
		root := t.TempDir()
		copyTo(t, root, plugin, file)
		files := sysroot.New(sysroot.Options{Arch: amd64.Arch, Root: root}, textless{tg})
		_, _, err := files.Module(plugin, module(t, tg, plugin).Mappings).Image()
		switch w := strings.Join(files.Warnings(), "\n"); {
		case file == plugin && (err != nil || w != ""):
			t.Errorf("the file: %v, warnings %q", err, w)
		case file == larger && (!errors.Is(err, sysroot.ErrMismatch) || !strings.Contains(w, "its dynamic section has") || !strings.Contains(w, "no symbols and no unwind tables")):
			t.Errorf("another file: %v, warnings %q", err, w)
		}
		files.Close()
	}
}

// A static program has no dynamic section and, in some cores, no text: its tables of functions
// distinguish builds.
func TestPointers(t *testing.T) {
	for _, tt := range []struct {
		name  string
		flags []string
		same  bool // the other build cannot be recognized: it has too few such addresses
	}{
		{"static", []string{"-static", "-no-pie"}, false},
		{"static, position-independent", []string{"-static-pie"}, false},
		{"static, packed relocations", []string{"-static-pie", "-Wl,-z,pack-relative-relocs"}, false},
		{"dynamic", []string{"-pie"}, true},
		{"dynamic, at a fixed address", []string{"-no-pie", "-Wl,-z,now"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			flags := append(tt.flags, "-Wl,--build-id=none")
			program := gdbtest.Build(t, "chain.c", append(flags, "-O2")...)
			other := gdbtest.Build(t, "chain.c", append(flags, "-O0")...)
			p := gdbtest.Start(t, program)
			tg, err := live.Attach(context.Background(), p.PID, live.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			files := sysroot.New(sysroot.Options{Arch: amd64.Arch}, textless{tg})
			defer files.Close()
			for _, path := range []string{program, other} {
				im, file, err := elf.OpenFile(path)
				if err != nil {
					t.Fatal(err)
				}
				defer file.Close()
				err = files.Check(im, module(t, tg, program).Mappings)
				switch {
				case path == program && err != nil:
					t.Errorf("the program: %v", err)
				case path == other && !tt.same && (!errors.Is(err, sysroot.ErrMismatch) || !strings.Contains(err.Error(), "addresses of code")):
					t.Errorf("another build: %v", err)
				}
			}
		})
	}
}

// silent is memory that nobody can read.
type silent struct{}

func (silent) ReadMemory(uint64, []byte) (int, error) { return 0, target.ErrUnmapped }

// If memory tells nothing, a file at its own path is used, and so is one at its relative path; a
// file that may well be another is not.
func TestNothingTold(t *testing.T) {
	tg, _, plugin := process(t)
	mappings := module(t, tg, plugin).Mappings
	dir := t.TempDir()
	copyTo(t, dir, "lib/plugin", plugin)
	copyTo(t, dir, "plugin", plugin)
	beside := sysroot.Options{Arch: amd64.Arch, Beside: []string{dir}}
	const refused = "nothing in memory says that it is the file"
	for _, tt := range []struct {
		path    string
		deleted bool
		opts    sysroot.Options
		why     string
	}{
		{plugin, false, sysroot.Options{}, ""},
		{plugin, true, sysroot.Options{}, refused},
		{plugin + "x", false, sysroot.Options{}, "no such file or directory"},
		{"./lib/plugin", false, beside, ""},
		{"./lib/plugin", true, beside, refused},
		{"other/plugin", false, beside, refused},
		{"/other/plugin", false, beside, refused},
		{"../" + filepath.Base(dir) + "/lib/plugin", false, beside, refused},
		{"..", false, beside, "no such file is known"},
		{"lib/plugin", false, sysroot.Options{}, "its folder is not known"},
		{"/opt/plugin", false, sysroot.Options{ExePath: "/opt/plugin", Exe: plugin}, ""},
		{plugin, false, sysroot.Options{ExePath: plugin, Exe: "/nonexistent"}, refused},
		{plugin, false, sysroot.Options{ExePath: plugin, Fits: func(*elf.Image) error { return errors.New("it begins elsewhere") }}, "it begins elsewhere"},
		{plugin, false, sysroot.Options{ExePath: "/opt/other", Fits: func(*elf.Image) error { return errors.New("it begins elsewhere") }}, ""},
	} {
		tt.opts.Arch = amd64.Arch
		files := sysroot.New(tt.opts, silent{})
		open := files.Module
		if tt.deleted {
			open = files.Deleted
		}
		im, _, err := open(tt.path, mappings).Image()
		if w := strings.Join(files.Warnings(), "\n"); (im == nil) != (tt.why != "") || !strings.Contains(w, tt.why) {
			t.Errorf("%+v: %v, warnings %q", tt, err, w)
		}
		files.Close()
	}
}
