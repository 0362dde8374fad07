package core

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/elfnote"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/internal/sysroot"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

// patched is a core that is changed before it is opened.
type patched struct {
	t    *testing.T
	data []byte
	f    *file
}

// note returns the contents of the first note of a type, in place.
func (p *patched) note(want uint32) (contents []byte, header int) {
	at, size := uint64(0), uint64(0)
	p.f.eachNote(func(_ *window, owner string, typ uint32, where, n uint64) bool {
		if typ == want {
			at, size = where, n
		}
		return typ != want
	})
	if at == 0 {
		p.t.Fatalf("the core has no note of type %#x", want)
	}
	return p.data[at : at+size], int(at) - 12 - 8 // "CORE"
}

// hide changes a note's type to one that nobody knows.
func (p *patched) hide(typ uint32) {
	_, header := p.note(typ)
	if binary.LittleEndian.Uint32(p.data[header+8:]) != typ {
		p.t.Fatalf("no header of a note of type %#x at %#x", typ, header)
	}
	binary.LittleEndian.PutUint32(p.data[header+8:], 0x7fffffff)
}

// rename gives each path of NT_FILE another name, made of dir and rest. Slashes between these keep
// the length the same.
func (p *patched) rename(to func(name string) (dir, rest string)) {
	files, _ := p.note(elfnote.File)
	names := files[16+24*binary.LittleEndian.Uint64(files):]
	for len(names) > 0 {
		name, rest, _ := bytes.Cut(names, []byte{0})
		dir, base := to(string(name))
		if len(dir)+len(base) > len(name) {
			p.t.Fatalf("%s is too short for %s and %s", name, dir, base)
		}
		copy(name, dir+strings.Repeat("/", len(name)-len(dir)-len(base))+base)
		names = rest
	}
}

// word changes a word of the process's memory.
func (p *patched) word(addr uint64, change func(old uint64) uint64) {
	s := p.f.memory().Find(addr)
	if s == nil || addr-s.Lo+8 > s.Has {
		p.t.Fatalf("the core has no word at %#x", addr)
	}
	at := p.data[s.Off+addr-s.Lo:]
	binary.LittleEndian.PutUint64(at, change(binary.LittleEndian.Uint64(at)))
}

// symbol returns the address of a symbol of a module of the whole core.
func symbol(t *testing.T, tg *Target, module, name string) uint64 {
	t.Helper()
	for _, m := range tg.Modules().All() {
		im, bias, err := m.Image()
		if err != nil || !strings.Contains(m.Path, module) {
			continue
		}
		file, err := im.Standard()
		if err != nil {
			t.Fatal(err)
		}
		list, err := file.DynamicSymbols()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if s.Name == name {
				return s.Value + bias
			}
		}
	}
	t.Fatalf("%s has no symbol %s", module, name)
	return 0
}

func relative(name string) (dir, rest string) { return ".", "/" + path.Base(name) }
func nowhere(name string) (dir, rest string)  { return "/no", "/" + path.Base(name) }

// TestPaths opens cores whose lists of files say little, and whose files lie beside them. The whole
// core, whose files are at their paths, tells what should be found.
func TestPaths(t *testing.T) {
	plugin := gdbtest.Build(t, "plugin.c", append([]string{"-shared", "-fPIC", "-Wl,-soname,plugin.so"}, gdbtest.Plain...)...)
	other := gdbtest.Build(t, "plugin.c", append([]string{"-shared", "-fPIC", "-Wl,-soname,plugin.so", "-DOTHER", "-O1"}, gdbtest.Plain...)...)
	program := gdbtest.Build(t, "dlopen.c", gdbtest.Plain...)
	whole := gcore(t, gdbtest.Start(t, program, plugin).PID)
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	want := opened(t, whole, Options{})
	next := symbol(t, want, "ld-linux", "_r_debug") + 8 // r_map
	for _, tt := range []struct {
		name    string
		patch   func(*patched)
		files   []string          // files that lie beside the core; nil for all
		as      map[string]string // other files in their places
		exe     string
		lost    []string // bases of paths whose files are not found
		warning string   // "" for none
	}{
		{name: "as it is", patch: func(*patched) {}, files: []string{}},
		{name: "relative paths", patch: func(p *patched) { p.rename(relative) }},
		{name: "relative paths, --exe with another name", patch: func(p *patched) { p.rename(relative) }, as: map[string]string{program: "server"}, exe: "server"},
		{name: "relative paths, --exe is another program", patch: func(p *patched) { p.rename(relative) }, exe: path.Base(plugin), warning: " is used instead"},
		{name: "folders that are not there", patch: func(p *patched) { p.rename(nowhere) }},
		{name: "nothing is there", patch: func(p *patched) { p.rename(nowhere) }, files: []string{program},
			lost: []string{path.Base(plugin), "libc.so.6", "ld-linux-x86-64.so.2"}, warning: "cannot be opened (no such file or directory): unwinding from memory"},
		{name: "another build lies beside it", patch: func(p *patched) { p.rename(nowhere) }, as: map[string]string{other: path.Base(plugin), plugin: "x"},
			lost: []string{path.Base(plugin)}, warning: path.Base(plugin) + ": build ID "},
		{name: "no auxiliary vector", patch: func(p *patched) { p.hide(elfnote.Auxv) }, files: []string{}},
		{name: "no auxiliary vector, --exe", patch: func(p *patched) { p.hide(elfnote.Auxv); p.rename(relative) }, exe: path.Base(program)},
		{name: "no auxiliary vector, --exe is another program", patch: func(p *patched) { p.hide(elfnote.Auxv); p.hide(elfnote.PRPSInfo) }, files: []string{}, as: map[string]string{other: "another"}, exe: "another",
			warning: "another is not used: which of the mapped files is the program is not known"},
		{name: "no list", patch: func(p *patched) { p.hide(elfnote.File) }, files: []string{}},
		{name: "a broken list", patch: func(p *patched) {
			files, _ := p.note(elfnote.File)
			binary.LittleEndian.PutUint64(files[16+24*6:], 0) // the seventh entry's start
		}, files: []string{}, warning: "list of mapped files (NT_FILE)"},
		{name: "no list, and the link map ends at the program", patch: func(p *patched) {
			p.hide(elfnote.File)
			var head uint64
			p.word(next, func(old uint64) uint64 { head = old; return old })
			p.word(head+24, func(uint64) uint64 { return 0 })
		}},
		{name: "no list, and the link map leads nowhere", patch: func(p *patched) {
			p.hide(elfnote.File)
			p.word(next, func(uint64) uint64 { return 16 })
		}, warning: "what was loaded is not all known"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			p := &patched{t: t, data: bytes.Clone(data)}
			if p.f, err = readFile(bytes.NewReader(p.data), int64(len(p.data))); err != nil {
				t.Fatal(err)
			}
			tt.patch(p)
			core := filepath.Join(dir, "core")
			if err := os.WriteFile(core, p.data, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, m := range want.Modules().All() {
				if m.Path == "[vdso]" || tt.files != nil && !slices.Contains(tt.files, m.Path) || tt.as[m.Path] != "" {
					continue
				}
				link(t, m.Path, filepath.Join(dir, path.Base(m.Path)))
				if im, _, err := m.Image(); err == nil && im.SOName() != "" && im.SOName() != path.Base(m.Path) {
					link(t, m.Path, filepath.Join(dir, im.SOName()))
				}
			}
			for file, name := range tt.as {
				link(t, file, filepath.Join(dir, name))
			}
			o := Options{}
			if tt.exe != "" {
				o.Exe = filepath.Join(dir, tt.exe)
			}
			tg := opened(t, core, o)
			found(t, tg, want, tt.lost)
			if w := strings.Join(tg.Warnings(), "\n"); (w == "") != (tt.warning == "") || !strings.Contains(w, tt.warning) {
				t.Errorf("warnings %q, want %q", w, tt.warning)
			}
		})
	}
}

