package tcl_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/tcl"
)

// tclsh returns the path of a release's interpreter and the folder of its headers.
func tclsh(t *testing.T, release string) (interpreter, headers string) {
	t.Helper()
	headers = "/usr/include/tcl" + release
	if _, err := os.Stat(filepath.Join(headers, "tcl.h")); err != nil && release != releases[0] {
		gdbtest.Cannot(t, "not all releases of Debian have Tcl "+release)
	}
	interpreter = gdbtest.Tool(t, "tclsh"+release)
	gdbtest.File(t, filepath.Join(headers, "tcl-private/generic/tclInt.h"))
	return interpreter, headers
}

var releases = []string{"8.6", "9.0"}

// oracle compiles testdata/oracle.c.
func oracle(t *testing.T, headers string) string {
	t.Helper()
	return gdbtest.Compile(t, testdata(t, "oracle.c"), gdbtest.Tool(t, "cc"), "-shared", "-fPIC", "-w", "-O1", "-DHAVE_UNISTD_H=1", "-I"+headers, "-I"+filepath.Join(headers, "tcl-private/generic"), "-I"+filepath.Join(headers, "tcl-private/unix"))
}

// testdata returns the path of a file of testdata.
func testdata(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// told is what the oracle has written.
type told struct {
	phase         string
	frames, calls []string
	died          bool
}

func parse(text string) (of told) {
	of.died = strings.HasSuffix(text, "died\n\n")
	for line := range strings.Lines(strings.TrimSpace(text)) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
		switch kind {
		case "phase":
			of.phase = rest
		case "frame":
			of.frames = append(of.frames, rest)
		case "call":
			of.calls = append(of.calls, rest)
		}
	}
	return of
}

// frames returns the frames of a thread as the oracle writes them.
func frames(d *languagetest.Thread) (list []string) {
	for _, f := range d.Frames() {
		list = append(list, fmt.Sprintf("%s\t%s\t%d", f.Function, f.File, f.Line))
	}
	return list
}

// calls returns the procedures of frames as the oracle writes them, once where several frames after
// each other are of one procedure.
func calls(d *languagetest.Thread) (list []string) {
	for _, f := range d.Frames() {
		switch {
		case f.Function == "<script>" || f.Function == "<eval>":
		case !strings.HasPrefix(f.Function, "::") || strings.Contains(f.Function, " "):
			list = append(list, "*")
		default:
			list = append(list, f.Function)
		}
	}
	return slices.Compact(list)
}

// left returns what is in a list beside the words of another one, which are in it in their order.
func left(list, words []string) (more []string, ok bool) {
	for _, word := range list {
		if len(words) > 0 && word == words[0] {
			words = words[1:]
		} else {
			more = append(more, word)
		}
	}
	return more, len(words) == 0
}

// TestStops stops a busy program at random moments. Its frames are the ones that "info frame" tells
// at the same moment, and the procedures that call no command at that moment.
func TestStops(t *testing.T) {
	stops := 60
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 1000
	}
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			interpreter, headers := tclsh(t, release)
			p := languagetest.StartTold(t, interpreter, testdata(t, "busy.tcl"), oracle(t, headers))
			seen, running, moments, deaths := 0, 0, 0, 0
			for range stops {
				var d *languagetest.Thread
				text := p.AtRandom(t, func() { d = languagetest.Attach(t, p.PID, tcl.Decorator{}, nil)[p.PID] })
				tells := parse(text)
				if tells.died { // Tcl was just changing what "info frame" reads
					deaths++
					continue
				}
				got, called := frames(d), slices.Compact(tells.calls)
				if len(called) > 0 && slices.Equal(calls(d), called[1:]) {
					moments++ // a call has just begun, or ended
					called = called[1:]
				}
				more, ok := left(got, tells.frames)
				if w := d.Warnings(); !ok || !slices.Equal(calls(d), called) || len(w) > 0 || len(more) > 2 {
					t.Fatalf("Tcl says\n%s\nand sfwalk\n%s\n%q\n%s", text, strings.Join(got, "\n"), w, dump(d))
				}
				seen, running = seen+len(got), running+len(more)
			}
			t.Logf("%d stops, %d frames, %d of them call no command, %d moments, %d deaths", stops, seen, running, moments, deaths)
			if deaths > 1+stops/10 || moments > 1+stops/10 || seen < 3*stops || running == 0 {
				t.Error("Tcl has told too little")
			}
		})
	}
}

// TestPhases stops a program that runs code without commands. The line is one of the part that
// runs.
func TestPhases(t *testing.T) {
	stops := 60
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 1000
	}
	source, err := os.ReadFile("testdata/phases.tcl")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(source), "\n")
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			interpreter, headers := tclsh(t, release)
			p := languagetest.StartTold(t, interpreter, testdata(t, "phases.tcl"), oracle(t, headers))
			wrong, guesses, phases := 0, 0, map[string]int{}
			for range stops {
				var d *languagetest.Thread
				tells := parse(p.AtRandom(t, func() { d = languagetest.Attach(t, p.PID, tcl.Decorator{}, nil)[p.PID] }))
				all := d.Frames()
				if len(all) != 3 || all[0].Function != "::phases" {
					if len(all) > 3 {
						t.Errorf("%s", dump(d))
					}
					continue // the next round begins
				}
				if all[0].Guess {
					guesses++
				}
				phases[tells.phase]++
				if line := all[0].Line; line == 0 || !strings.HasSuffix(lines[line-1], ";# "+tells.phase) && !strings.HasPrefix(lines[line-1], "\to_phase") {
					t.Logf("phase %s, line %d, guess %t\n%s", tells.phase, line, all[0].Guess, dump(d))
					wrong++
				}
			}
			t.Logf("%d stops, phases %v, %d guesses, %d wrong", stops, phases, guesses, wrong)
			if wrong > stops/50 || len(phases) < 3 {
				t.Error("the innermost lines are wrong")
			}
		})
	}
}

func dump(d *languagetest.Thread) string {
	var b strings.Builder
	for level, f := range d.Stack.Frames {
		fn, _ := f.Function()
		fmt.Fprintf(&b, "#%d %#x in %#x\n", level, f.PC(), fn)
		if d.Said != nil && d.Said.At[level] != nil {
			for _, in := range d.Said.At[level].Frames {
				fmt.Fprintf(&b, "    %s %s:%d %s\n", in.Function, in.File, in.Line, in.Kind)
			}
		}
	}
	return b.String()
}
