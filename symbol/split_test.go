//go:build linux

package symbol

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/target"
)

// splitProgram compiles a program of two units in a folder of its own, with split DWARF. whole has
// the same code, and its DWARF is in the file.
func splitProgram(t *testing.T, flags ...string) (program, whole string) {
	t.Helper()
	gdbtest.NeedAMD64(t)
	dir := sources(t)
	for _, last := range []string{"-g", "-gsplit-dwarf"} {
		run(t, dir, "cc", append(flags, "-O2", last, "-Iinc", "-c", "calls.c", "split/two.c")...)
		run(t, dir, "cc", "-o", "program"+last, "calls.o", "two.o", "-Wl,--defsym,sink=__data_start")
	}
	whole = filepath.Join(t.TempDir(), "whole")
	run(t, dir, "mv", "program-g", whole)
	run(t, dir, "mv", "program-gsplit-dwarf", "program")
	return filepath.Join(dir, "program"), whole
}

// askSplit is askGDB for a program with split DWARF.
func askSplit(t *testing.T, program, whole string, addresses []uint64, commands ...string) []answer {
	t.Helper()
	answers := askGDB(t, program, addresses, commands...)
	if !bytes.Equal(textOf(t, program), textOf(t, whole)) {
		t.Fatal("split DWARF changes the code")
	}
	setCalls(t, answers, whole)
	return answers
}

