package fromelf_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/breakpad/fromelf"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// program is one whose symbols dump_syms and this package write.
type program struct {
	name, path string
	dirs       []string // of debug files
}

// programs returns programs of this machine, and some that are built here.
func programs(t *testing.T) (list []program) {
	t.Helper()
	add := func(name, path string, dirs ...string) { list = append(list, program{name, path, dirs}) }
	source, err := filepath.Abs("testdata/shapes.cc")
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range []string{"-O0", "-O1", "-O2", "-O3"} {
		for dwarf := 2; dwarf <= 5; dwarf++ {
			if (i%2 == 1) != (dwarf%2 == 1) && i != 2 {
				continue // half of them
			}
			version := fmt.Sprintf("-gdwarf-%d", dwarf)
			add("c++ "+o+" "+version, gdbtest.Compile(t, source, gdbtest.Tool(t, "c++"), "-std=c++17", o, version))
		}
	}
	add("c++ compressed", gdbtest.Compile(t, source, gdbtest.Tool(t, "c++"), "-std=c++17", "-O2", "-g", "-gz"))
	add("c++ sections, debug_frame", gdbtest.Compile(t, source, gdbtest.Tool(t, "c++"), "-std=c++17", "-O2", "-g", "-ffunction-sections",
		"-Wl,--gc-sections", "-fno-asynchronous-unwind-tables"))
	for _, cc := range []string{"aarch64-linux-gnu-g++", "i686-linux-gnu-g++", "arm-linux-gnueabihf-g++"} {
		add(cc, gdbtest.Compile(t, source, gdbtest.Tool(t, cc), "-std=c++17", "-O2", "-g"))
	}
	add("c", gdbtest.Build(t, "chain.c", "-g", "-O2"))
	add("go", gdbtest.Build(t, "gotarget"))
	if rustc, err := exec.LookPath("rustc"); err == nil {
		dir := t.TempDir()
		if out, err := exec.Command(rustc, "-g", "-O", "testdata/shapes.rs", "-o", filepath.Join(dir, "shapes")).CombinedOutput(); err != nil {
			t.Errorf("rustc: %v\n%s", err, out)
		} else {
			add("rust", filepath.Join(dir, "shapes"))
		}
	}
	for _, path := range []string{"/bin/bash", "/bin/ls", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"} {
		add(path, gdbtest.File(t, path))
	}
	libc := gdbtest.File(t, "/lib/x86_64-linux-gnu/libc.so.6")
	im, file, err := elf.OpenFile(libc)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if debug := "/usr/lib/debug/.build-id/" + im.BuildID[:2]; len(im.BuildID) > 2 {
		if _, err := os.Stat(debug); err == nil {
			add("libc with its debug file", libc, debug)
		}
	}
	add("libc", libc)
	return list
}

// dumpSyms returns what dump_syms -d writes.
func dumpSyms(t *testing.T, p program, flags ...string) string {
	t.Helper()
	cmd := exec.Command(gdbtest.Breakpad(t, "dump_syms"), slices.Concat(flags, []string{"-d", p.path}, p.dirs)...)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("dump_syms %s: %v", p.name, err)
	}
	return out.String()
}

