package record_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

const sorting = `let s = "";
while (process.cpuUsage().user < 2e6) s = JSON.stringify([...Array(2000).keys()].sort((a, b) => (a ^ 77) - (b ^ 77)));
process.exit(s.length == 1 ? 1 : 0)`

// The stacks of all kinds of programs are the same as perf script's, sample by sample. Where one
// differs, perf has lost frames: ours has all of perf's, and more. perf loses them in the code that
// V8 makes; with newer releases, of all samples.
func TestFileKinds(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.Perf(t)
	for _, v := range []struct {
		name    string
		program func(t *testing.T) []string
		fewer   bool // perf may lose frames of all samples
	}{
		{"exceptions by g++", func(t *testing.T) []string {
			return []string{gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "rounds.cc"), gdbtest.Tool(t, "g++"), "-O2"), "1000"}
		}, false},
		{"exceptions by clang++", func(t *testing.T) []string {
			return []string{gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "rounds.cc"), gdbtest.Tool(t, "clang++"), "-O2"), "1000"}
		}, false},
		{"before main", func(t *testing.T) []string {
			return []string{gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "preinit.c"), gdbtest.Tool(t, "gcc"), "-O2"), "1000"}
		}, false},
		{"Rust", func(t *testing.T) []string {
			return []string{gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "rounds.rs"), gdbtest.Tool(t, "rustc"), "-O"), "2000"}
		}, false},
		{"node", func(t *testing.T) []string { return []string{gdbtest.Tool(t, "node"), "-e", sorting} }, true},
	} {
		t.Run(v.name, func(t *testing.T) {
			program := v.program(t)
			t.Setenv("HOME", t.TempDir()) // perf's cache is there
			file := perfRecord(t, append([]string{"-e", "cpu-clock:u", "-F", "199", "--call-graph", "dwarf,32768"}, program...)...)
			theirs := perfScript(t, file)
			ours, ends, f := walked(t, open(t, file), addresses(theirs, program[0]))
			noFile := regexp.MustCompile(` (\[unknown\]|\[stack\]|\[heap\]|//anon|anon|perf-\d+\.map)$`) // each names what is in no file in its way
			equal, more, handed := 0, 0, 0
			for at, b := range theirs {
				a := ours[at]
				for _, list := range [][]string{a, b} {
					for i := range list {
						list[i] = noFile.ReplaceAllString(list[i], " in no file")
					}
				}
				switch {
				case strings.Join(a, "\n") == strings.Join(b, "\n"):
					equal++
				case within(a, b) && (ends[at].Whole() || ends[at] == frame.Unavailable || ends[at] == frame.MemoryError), len(b) == 0: // node has frames of more than the 32 KiB that perf copies
					more++
				case handedOver(a, b) && ends[at].Whole():
					handed++
				default:
					t.Errorf("%v: %v\n%s\nperf:\n%s", at, ends[at], strings.Join(a, "\n"), strings.Join(b, "\n"))
				}
			}
			stats := f.Profile().Stats
			t.Logf("of %d stacks, %d are equal, %d have more frames, %d go on at a handler; %+v", len(theirs), equal, more, handed, stats)
			if len(ours) != len(theirs) || handed > len(theirs)/6 || len(theirs) < 30 || !v.fewer && equal < len(theirs)/4 || stats.Whole < stats.Samples*9/10 {
				t.Errorf("of %d stacks, %d are equal: %+v", len(theirs), equal, stats)
			}
		})
	}
}

// handedOver reports whether stacks differ behind libgcc's frames. Before libgcc's unwinder goes on
// at a handler, it puts the handler's function in the place of its own caller. perf still has the
// frames that are taken down, or takes what the caller had on the stack for this function's. (What
// is right there, the sniffers' TestThrows says.)
func handedOver(a, b []string) bool {
	n := 0
	for n < len(b) && strings.Contains(b[n], "libgcc_s") {
		n++
	}
	return n > 0 && n < min(len(a), len(b)) && slices.Equal(a[:n], b[:n])
}