func textOf(t *testing.T, file string) []byte {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// everyFew returns some addresses of all the program's code.
func everyFew(t *testing.T, program string) []uint64 { return textAddresses(t, program, ".text", 3) }

// Split DWARF gives the same answers as DWARF in one file, in every version and form, and in a
// package.
func TestSplit(t *testing.T) {
	for i, flags := range [][]string{{"-gdwarf-5"}, {"-gdwarf-4"}, {"-gdwarf-5", "-gz=zlib"}, {"-gdwarf-4", "-gz=zlib"}} {
		t.Run(strings.Join(flags, ""), func(t *testing.T) {
			gdbtest.Share(t, i)
			program, whole := splitProgram(t, flags...)
			answers := askSplit(t, program, whole, everyFew(t, program))
			readsSplit(t, "files", program, answers)
			if len(flags) > 1 || flags[0] == "-gdwarf-5" {
				return // GNU dwp makes no packages of these
			}
			dir := filepath.Dir(program)
			run(t, dir, "dwp", "-e", "program")
			run(t, dir, "sh", "-c", "rm *.dwo")
			readsSplit(t, "package", program, answers)
			gdbtest.PackageWithin(t, program)
			readsSplit(t, "package within the program", program, answers)
		})
	}
}

// readsSplit compares the answers for a program with gdb's, and checks that there are some.
func readsSplit(t *testing.T, what, program string, answers []answer) {
	t.Helper()
	s := New(Options{})
	defer s.Close()
	if inlined, lines, _ := compare(t, s, program, answers); inlined < 300 || lines < 100 {
		t.Errorf("%s: %d inlined calls, %d lines", what, inlined, lines)
	}
}

// C++, with and without units of types, by which functions are named.
func TestSplitCXX(t *testing.T) {
	for _, flags := range [][]string{{"-gdwarf-4", "-fdebug-types-section"}, {"-gdwarf-5"}} {
		dir := sources(t)
		whole := compile(t, dir, "c++", "names.cc", append(flags, "-std=c++17", "-O2", "-g")...)
		program := compile(t, dir, "c++", "names.cc", append(flags, "-std=c++17", "-O2", "-gsplit-dwarf")...)
		readsSplit(t, strings.Join(flags, ""), program, askSplit(t, program, whole, textAddresses(t, program, ".text", 11)))
	}
}

// Programs of other processors give the same answers from split DWARF as from DWARF in one file.
// Other tests compare the latter with gdb.
func TestSplitArches(t *testing.T) {
	for _, machine := range []string{"aarch64", "s390x"} {
		for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
			dir := sources(t)
			for _, split := range []string{"-g", "-gsplit-dwarf"} {
				run(t, dir, machine+"-linux-gnu-gcc", "-O2", split, version, "-c", "split/one.c", "split/two.c")
				run(t, dir, machine+"-linux-gnu-gcc", "-static", "-nostdlib", "one.o", "two.o", "-o", "program"+split)
			}
			all := func(name string) (text []string, inlined int) {
				program := filepath.Join(dir, name)
				ms, bias := mapped(t, program)
				s := New(Options{})
				defer s.Close()
				for _, a := range textAddresses(t, program, ".text", 2) {
					list := s.Locate(ms, a+bias)
					inlined += len(list) - 1
					for _, l := range list {
						text = append(text, fmt.Sprintf("%#x %s %s:%d %t %d %d", a, l.Function, l.File, l.Line, l.Inline, l.Args, l.Offset))
					}
				}
				for _, w := range s.Warnings(ms.All()[0]) {
					t.Error(w)
				}
				return text, inlined
			}
			want, inlined := all("program-g")
			check := func(what string) {
				t.Helper()
				if got, _ := all("program-gsplit-dwarf"); !slices.Equal(got, want) || inlined < 50 {
					t.Errorf("%s %s, %s: %d inlined calls:\n%s\nwant\n%s", machine, version, what, inlined, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
			check("files")
			if version == "-gdwarf-4" {
				run(t, dir, machine+"-linux-gnu-dwp", "-e", "program-gsplit-dwarf")
				run(t, dir, "sh", "-c", "rm *.dwo")
				check("package")
			}
		}
	}
}

// A package of DWARF 5; see testdata/split/README.md.
func TestSplitPackage(t *testing.T) {
	dir, files := t.TempDir(), t.TempDir()
	program := filepath.Join(dir, "program")
	write := func(dir, name string) {
		if err := os.WriteFile(filepath.Join(dir, name), fixture(t, "split/"+name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(dir, "program")
	write(files, "one.dwo")
	write(files, "two.dwo")
	answers := askGDB(t, program, textAddresses(t, program, ".text", 1), "set debug-file-directory "+files)
	write(dir, "program.dwp") // gdb crashes where it is there
	inlined, lines, _ := compare(t, New(Options{}), program, answers)
	if inlined < 50 || lines < 50 {
		t.Errorf("%d inlined calls, %d lines", inlined, lines)
	}
}

// The files are found where gdb finds them, and below the module's root.
func TestSplitPlaces(t *testing.T) {
	for i, where := range []string{"compiled there", "debug directory", "root", "beside", "package in debug directory", "separate debug file"} {
		t.Run(where, func(t *testing.T) {
			gdbtest.Share(t, i)
			program, whole := splitProgram(t, "-gdwarf-4")
			dir, global, root := filepath.Dir(program), t.TempDir(), t.TempDir()
			opts := Options{DebugDirs: []string{global}}
			answers := askSplit(t, program, whole, everyFew(t, program), "set debug-file-directory "+global)
			run(t, dir, "sh", "-c", "mkdir away; mv *.dwo away")
			files := filepath.Join(dir, "away")
			switch where {
			case "compiled there":
				run(t, files, "sh", "-c", "mv *.dwo ..")
			case "debug directory":
				run(t, files, "sh", "-c", "mv *.dwo "+global)
			case "root":
				run(t, files, "sh", "-c", fmt.Sprintf("mkdir -p %[1]s && mv *.dwo %[1]s", filepath.Join(root, dir)))
				opts.Root = func(*target.Module) string { return root }
			case "beside":
				run(t, dir, "sh", "-c", "mkdir installed; mv program away/*.dwo installed")
				program = filepath.Join(dir, "installed", "program")
			case "package in debug directory":
				run(t, files, "dwp", "-o", filepath.Join(global, "program.dwp"), "calls.dwo", "two.dwo")
			case "separate debug file":
				run(t, files, "sh", "-c", "mv *.dwo ..")
				run(t, dir, "objcopy", "--only-keep-debug", "program", filepath.Join(global, "program.debug"))
				run(t, dir, "objcopy", "--strip-all", "--add-gnu-debuglink="+filepath.Join(global, "program.debug"), "program")
				move(t, filepath.Join(global, "program.debug"), filepath.Join(dir, ".debug", "program.debug"))
			}
			s := New(opts)
			defer s.Close()
			inlined, lines, _ := compare(t, s, program, answers)
			if inlined < 300 || lines < 100 {
				t.Errorf("%d inlined calls, %d lines", inlined, lines)
			}
		})
	}
}

// If a program is given by its file, as for a core from another machine, its package lies beside
// that file. So does the debug file that .gnu_debuglink names.
func TestSplitElsewhere(t *testing.T) {
	program, whole := splitProgram(t, "-gdwarf-4")
	dir := filepath.Dir(program)
	answers := askSplit(t, program, whole, addressesOf(t, program, 3, func(name string) bool { return name == "calls_split" || name == "two" }))
	run(t, dir, "dwp", "-e", "program")
	run(t, dir, "sh", "-c", "mkdir given; rm *.dwo; mv program program.dwp given")
	given := filepath.Join(dir, "given", "program")
	check := func(what string) {
		t.Helper()
		im, f, err := elfimage.OpenFile(given)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m := walktest.Map("/srv/program", im, testBias)
		s := New(Options{DebugDirs: []string{}})
		defer s.Close()
		for _, a := range answers {
			if got := s.Locate(target.NewModules([]*target.Module{m}, nil), a.PC+testBias); len(got) != len(a.Chain) && !a.stretched(got) {
				t.Fatalf("%s: %#x: %+v, gdb has %+v", what, a.PC, got, a.Chain)
			}
		}
		if w := s.Warnings(m); len(w) > 0 {
			t.Errorf("%s: warnings %q", what, w)
		}
	}
	check("package")
	run(t, filepath.Join(dir, "given"), "sh", "-ec", "objcopy --only-keep-debug program program.debug; objcopy --strip-all --add-gnu-debuglink=program.debug program; mv program.dwp program.debug.dwp")
	check("debug file")
}

// If the files are missing or of another build, the user is told once. Symbols then have the names,
// and skeletons the lines.
func TestSplitMissing(t *testing.T) {
	program, _ := splitProgram(t, "-gdwarf-5")
	dir := filepath.Dir(program)
	addresses := addressesOf(t, program, 1, func(name string) bool { return name == "calls_split" || name == "two" })
	answers := askGDB(t, program, addresses)
	check := func(what, warning string, mismatch bool) {
		t.Helper()
		ms, bias := mapped(t, program)
		s := New(Options{DebugDirs: []string{}})
		defer s.Close()
		for _, a := range answers {
			name, _, _ := strings.Cut(a.Symbol, " + ")
			got := s.Locate(ms, a.PC+bias)
			if len(got) != 1 || got[0].Function != name || !strings.HasSuffix(got[0].File, a.File) || got[0].Line != a.Line {
				t.Fatalf("%s: %#x: %+v, gdb says %+v", what, a.PC, got, a)
			}
		}
		warnings := s.Warnings(ms.All()[0])
		if len(warnings) != 1 || !strings.Contains(warnings[0].Error(), warning) || errors.Is(warnings[0], ErrMismatch) != mismatch {
			t.Errorf("%s: warnings %q, want %q", what, warnings, warning)
		}
	}
	run(t, dir, "sh", "-c", "mv two.dwo two && mv calls.dwo two.dwo && mv two calls.dwo")
	check("of another build", ".dwo has no unit of ID ", true)
	for _, name := range []string{"calls.dwo", "two.dwo"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("no ELF file"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	check("not ELF", "magic number", false)
	run(t, dir, "sh", "-c", "rm *.dwo")
	check("missing", ".dwo and 1 more: no such file: ", false)
}

// locateSplit asks for all addresses of testdata/split/program, with a file beside it.
func locateSplit(t testing.TB, dir, name string, data []byte) (inlined int) {
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program")
	ms, bias := mapped(t, program)
	s := New(Options{DebugDirs: []string{}})
	defer s.Close()
	for _, a := range textAddresses(t, program, ".text", 1) {
		inlined += len(s.Locate(ms, a+bias)) - 1
	}
	return inlined
}

// Wrong bytes anywhere in split DWARF only give fewer answers.
func TestDamagedSplit(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "program"), fixture(t, "split/program"), 0o777); err != nil {
		t.Fatal(err)
	}
	whole := fixture(t, "split/program.dwp")
	best := locateSplit(t, dir, "program.dwp", whole)
	if best < 50 {
		t.Fatalf("%d inlined calls", best)
	}
	sections := debugSections(t, whole)
	r := rand.New(rand.NewPCG(7, 8))
	fewer := 0
	for range 400 {
		data := bytes.Clone(whole)
		for range 1 + r.IntN(3) {
			s := sections[r.IntN(len(sections))]
			at := s[0] + r.IntN(s[1]-s[0])
			if data[at] ^= 1 << r.IntN(8); r.IntN(2) == 0 {
				data[at] = 0xff
			}
		}
		if locateSplit(t, dir, "program.dwp", data) < best {
			fewer++
		}
	}
	if fewer < 20 {
		t.Errorf("%d of the damaged packages give less than the whole one", fewer)
	}
}