// ours returns what this package writes.
func ours(t *testing.T, p program, opts fromelf.Options) string {
	t.Helper()
	opts.DebugDirs = p.dirs
	d, err := fromelf.Open(p.path, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var out strings.Builder
	n, err := d.WriteTo(&out)
	if err != nil || n != int64(out.Len()) {
		t.Fatalf("%s: wrote %d of %d bytes, %v", p.name, n, out.Len(), err)
	}
	return out.String()
}

var lineRecord = regexp.MustCompile(`^[0-9a-f]+ [0-9a-f]+ -?\d+ \d+$`)

// records returns the lines of a symbol file and how often each is there. Numbers of files and of
// inlined functions are replaced by their names: they count what else is in the file.
func records(text string) map[string]int {
	files, origins := map[string]string{}, map[string]string{}
	set := map[string]int{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for _, line := range lines {
		f := strings.SplitN(line, " ", 3)
		switch f[0] {
		case "FILE":
			files[f[1]] = f[2]
		case "INLINE_ORIGIN":
			origins[f[1]] = f[2]
		}
	}
	files["-1"] = "?"
	for _, line := range lines {
		f := strings.Split(line, " ")
		switch {
		case f[0] == "FILE" || f[0] == "INLINE_ORIGIN":
			line = f[0] + " " + strings.SplitN(line, " ", 3)[2]
		case f[0] == "INLINE":
			line = strings.Join(slices.Concat(f[:3], []string{files[f[3]], "{" + origins[f[4]] + "}"}, f[5:]), " ")
		case lineRecord.MatchString(line):
			line = strings.Join(f[:3], " ") + " " + files[f[3]]
		}
		set[line]++
	}
	return set
}

// only returns the lines that a has more often than b.
func only(a, b map[string]int) (list []string) {
	for _, line := range slices.Sorted(maps.Keys(a)) {
		for range a[line] - b[line] {
			list = append(list, line)
		}
	}
	return list
}

// TestDumpSyms compares the symbol files of programs with dump_syms' files, record by record. Like
// dump_syms, what differs is theirs: the name of a function that they did not see, because it is in
// a block; and names that two demanglers read differently. Else, each record that differs has a
// reason.
func TestDumpSyms(t *testing.T) {
	gdbtest.NeedAMD64(t)
	seen := map[string]int{}
	defer func() {
		if !t.Skipped() {
			checkReasons(t, seen)
		}
	}()
	for _, p := range programs(t) {
		theirs := dumpSyms(t, p)
		explain(t, p, parse(theirs), parse(ours(t, p, fromelf.Options{})), seen)
		like := ours(t, p, fromelf.Options{LikeDumpSyms: true})
		if theirs == like {
			continue
		}
		a, b := records(theirs), records(like)
		lost, more := only(a, b), only(b, a)
		if len(lost) == 0 && len(more) == 0 {
			t.Errorf("%s: the same records in another order", p.name)
			continue
		}
		explained := 0
		for _, line := range lost {
			if strings.Contains(line, "<name omitted>") || regexp.MustCompile(`^(INLINE|INLINE_ORIGIN|PUBLIC|FUNC) .*[<({]`).MatchString(line) {
				explained++
				continue
			}
			t.Errorf("%s: only dump_syms has %s", p.name, line)
		}
		if n := len(strings.Split(theirs, "\n")); explained > n/1000+20 {
			t.Errorf("%s: %d of %d records have other names: %q, %q", p.name, explained, n, lost[:min(len(lost), 5)], more[:min(len(more), 5)])
		}
		for _, line := range more {
			if !regexp.MustCompile(`^(INLINE|INLINE_ORIGIN|PUBLIC|FUNC) `).MatchString(line) {
				t.Errorf("%s: only we have %s", p.name, line)
			}
		}
	}
}

// TestMultiple compares the marks of functions that share their code with the marks of dump_syms
// -m.
func TestMultiple(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for _, path := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", shapes(t, "c++", "-O0", "-g")} {
		p := program{path, gdbtest.File(t, path), nil}
		theirs := dumpSyms(t, p, "-m")
		if !strings.Contains(theirs, "PUBLIC m ") && !strings.Contains(theirs, "FUNC m ") {
			t.Errorf("%s: dump_syms marks nothing", path)
		}
		a, b := records(theirs), records(ours(t, p, fromelf.Options{LikeDumpSyms: true, Multiple: true}))
		for _, line := range append(only(a, b), only(b, a)...) {
			if !strings.Contains(line, "<") { // names that two demanglers read differently
				t.Errorf("%s: only one has %s", path, line)
			}
		}
	}
}
