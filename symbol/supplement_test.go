//go:build linux

package symbol

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

// twice compiles C++ of two units that have much in common, and makes a copy of the program.
func twice(t *testing.T, flags ...string) (program, other string) {
	t.Helper()
	gdbtest.NeedAMD64(t)
	dir := sources(t)
	flags = append(flags, "-std=c++17", "-O2", "-Wl,--build-id")
	run(t, dir, "c++", append(flags, "-Dmain=more", "-Douter=further", "-Dsink=second", "-Dc_linkage=c_other", "-c", "names.cc", "-o", "more.o")...)
	run(t, dir, "c++", append(flags, "names.cc", "more.o", "-o", "program")...)
	run(t, dir, "cp", "program", "other")
	return filepath.Join(dir, "program"), filepath.Join(dir, "other")
}

// DWARF that dwz has moved is found: in partial units of the file itself, and in a file that
// several have in common, in GNU's form and in DWARF 5's.
func TestDwz(t *testing.T) {
	for _, version := range []string{"-gdwarf-5"} {
		built, _ := twice(t, version)
		answers := askGDB(t, built, textAddresses(t, built, ".text", 41))
		for _, mode := range []string{"", "-m common", "-5 -m common"} {
			t.Run(version+mode, func(t *testing.T) {
				dir := t.TempDir()
				args := strings.Fields(mode)
				for _, name := range []string{"program", "other"} {
					run(t, dir, "cp", built, name)
					if args = append(args, name); mode == "" {
						break
					}
				}
				run(t, dir, "dwz", args...)
				s := New(Options{})
				defer s.Close()
				if inlined, lines, _ := compare(t, s, filepath.Join(dir, "program"), answers); inlined < 100 || lines < 100 {
					t.Errorf("%d inlined calls, %d lines", inlined, lines)
				}
			})
		}
	}
}

// The common file is found by its link, from a debug file, by build ID, and below the module's
// root. The file is checked. If it is missing, the user is told once.
func TestDwzPlaces(t *testing.T) {
	program, other := twice(t, "-gdwarf-4")
	dir, global, root := filepath.Dir(program), t.TempDir(), t.TempDir()
	whole := filepath.Join(t.TempDir(), "whole")
	run(t, dir, "cp", "program", whole)
	run(t, dir, "dwz", "-r", "-m", "common", "program", "other")
	common := filepath.Join(dir, "common")
	answers := askGDB(t, program, textAddresses(t, program, ".text", 97))
	setCalls(t, answers, whole)
	check := func(what string, opts Options) {
		t.Helper()
		s := New(opts)
		defer s.Close()
		if inlined, lines, _ := compare(t, s, program, answers); inlined < 30 || lines < 30 {
			t.Errorf("%s: %d inlined calls, %d lines", what, inlined, lines)
		}
	}
	check("beside", Options{})

	// The program's debug file, found by its build ID, names it.
	im := imageOf(t, program)
	file := filepath.Join(global, ".build-id", im.BuildID[:2], im.BuildID[2:]+".debug")
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "cp", "program", "whole")
	run(t, dir, "objcopy", "--only-keep-debug", "program", file)
	run(t, dir, "objcopy", "--strip-all", "program")
	move(t, common, filepath.Join(filepath.Dir(file), "common"))
	check("beside the debug file", Options{DebugDirs: []string{global}})
	move(t, filepath.Join(filepath.Dir(file), "common"), filepath.Join(global, "common"))
	check("in the folder of debug files", Options{DebugDirs: []string{global}})
	move(t, filepath.Join(global, "common"), filepath.Join(filepath.Dir(file), "common"))

	shared, f, err := elf.OpenFile(filepath.Join(filepath.Dir(file), "common"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	id := shared.BuildID
	byID := filepath.Join(global, ".build-id", id[:2], id[2:]+".debug")
	move(t, filepath.Join(filepath.Dir(file), "common"), byID)
	check("by its build ID", Options{DebugDirs: []string{global}})

	run(t, dir, "mv", "whole", "program")
	move(t, byID, filepath.Join(root, common))
	check("root", Options{DebugDirs: []string{}, Root: func(*target.Module) string { return root }})

	lacks := func(what, warning string, mismatch bool) {
		t.Helper()
		ms, bias := mapped(t, program)
		s := New(Options{DebugDirs: []string{}})
		defer s.Close()
		for _, a := range addressesOf(t, program, 1, func(name string) bool { return name == "main" }) {
			if got := s.Locate(ms, a+bias); got[len(got)-1].Function != "main" {
				t.Fatalf("%s: %+v", what, got)
			}
		}
		if w := s.Warnings(ms.All()[0]); len(w) != 1 || !strings.Contains(w[0].Error(), warning) || errors.Is(w[0], ErrMismatch) != mismatch {
			t.Errorf("%s: warnings %q", what, w)
		}
	}
	lacks("missing", "shared debug information common of build ID "+id+": no such file: ", false)
	run(t, dir, "cp", other, "common")
	lacks("another file", common+": build ID is ", true)
}
