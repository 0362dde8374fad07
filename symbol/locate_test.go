//go:build linux

package symbol

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Every address of a C program has gdb's answer in each kind of DWARF.
func TestC(t *testing.T) {
	for i, test := range []struct {
		name  string
		flags []string
	}{
		{"dwarf5", []string{"-gdwarf-5"}},
		{"dwarf4", []string{"-gdwarf-4"}},
		{"dwarf3", []string{"-gdwarf-3", "-gstrict-dwarf"}},
		{"O0", []string{"-g", "-O0"}},
		{"O3", []string{"-g", "-O3", "-fno-pie", "-no-pie"}},
		{"dwarf64", []string{"-g", "-gdwarf64"}},
		{"zlib", []string{"-g", "-gz=zlib"}},
		{"zlib-gnu", []string{"-g", "-gz=zlib-gnu"}},
		{"lto", []string{"-g", "-flto"}},
		{"static-pie", []string{"-g", "-static-pie"}},
		{"sections", []string{"-g", "-ffunction-sections", "-Wl,--gc-sections"}},
		{"lazy", []string{"-g", "-Wl,-z,lazy", "-fcf-protection"}},
		{"none", []string{"-g0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			gdbtest.Share(t, i)
			file := compile(t, sources(t), "cc", "calls.c", append([]string{"-O2", "-Iinc"}, test.flags...)...)
			step := uint64(1)
			if test.name == "static-pie" {
				step = 97
			}
			addresses := textAddresses(t, file, ".text", step)
			addresses = append(addresses, textAddresses(t, file, ".plt", 1)...)
			addresses = append(addresses, addressesOf(t, file, 1, func(name string) bool {
				return name == "main" || name == "calls_split" || name == "no_arguments"
			})...)
			inlined, lines, symbols := compare(t, New(Options{}), file, askGDB(t, file, addresses))
			if test.name != "none" && (inlined < 100 || lines < 100) || symbols < 10 {
				t.Errorf("%d inlined calls, %d lines, %d symbols: the test does not test", inlined, lines, symbols)
			}
		})
	}
}

func TestCXX(t *testing.T) {
	for i, flags := range [][]string{{"-gdwarf-5", "-O2"}, {"-gdwarf-4", "-O2"}, {"-g", "-O0"}, {"-g", "-O2", "-flto"}, {"-g0", "-O1"}} {
		t.Run(flags[0]+flags[1], func(t *testing.T) {
			gdbtest.Share(t, i)
			file := compile(t, sources(t), "c++", "names.cc", append([]string{"-std=c++17"}, flags...)...)
			compare(t, New(Options{}), file, askGDB(t, file, textAddresses(t, file, ".text", 3)))
		})
	}
}

func TestRust(t *testing.T) {
	options, err := exec.Command(gdbtest.Tool(t, "rustc"), "-C", "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, flags := range [][]string{
		{"-g", "-O"}, {"-g"}, {"-g", "-O", "-Csymbol-mangling-version=v0"}, {"-O"}, {"-Csymbol-mangling-version=v0"},
		{"-g", "-O", "-Cdwarf-version=5"},
	} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			gdbtest.Share(t, i)
			if strings.Contains(flags[len(flags)-1], "dwarf-version") && !bytes.Contains(options, []byte("dwarf-version")) {
				gdbtest.Cannot(t, "its rustc is older than 1.88, which chooses the version of DWARF")
			}
			file := compile(t, sources(t), "rustc", "names.rs", flags...)
			addresses := textAddresses(t, file, ".text", 499)
			addresses = append(addresses, addressesOf(t, file, 3, func(name string) bool {
				return strings.Contains(name, "names") || strings.Contains(name, "program")
			})...)
			compare(t, New(Options{}), file, askGDB(t, file, addresses))
		})
	}
}

// TestBlock: parameters in a block without addresses are the function's.
func TestBlock(t *testing.T) {
	file := compile(t, sources(t), "cc", "block.s", "-no-pie")
	answers := askGDB(t, file, addressesOf(t, file, 1, func(name string) bool { return name == "main" }))
	if inlined, _, _ := compare(t, New(Options{}), file, answers); inlined != 4 {
		t.Errorf("%d addresses in inlined calls, want 4", inlined)
	}
}

// TestRows: if the line table has several rows at one address, the row that gdb takes counts.
func TestRows(t *testing.T) {
	file := compile(t, sources(t), "cc", "lines.s", "-no-pie")
	answers := askGDB(t, file, addressesOf(t, file, 1, func(name string) bool { return name == "main" }))
	lines := make(map[int]bool)
	for _, a := range answers {
		lines[a.Line] = true
	}
	if len(lines) < 8 {
		t.Errorf("gdb has %d lines, want 8 at least", len(lines))
	}
	compare(t, New(Options{}), file, answers)
}

// TestLineTables: a file in a directory that is in no list is known by its name, and the other
// lines of its table count. A row without code at the end of a sequence does not. Before DWARF 4,
// constants are addresses. A name of C++ has the types that its template is made of. A unit of an
// unknown kind costs itself and a warning.
func TestLineTables(t *testing.T) {
	file := compile(t, sources(t), "cc", "tables.s", "-no-pie")
	functions := []string{"main", "third", "other", "fourth", "fifth"}
	answers := askGDB(t, file, addressesOf(t, file, 1, func(name string) bool { return slices.Contains(functions, name) }))
	lines := make(map[int]bool)
	for _, a := range answers {
		lines[a.Line] = true
	}
	for _, line := range []int{10, 20, 30, 40, 50, 62} {
		if !lines[line] {
			t.Errorf("gdb does not have line %d", line)
		}
	}
	compare(t, New(Options{}), file, answers)

	file = compile(t, sources(t), "cc", "tables.s", "-no-pie", "-Wa,--defsym,broken=1")
	s := New(Options{})
	ms, bias := mapped(t, file)
	for _, a := range answers {
		if l := s.Locate(ms, a.PC+bias); l[0].Line != a.Line {
			t.Errorf("behind a broken unit, %#x: line %d, gdb has %d", a.PC, l[0].Line, a.Line)
		}
	}
	if w := s.Warnings(ms.All()[0]); len(w) != 1 || !strings.Contains(w[0].Error(), "address size 2") {
		t.Errorf("a broken unit: %v", w)
	}
}

// TestStubsOfCPP: linkage stubs have the readable names of functions of C++.
func TestStubsOfCPP(t *testing.T) {
	file := compile(t, sources(t), "c++", "parameters.cc")
	answers := askGDB(t, file, textAddresses(t, file, ".plt", 4))
	if !slices.ContainsFunc(answers, func(a answer) bool { return strings.Contains(a.Symbol, "::") && strings.Contains(a.Symbol, "@plt") }) {
		t.Error("gdb has no stub of C++")
	}
	compare(t, New(Options{}), file, answers)
}

func TestGo(t *testing.T) {
	file := gdbtest.Build(t, "gotarget")
	addresses := textAddresses(t, file, ".text", 997)
	addresses = append(addresses, addressesOf(t, file, 1, func(name string) bool { return strings.HasPrefix(name, "main.") })...)
	compare(t, New(Options{}), file, askGDB(t, file, addresses))
}
