package fromelf_test

import (
	"debug/elf"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/format/breakpad/fromelf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// compared compares a symbol file with a program.
func compared(t *testing.T, text, program string) (*fromelf.Comparison, error) {
	t.Helper()
	d, err := fromelf.Open(program, fromelf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	f, err := breakpad.New(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return d.Compare(f)
}

// shapes builds shapes.cc with a compiler.
func shapes(t *testing.T, cc string, flags ...string) string {
	t.Helper()
	source, err := filepath.Abs("testdata/shapes.cc")
	if err != nil {
		t.Fatal(err)
	}
	return gdbtest.Compile(t, source, slices.Concat([]string{gdbtest.Tool(t, cc), "-std=c++17"}, flags)...)
}

// TestCompare: package cfi, which knows nothing of STACK CFI, finds the same rules in the programs
// as their symbol files have, at every instruction; and it finds what dump_syms gets wrong.
func TestCompare(t *testing.T) {
	gdbtest.NeedAMD64(t)
	programs := []string{"/bin/bash", "/lib/x86_64-linux-gnu/libc.so.6", shapes(t, "c++", "-O2", "-g")}
	for _, cc := range []string{"aarch64-linux-gnu-g++", "s390x-linux-gnu-g++", "i686-linux-gnu-g++", "arm-linux-gnueabihf-g++"} {
		programs = append(programs, shapes(t, cc, "-O2", "-g"))
	}
	for _, path := range programs {
		text := ours(t, program{path, gdbtest.File(t, path), nil}, fromelf.Options{})
		c, err := compared(t, text, path)
		if err != nil || len(c.Disagreements)+len(c.Problems) > 0 || c.Compared < 250 || c.Missing > 0 {
			t.Errorf("%s: %+v, %v", path, c, err)
		}
	}
	path := shapes(t, "aarch64-linux-gnu-g++", "-O2", "-g")
	c, err := compared(t, dumpSyms(t, program{path, path, nil}), path)
	if err != nil || len(c.Disagreements) == 0 {
		t.Fatalf("dump_syms' file: %+v, %v", c, err)
	}
	for _, d := range c.Disagreements {
		if !slices.Equal(d.Registers, []string{".ra"}) || !strings.Contains(d.File, ".ra: .ra") {
			t.Errorf("dump_syms' file: %+v", d)
		}
	}
	text := ours(t, program{path, path, nil}, fromelf.Options{})
	if _, err := compared(t, text, "/bin/bash"); !errors.Is(err, fromelf.ErrOther) {
		t.Errorf("another program: %v", err)
	}
}

// TestCompareChanged: one rule that is changed is found where it holds, and nowhere else.
func TestCompareChanged(t *testing.T) {
	gdbtest.NeedAMD64(t)
	path := shapes(t, "c++", "-O2", "-g")
	text := ours(t, program{path, path, nil}, fromelf.Options{})
	rule := regexp.MustCompile(`(?m)^STACK CFI ([0-9a-f]+) (?:.* )?(\$r[b1][a-z0-9]): .cfa -(\d+) \+ \^.*$`)
	m := rule.FindStringSubmatch(text)
	if m == nil {
		t.Fatal("no function saves a register")
	}
	c, err := compared(t, strings.Replace(text, m[0], strings.Replace(m[0], m[2]+": .cfa -"+m[3], m[2]+": .cfa -8"+m[3], 1), 1), path)
	if err != nil || len(c.Disagreements) == 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	for i, d := range c.Disagreements {
		if !slices.Equal(d.Registers, []string{m[2]}) || i == 0 && d.Lo != number(m[1]) {
			t.Errorf("%+v, want %s from %s on", d, m[2], m[1])
		}
	}
}

// TestSFrame: the rules of a program that has SFrame alone are its DWARF's.
func TestSFrame(t *testing.T) {
	gdbtest.NeedAMD64(t)
	with := gdbtest.Build(t, "chain.c", gdbtest.Plain...)
	without := filepath.Join(t.TempDir(), "chain")
	if out, err := exec.Command(gdbtest.Tool(t, "objcopy"), "--remove-section=.eh_frame", "--remove-section=.eh_frame_hdr", with, without).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c, err := compared(t, ours(t, program{without, without, nil}, fromelf.Options{}), with)
	if err != nil || c.Compared < 100 {
		t.Fatalf("%+v, %v", c, err)
	}
	file, err := elf.Open(with)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var stubs elf.SectionHeader // the linker describes them by the row of another kind of stub
	if s := file.Section(".plt.got"); s != nil {
		stubs = s.SectionHeader
	}
	for _, d := range c.Disagreements {
		for _, reg := range d.Registers {
			if d.Lo-stubs.Addr >= stubs.Size && (reg == ".cfa" || reg == ".ra" || reg == "$rbp") { // SFrame has no others
				t.Errorf("%+v", d)
			}
		}
	}
}

// TestApart: debug information that is not in the file itself, or in another form, gives the same
// symbols.
func TestApart(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
		whole := shapes(t, "c++", "-O2", version)
		dir := t.TempDir()
		symbols := func(path string, dirs ...string) map[string]int {
			set := records(ours(t, program{path, path, dirs}, fromelf.Options{Name: "x"}))
			for line := range set {
				if strings.HasPrefix(line, "MODULE ") || strings.HasPrefix(line, "INFO ") || strings.HasPrefix(line, "STACK ") {
					delete(set, line)
				}
			}
			return set
		}
		same := func(what string, got, want map[string]int) {
			t.Helper()
			if !maps.Equal(got, want) {
				t.Errorf("%s, %s: %q more, %q less", version, what, only(got, want), only(want, got))
			}
		}
		run := func(name string, args ...string) {
			t.Helper()
			cmd := exec.Command(gdbtest.Tool(t, name), args...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
			}
		}
		want := symbols(whole)

		separate := gdbtest.Separate(t, whole)
		if err := os.Mkdir(filepath.Join(dir, "debug"), 0o777); err != nil {
			t.Fatal(err)
		}
		same("a debug file beside it", symbols(separate), want)
		if err := os.Rename(filepath.Join(filepath.Dir(separate), "copy.debug"), filepath.Join(dir, "debug", "copy.debug")); err != nil {
			t.Fatal(err)
		}
		same("a debug file in another folder", symbols(separate, filepath.Join(dir, "debug")), want)

		source, err := filepath.Abs("testdata/shapes.cc")
		if err != nil {
			t.Fatal(err)
		}
		flags := append([]string{"-std=c++17", "-O2", version}, gdbtest.Undo("c++")...)
		run("c++", append(flags, "-gsplit-dwarf", source, "-o", "split")...)
		run("c++", append(flags, source, "-o", "joined")...)
		joined := symbols(filepath.Join(dir, "joined"))
		same(".dwo files", symbols(filepath.Join(dir, "split")), joined)
		if version == "-gdwarf-4" { // Debian's dwp knows no later one
			run("dwp", "-e", "split", "-o", "split.dwp")
			for _, dwo := range gdbtest.Glob(t, filepath.Join(dir, "*.dwo")) {
				os.Remove(dwo)
			}
			same("a package", symbols(filepath.Join(dir, "split")), joined)
		}

		run("cp", "joined", "one")
		run("cp", "joined", "two")
		run("dwz", "-m", "shared", "-M", filepath.Join(dir, "shared"), "one", "two")
		if _, err := os.Stat(filepath.Join(dir, "shared")); err != nil {
			t.Fatal(err)
		}
		same("a file shared by dwz", symbols(filepath.Join(dir, "one")), joined)
	}
}