func link(t *testing.T, file, name string) {
	t.Helper()
	file, err := filepath.EvalSymlinks(file)
	if err == nil {
		err = os.Symlink(file, name)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// found checks that tg has the modules of want, the whole core. All have their files, but for the
// modules of lost files.
func found(t *testing.T, tg, want *Target, lost []string) {
	t.Helper()
	byStart := map[uint64]*target.Module{}
	for _, m := range tg.Modules().All() {
		byStart[m.Lo()] = m
	}
	for _, w := range want.Modules().All() {
		m := byStart[w.Lo()]
		if m == nil {
			t.Errorf("%s at %#x is not found", w.Path, w.Lo())
			continue
		}
		delete(byStart, w.Lo())
		expected, bias, _ := w.Image()
		im, at, err := m.Image()
		if err != nil || at != bias || im.BuildID != expected.BuildID {
			t.Errorf("%s: bias %#x, want %#x; %v", w.Path, at, bias, err)
			continue
		}
		if inFile := im.File() != nil; inFile == (slices.Contains(lost, path.Base(w.Path)) || w.Path == "[vdso]") {
			t.Errorf("%s (%s): from its file: %v", w.Path, m.Path, inFile)
		}
	}
	for lo, m := range byStart {
		t.Errorf("%q at %#x is nobody's", m.Path, lo)
	}
}

// The kernel tells a program at its start what distinguishes its file from others, even if memory
// does not.
func TestIsProgram(t *testing.T) {
	program := gdbtest.Build(t, "chain.c", append([]string{"-no-pie"}, gdbtest.Plain...)...)
	pie := gdbtest.Build(t, "chain.c", append([]string{"-pie"}, gdbtest.Plain...)...)
	image := func(path string) *elf.Image {
		im, file, err := elf.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		return im
	}
	im, other := image(program), image(pie)
	n := uint64(len(im.Progs))
	for _, tt := range []struct {
		im             *elf.Image
		entry, headers uint64
		fits           bool
	}{
		{im, im.Entry, n, true},
		{im, 0, 0, true},
		{im, im.Entry + 0x1000, n, false},
		{im, im.Entry, n - 1, false},
		{other, other.Entry + 0x555555554000, uint64(len(other.Progs)), true},
		{other, other.Entry + 0x555555554010, uint64(len(other.Progs)), false},
	} {
		l := &loader{notes: &notes{auxv: linkmap.Auxv{linkmap.ATEntry: tt.entry, linkmap.ATPhnum: tt.headers}}}
		if err := l.isProgram(tt.im); (err == nil) != tt.fits {
			t.Errorf("entry %#x, %d headers: %v", tt.entry, tt.headers, err)
		}
	}
	// A program that the user names may have lost sections: it is used, with a warning.
	files := sysroot.New(sysroot.Options{}, nil)
	l := &loader{opts: Options{Exe: program}, files: files, notes: &notes{auxv: linkmap.Auxv{linkmap.ATPhnum: n + 1}}}
	for range 2 {
		if err := l.isProgram(im); err != nil {
			t.Error(err)
		}
	}
	want := fmt.Sprintf("%s has %d program headers, the program that died %d: is it the same build?", program, n, n+1)
	if got := files.Warnings(); len(got) != 1 || got[0] != want {
		t.Errorf("warnings %q, want %q", got, want)
	}
}
