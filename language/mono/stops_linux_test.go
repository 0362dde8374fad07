package mono_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/mono"
)

const (
	slots    = 64
	slotSize = 64 << 10
	deepest  = "Stops.Deep.Deepest"
)

// TestStops stops testdata/stops.cs at random moments. Each of its threads that says what Mono says
// of its stack has these frames, with lines. With --debug Mono tells lines;
// else it tells where in a method's code a frame is, which is at the line that testdata/lines has.
func TestStops(t *testing.T) {
	command := monoCommand(t)
	stops := 20
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 300
	}
	for _, flag := range []string{"--optimize=all", "--optimize=-all", "--debug"} {
		for _, program := range []string{"stops.exe", "portable/stops.exe"} {
			for _, tells := range []string{"names", "offsets"} {
				t.Run(flag+" "+program+" "+tells, func(t *testing.T) {
					if tells == "offsets" { // Mono's own threads must not stop at a call of its functions
						t.Setenv("MONO_THREADS_SUSPEND", "preemptive")
					}
					name := slotsFile(t)
					p := gdbtest.StartRunning(t, command, flag, filepath.Join("testdata", program), name, "3", tells)
					seen, lines := 0, 0
					for seen < stops && !t.Failed() {
						for range rand.N(100) {
							p.States(t) // it runs meanwhile
						}
						p.Stop(t)
						n, withLines := compare(t, said(t, name), languagetest.Attach(t, p.PID, mono.Decorator{}, nil))
						seen, lines = seen+n, lines+withLines
						p.Continue(t)
					}
					t.Logf("%d stacks, %d frames with lines", seen, lines)
					if lines == 0 && (tells == "offsets" || flag == "--debug") {
						t.Error("Mono has told no lines")
					}
				})
			}
		}
	}
}

// monoCommand returns the command that runs Mono's programs.
func monoCommand(t *testing.T) string {
	t.Helper()
	gdbtest.NeedAMD64(t)
	gdbtest.Later(t, "mono")
	return gdbtest.Tool(t, "mono")
}

func slotsFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "slots")
	if err := os.WriteFile(name, make([]byte, slots*slotSize), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// place is a frame of a method. The line is 0 if it is not told.
type place struct {
	function string
	line     int
}

// compare compares the frames of threads with what Mono says. It returns how many threads Mono says
// anything of, and how many frames have lines.
func compare(t *testing.T, said map[int][]place, all map[int]*languagetest.Thread) (seen, lines int) {
	t.Helper()
	for tid, want := range said {
		th := all[tid]
		if th == nil {
			continue
		}
		have := outside(th)
		if !th.Stack.Whole { // Mono's own frames are the outermost
			for len(want) > len(have) && !strings.HasPrefix(want[len(want)-1].function, "Stops.") {
				want = want[:len(want)-1]
			}
		}
		wrong := len(have) != len(want)
		for i := 0; i < len(want) && !wrong; i++ {
			wrong = have[i].function != want[i].function || want[i].line != 0 && have[i].line != want[i].line
			if want[i].line != 0 {
				lines++
			}
		}
		if wrong {
			t.Errorf("thread %d, whole: %t\n%v\nMono says:\n%v", tid, th.Stack.Whole, have, want)
		}
		seen++
	}
	return seen, lines
}

// said returns what the threads of the program say of themselves, by their IDs.
func said(t *testing.T, name string) map[int][]place {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	places := readLines(t)
	all := map[int][]place{}
	for ; len(b) > 0; b = b[slotSize:] {
		order := binary.LittleEndian
		n := order.Uint64(b[16:])
		if order.Uint64(b)%2 != 0 || n == 0 {
			continue
		}
		text, more, _ := strings.Cut(string(b[24:24+n]), "\n--\n")
		list := named(text)
		if offsets := placed(more, places); more != "" && len(offsets) != len(list) {
			t.Errorf("Mono says of the same stack\n%v\n%v", list, offsets)
		} else {
			for i, p := range offsets {
				list[i].line = p
			}
		}
		all[int(order.Uint64(b[8:]))] = list
	}
	return all
}

// outer are the lines of a trace of Mono that are about frames outside of the innermost place: what
// is behind "at ".
func outer(text, innermost string) (list []string) {
	_, text, _ = strings.Cut(text, "at "+innermost+" (")
	_, text, _ = strings.Cut(text, "\n")
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "at ")
		if strings.Contains(line, "(") && !strings.HasPrefix(line, "(") && !strings.HasPrefix(line, "Stops.Native.") {
			list = append(list, line)
		}
	}
	return list
}

// typeArguments are what Mono writes behind names of generic types and methods.
var typeArguments = regexp.MustCompile(`\[[^\]]*\]`)

// named returns the frames of what Environment.StackTrace has written.
func named(text string) (list []place) {
	for _, line := range outer(text, deepest) {
		function, rest, _ := strings.Cut(line, " (")
		p := place{function: strings.ReplaceAll(typeArguments.ReplaceAllString(function, ""), "+", ".")}
		if i := strings.LastIndex(rest, ".cs:"); i >= 0 {
			p.line, _ = strconv.Atoi(strings.TrimSpace(rest[i+4:]))
		}
		list = append(list, p)
	}
	return list
}

// generic are the type arguments that Mono's functions for debuggers write: behind a number of
// them, or behind the name of a method.
var generic = regexp.MustCompile("(`[0-9]+|\\.[A-Za-z]+)<[^>]*>( |\\.|/)")

// inCode is where in a method's code a frame is.
var inCode = regexp.MustCompile(`^(\S+) .*\[0x([0-9a-f]+)\] in `)

// placed returns the lines of frames of what Mono's functions for debuggers have written.
func placed(text string, places map[string][][2]int) (list []int) {
	for _, line := range outer(text, deepest) {
		line = generic.ReplaceAllString(line, "$1$2")
		p := 0
		if m := inCode.FindStringSubmatch(line); m != nil {
			at, _ := strconv.ParseInt(m[2], 16, 32)
			for _, l := range places[m[1]] {
				if l[0] <= int(at) && l[1] != 0 {
					p = l[1]
				}
			}
		}
		list = append(list, p)
	}
	return list
}

// readLines reads testdata/lines: for each method offsets in its code, and the lines there.
func readLines(t *testing.T) map[string][][2]int {
	t.Helper()
	b, err := os.ReadFile("testdata/lines")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][][2]int{}
	for line := range strings.Lines(string(b)) {
		words := strings.Split(strings.TrimSpace(line), "\t")
		if len(words) != 3 {
			t.Fatalf("testdata/lines has %q", line)
		}
		at, err := strconv.Atoi(words[1])
		row, err2 := strconv.Atoi(words[2])
		if err != nil || err2 != nil {
			t.Fatalf("testdata/lines has %q", line)
		}
		all[words[0]] = append(all[words[0]], [2]int{at, row})
	}
	return all
}

// outside returns the frames of a thread that are outside of the innermost place.
func outside(th *languagetest.Thread) (list []place) {
	found := false
	for _, f := range th.Frames() {
		if found {
			list = append(list, place{f.Function, f.Line})
		}
		found = found || f.Function == deepest
	}
	return list
}
