package value_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
	"github.com/sfwalk/sfwalk/value"
)

// TestRareValuesAsGDB compares values that compilers seldom describe, and the names that gdb makes
// of functions.
func TestRareValuesAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for variant, tt := range []struct {
		source, own string
		command     []string
	}{
		{"functionnames.cc", "take", []string{"g++", "-std=c++20", "-w", "-g"}},
		{"functionnames.cc", "take", []string{"clang++", "-std=c++20", "-w", "-g"}},
		{"blocks.c", "", []string{"clang", "-Og", "-g", "-w"}},
		{"blocks.c", "", []string{"gcc", "-O2", "-g", "-w"}},
		{"rarevalues.c", "", []string{"gcc", "-O2", "-g"}},
		{"rarevalues.c", "", []string{"gcc", "-O2", "-gdwarf-2", "-gstrict-dwarf"}},
		{"rarevalues.cc", "hold", []string{"g++", "-std=c++17", "-g"}},
		{"rarevalues.cc", "hold", []string{"g++", "-std=c++17", "-O2", "-g"}},
		{"variablestructs.c", "", []string{"gcc", "-g", "-w", "-fpermissive"}},
		{"wideentry.c", "", []string{"gcc", "-O2", "-g"}},
		{"fewfields.cc", "", []string{"g++", "-std=c++20", "-g"}},
		{"fewfields.cc", "", []string{"clang++", "-std=c++20", "-g"}},
	} {
		t.Run(fmt.Sprint(tt.source, tt.command), func(t *testing.T) {
			gdbtest.Share(t, variant)
			var counts valuetest.Tally
			tt.command[0] = gdbtest.Tool(t, tt.command[0])
			program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", tt.source), tt.command...)
			localsAsGDB(t, program, tt.own, &counts, raw)
			if counts.Values < 8 {
				t.Errorf("%d values", counts.Values)
			}
			counts.Log(t)
		})
	}
}

// TestMethodsInPart compares pointers to methods with gdb's: where a compiler has kept their first
// word alone, it tells the method, and that the adjustment of the object is not known.
func TestMethodsInPart(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "methodparts.cc"), gdbtest.Tool(t, "clang++"), "-O2", "-g", "-w")
	var counts valuetest.Tally
	localsAsGDB(t, program, "keep", &counts, raw)
	if n := counts.Why[valuetest.NoAdjustment]; n < 6 {
		t.Errorf("%d pointers are known in part, want at least 3 of a core and of the process: %v", n, counts.Why)
	}
}

// TestDecimalsAsProgram compares decimal numbers, many of which have too large a coefficient, with
// what the arithmetic of the program itself makes of them.
func TestDecimalsAsProgram(t *testing.T) {
	gdbtest.NeedAMD64(t)
	path := filepath.Join(t.TempDir(), "numbers")
	p := gdbtest.Start(t, gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "decimals.c"), gdbtest.Tool(t, "gcc"), "-g"), path)
	said, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Fields(string(said))
	next := 0
	for _, name := range []string{"small", "middle", "large"} {
		texts := printed(t, attach(t, p.PID), "main", name, &value.Printer{Elements: -1, Repeats: 1000})
		if len(texts) != 1 {
			t.Fatalf("%d values of %s", len(texts), name)
		}
		zeros := 0
		for i, text := range strings.Split(strings.Trim(texts[0], "{}"), ", ") {
			want, err := strconv.ParseFloat(rows[next], 64)
			if err != nil {
				t.Fatal(err)
			}
			next++
			if strings.Contains(text, "NaN") {
				text = "NaN"
			}
			got, err := strconv.ParseFloat(text, 64) // Go reads all digits, and has 0 or an infinity for what a float64 cannot hold
			if err != nil && !math.IsInf(got, 0) {
				t.Errorf("%s[%d] = %s: %v", name, i, text, err)
				continue
			}
			if got == 0 && want == 0 {
				zeros++
			}
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%s[%d] = %s, the program computes with %v", name, i, text, want)
			}
		}
		if name != "small" && zeros < 10 {
			t.Errorf("%s has %d zeros", name, zeros)
		}
	}
	if next != len(rows) {
		t.Errorf("%d numbers, the program has %d", next, len(rows))
	}
}

// TestWideAsProgram compares integers of 16 bytes that are nowhere, which GDB 13 does not compute,
// with what the program itself makes of them.
func TestWideAsProgram(t *testing.T) {
	gdbtest.NeedAMD64(t)
	path := filepath.Join(t.TempDir(), "numbers")
	p := gdbtest.Start(t, gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "wide.c"), gdbtest.Tool(t, "gcc"), "-O2", "-g"), path)
	said, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	threads, _ := locals(t, attach(t, p.PID), pretty)
	known := map[string]string{}
	for _, f := range threads[0].Frames {
		if f.Function == "nowhere" {
			for _, l := range f.Locals {
				known[l.Name] = l.Text
			}
		}
	}
	computed := 0
	for line := range strings.Lines(string(said)) {
		name, want, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch got, ok := known[name]; {
		case !ok:
			t.Errorf("%s is not there: %v", name, known)
		case got == "<optimized out>": // the compiler has not described it
		case got != want:
			t.Errorf("%s = %s, want %s", name, got, want)
		default:
			computed++
		}
	}
	if computed < 8 {
		t.Errorf("%d numbers are known: %v", computed, known)
	}
}
