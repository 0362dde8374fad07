package stacks_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/guesttest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// typedValues are the values of progs/typed.c's variables, as C computes them.
var typedValues = map[string]string{
	"a": "3.5", "b": "2.25", "c": "1.125", "truncated": "3", "less": "0", "rounded": "2", "bits": "3", "same": "2.25", "sum": "5.75",
	"product": "10", "negated": "-3.5", "narrowed": "1.125", "quotient": "1.5555555555555556", "narrow": "3.5", "square": "5.0625",
	"wide": "3.5", "twice": "4.5", "wideSum": "4.625", "wideProduct": "1.265625", "wideNegated": "-1.125",
}

// checkTyped compares what the variables of compute have in an output with what the program has
// computed. It returns how many the compiler has kept.
func checkTyped(t *testing.T, out string) (known int) {
	t.Helper()
	for _, th := range valuetest.Parse(t, out) {
		for i := range th.Frames {
			f := &th.Frames[i]
			if f.Function != "compute" {
				continue
			}
			for _, l := range f.Locals {
				switch want := typedValues[l.Name]; {
				case l.Text == want:
					known++
				case want != "" && l.Text != "<optimized out>":
					t.Errorf("%s = %s, the program has %s", l.Name, l.Text, want)
				}
			}
		}
	}
	return known
}

// TestTypedLocalsAsGDB compares variables that are in vector registers and in the x87's, or are
// computed from these, with gdb's and with what the program computes.
func TestTypedLocalsAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	t.Setenv("LC_ALL", "C.UTF-8")
	source := gdbtest.Testdata(t, "progs", "typed.c")
	for _, tt := range []struct {
		name  string
		build func(t *testing.T) string
		known int // variables that are not optimized out, at least
	}{
		{"O2", func(t *testing.T) string { return gdbtest.Compile(t, source, gdbtest.Tool(t, "gcc"), "-O2", "-g") }, 14},
		{"O1", func(t *testing.T) string { return gdbtest.Compile(t, source, gdbtest.Tool(t, "gcc"), "-O1", "-g") }, 14},
		{"386 sse", func(t *testing.T) string {
			return gdbtest.Compile(t, source, gdbtest.Compiler386(t), "-static", "-O2", "-g", "-msse2", "-mfpmath=sse")
		}, 14},
		{"386", func(t *testing.T) string {
			return gdbtest.Compile(t, source, gdbtest.Compiler386(t), "-static", "-O2", "-g")
		}, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := gdbtest.StartRunning(t, tt.build(t))
			p.Runs(t, 20*time.Millisecond) // up to the label
			core := filepath.Join(t.TempDir(), "core")
			want := valuetest.Parse(t, gdbtest.Full(t, p.PID, core))
			var counts valuetest.Tally
			for _, args := range [][]string{{"core", core}, {"attach", strconv.Itoa(p.PID)}} {
				out, lost := locals(t, nil, args...)
				counts.Add(t, gdbtest.CompareFull(want, valuetest.Parse(t, out)), lost)
				if n := checkTyped(t, out); n < tt.known {
					t.Errorf("%s: %d variables are known, want at least %d", args[0], n, tt.known)
				}
			}
			counts.Log(t)
		})
	}
}

// TestTypedLocalsOfGuests does the same of other processors, at a stub.
func TestTypedLocalsOfGuests(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	for _, p := range []*guesttest.Processor{guesttest.ARM64, guesttest.S390X} {
		t.Run(p.GOARCH, func(t *testing.T) {
			counts := valuetest.Tally{Known: func(d gdbtest.FullDifference) string {
				if d.Got == typedValues[d.Name] { // gdb 13 converts a float of s390x to a long double with errors
					return "the program has this value"
				}
				if strings.Contains(d.Want, "DW_OP_entry_value is supported only for") && d.Got == "<optimized out>" {
					return "gdb has an error instead"
				}
				return knownOfGuest(p, d)
			}}
			program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "typed.c"), gdbtest.Tool(t, p.Triple+"-gcc"), "-O2", "-g", "-static", "-DONCE")
			counts.Constants = valuetest.ByteConstants(t, program)
			(&guesttest.Guest{Processor: p, Path: program, Stops: []string{"stop"}, Full: []string{"set charset UTF-8"}}).Each(t, false, func(stop *guesttest.Stop) {
				out, lost := locals(t, nil, "remote", "unix:"+stop.Stub, "--exe", program)
				want, got := valuetest.Parse(t, stop.Full), valuetest.Parse(t, out)
				want[0].TID = got[0].TID // gdb's number of a thread of a stub is its own
				counts.Add(t, gdbtest.CompareFull(want, got), lost)
				if known := checkTyped(t, out); known < 10 {
					t.Errorf("%d variables are known", known)
				}
			})
			counts.Log(t)
		})
	}
}
