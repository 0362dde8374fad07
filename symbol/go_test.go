//go:build linux

package symbol

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// describe writes the part of Locate's answer that a stripped program has, too. With lined, the
// innermost line is included.
func describe(at []Location, lined bool) (lines []string) {
	for i, l := range at {
		if l.Inline {
			l.Offset += l.Start - l.Entry // DWARF cuts an inlined call's code where others are inlined in it
		}
		if i == 0 && !lined {
			l.File, l.Line = "", 0
		}
		lines = append(lines, fmt.Sprintf("%s+%d, entered at %#x, inline=%t, %s:%d", l.Function, l.Offset, l.Entry, l.Inline, l.File, l.Line))
	}
	return lines
}

// A stripped Go program has the functions, files, lines and inlined calls that the
// DWARF of the unstripped one has.
func TestGoStripped(t *testing.T) {
	for _, flags := range [][]string{nil, {"-buildmode=pie"}, {"-trimpath"}} {
		whole := gdbtest.Build(t, "gotarget", flags...)
		addresses := textAddresses(t, whole, ".text", 61)
		ms, bias := mapped(t, whole)
		s := New(Options{})
		for _, how := range []string{"-g", "-s"} {
			stripped := filepath.Join(t.TempDir(), "stripped")
			run(t, "", "strip", how, "-o", stripped, whole)
			strippedMS, _ := mapped(t, stripped)
			inlined, without, failed := 0, 0, 0
			for _, a := range addresses {
				whole := s.Locate(ms, a+bias)
				lined := whole[0].Line != 0 // DWARF leaves generated code without a line in places
				if !lined {
					without++
				}
				want, got := describe(whole, lined), describe(s.Locate(strippedMS, a+bias), lined)
				if len(want) > 1 {
					inlined++
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					if failed++; failed < 10 {
						t.Errorf("strip %s: %#x:\n%q\nDWARF says\n%q", how, a, got, want)
					}
				}
			}
			t.Logf("%d addresses, inlined calls at %d, no line at %d, %d differ", len(addresses), inlined, without, failed)
			if inlined < 1000 || without > len(addresses)/10 {
				t.Errorf("inlined calls at %d of %d addresses, DWARF has no line at %d", inlined, len(addresses), without)
			}
		}
	}
}

// With SymbolsOnly, names are the table's, too: assembly functions lack the linker's ".abi0".
func TestGoSymbolsOnly(t *testing.T) {
	whole := gdbtest.Build(t, "gotarget")
	for _, how := range []string{"-g", "-s"} {
		stripped := filepath.Join(t.TempDir(), "stripped")
		run(t, "", "strip", how, "-o", stripped, whole)
		ms, bias := mapped(t, stripped)
		s := New(Options{SymbolsOnly: true})
		for symbol, want := range map[string]string{"runtime.goexit.abi0": "runtime.goexit", "main.main": "main.main"} {
			a := addressesOf(t, whole, 1, func(name string) bool { return name == symbol })[1]
			got := s.Locate(ms, a+bias)
			if len(got) != 1 || got[0].Function != want || got[0].Offset != 1 || got[0].Start != a+bias-1 || got[0].Line != 0 || got[0].Module == nil {
				t.Errorf("strip %s: %#x: %+v, want %s+1", how, a, got, want)
			}
		}
	}
}

// In a stripped program with C code Go functions have their names, and C functions no
// others.
func TestGoWithC(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for _, mode := range []string{"external", "internal"} {
		whole := filepath.Join(t.TempDir(), "whole")
		run(t, sources(t), "env", "CGO_ENABLED=1", "go", "build", "-ldflags=-linkmode="+mode, "-o", whole, "cgo.go")
		stripped := whole + "-stripped"
		run(t, "", "strip", "-s", "-o", stripped, whole)
		ms, bias := mapped(t, whole)
		strippedMS, _ := mapped(t, stripped)
		s := New(Options{})
		named := map[string]int{}
		for _, a := range textAddresses(t, whole, ".text", 13) {
			was, is := s.Locate(ms, a+bias), ownNames(s.Locate(strippedMS, a+bias))
			lined := was[0].Line != 0
			want, got := describe(was, lined), describe(is, lined)
			outer := was[len(was)-1]
			pkg, _, _ := strings.Cut(outer.Function, ".")
			switch same := fmt.Sprint(got) == fmt.Sprint(want); {
			case same && is[0].Function != "":
				named[pkg]++
			case !same && (pkg == "main" || pkg == "runtime") && outer.Entry != 0: // not what symbols make of C code
				t.Errorf("%s: %#x: %q, want %q", mode, a, got, want)
			case !same && is[0].Function != "" && is[0].Function != outer.Function && !strings.Contains(outer.Function, "(.text"): // the linker's "runtime/cgo(.text)", and .text.unlikely
				t.Errorf("%s: %#x: %q, DWARF and symbols say %q", mode, a, got, want)
			}
		}
		if named["main"] < 10 || named["runtime"] < 1000 {
			t.Errorf("%s: the same names in %v", mode, named)
		}
	}
}
