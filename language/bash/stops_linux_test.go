package bash_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/bash"
)

// shell returns the path of bash: BASH chooses another one than the system's.
func shell(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("SFWALK_BASH"); path != "" {
		return path
	}
	return gdbtest.Tool(t, "bash")
}

// oracle compiles testdata/oracle.c.
func oracle(t *testing.T) string {
	t.Helper()
	source, err := filepath.Abs("testdata/oracle.c")
	if err != nil {
		t.Fatal(err)
	}
	return gdbtest.Compile(t, source, gdbtest.Tool(t, "cc"), "-shared", "-fPIC", "-w", "-O1")
}

// script returns the path of a script of testdata.
func script(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// told is what bash says, the innermost first: functions, their files, and the lines that run.
type told struct {
	names, files, lines []string
	begins              bool // the innermost function is just beginning, or has just ended
	executes            bool // what executes has another line than the one that was noted
	shifts              bool // the elements of an array are just being numbered anew: not all are told
}

// parse reads what the oracle has written. Where a call is just being pushed onto the three arrays,
// the outer ends of these belong together.
func parse(text string) (b told) {
	var from []string // the lines from which functions were called
	for line := range strings.Lines(strings.TrimSpace(text)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if f[0] == "lines" {
			b.lines, b.executes = f[1:2], f[1] != f[2]
			continue
		}
		b.names = append(b.names, f[0])
		for i, list := range []*[]string{&b.files, &from} {
			if f[i+1] != "" {
				*list = append(*list, f[i+1])
			}
		}
	}
	if len(b.names) == 0 || len(from) == 0 || from[len(from)-1] != "0" || b.names[len(b.names)-1] != "main" {
		return told{shifts: true}
	}
	b.begins = len(from) < len(b.names)
	if b.begins {
		b.lines = append([]string{"0"}, b.lines...)
		from = append([]string{""}, from...)
	}
	ends := len(b.files) < len(b.names)
	if ends {
		b.files = append([]string{""}, b.files...)
	}
	b.lines = append(b.lines, from...)
	if b.begins { // the caller's line is the one that runs
		b.lines = append(b.lines[:2], b.lines[3:]...)
	}
	if b.lines = b.lines[:len(b.names)]; ends {
		b.begins, b.lines[0] = true, "0"
	}
	return b
}

// TestStops stops a busy script at random moments. Its frames are the ones that bash's own
// variables tell at the same moment.
func TestStops(t *testing.T) {
	stops := 60
	if os.Getenv("SFWALK_SOAK") == "1" {
		stops = 1000
	}
	path, library, busy := shell(t), oracle(t), script(t, "busy.sh")
	start := func() *languagetest.Told { return languagetest.StartTold(t, path, busy, library) }
	p, seen, places, moments, guesses, none, deaths := start(), 0, 0, 0, 0, 0, 0
	for range stops {
		var d *languagetest.Thread
		text := p.AtRandom(t, func() { d = languagetest.Attach(t, p.PID, bash.Decorator{}, nil)[p.PID] })
		if text == "" {
			p, deaths = start(), deaths+1
			continue
		}
		want, got := parse(text), d.Frames()
		if want.shifts {
			moments++
			continue
		}
		if w := d.Warnings(); len(w) > 0 && len(got) > 0 {
			t.Errorf("%q", w)
		}
		if len(got) == 0 { // an element is just being linked: that is said
			none++
			continue
		}
		if want.files[0] == "" { // it is just being added, or the others are just numbered anew
			want.files[0] = got[0].File
		}
		var list, wants []string
		for i, f := range got {
			list = append(list, fmt.Sprintf("%s\t%s\t%d", f.Function, f.File, f.Line))
			if i < len(want.names) {
				wants = append(wants, fmt.Sprintf("%s\t%s\t%s", want.names[i], want.files[i], want.lines[i]))
			}
		}
		if want.begins || want.executes {
			moments++
		}
		if got[0].Guess {
			guesses++
		}
		if !slices.Equal(list, wants) || len(got) != len(want.names) {
			t.Fatalf("bash says\n%s\nand sfwalk\n%s\n%s", text, strings.Join(list, "\n"), dump(d))
		}
		seen += len(got)
		places += checkPlaces(t, d)
	}
	t.Logf("%d stops, %d frames, %d places, %d in the middle of a call, %d guesses, %d without frames, %d deaths", stops, seen, places, moments, guesses, none, deaths)
	if most := 2 + stops/50; none > most || deaths > stops/5 || moments > 10*most || guesses > 10*most {
		t.Error("there are too many of these")
	}
}

// checkPlaces holds that builtins that call functions stand between the callers and what they have
// called. It returns how many it has seen.
func checkPlaces(t *testing.T, d *languagetest.Thread) (seen int) {
	t.Helper()
	for level, f := range d.Stack.Frames {
		m := f.Module()
		if level == 0 || m == nil || filepath.Base(m.Path) != "oracle" {
			continue
		}
		im, bias, err := m.PeekImage()
		if err != nil {
			t.Fatal(err)
		}
		sym, ok := im.Symbols().Find(f.AddressInBlock() - bias)
		if !ok || im.Symbols().Name(sym) != "o_call" {
			continue
		}
		for outer := level + 1; outer < len(d.Stack.Frames); outer++ {
			if at := d.Said.At[outer]; at != nil && len(at.Frames) > 0 {
				if at.Frames[0].Function != "callbacks" {
					t.Errorf("o_call stands in %s\n%s", at.Frames[0].Function, dump(d))
				}
				break
			}
		}
		if d.Said.At[level] != nil && d.Said.At[level].Hidden {
			t.Errorf("o_call is hidden\n%s", dump(d))
		}
		seen++
	}
	return seen
}

func dump(d *languagetest.Thread) string {
	var b strings.Builder
	for level, f := range d.Stack.Frames {
		fn, _ := f.Function()
		b.WriteString("#" + strconv.Itoa(level) + fmt.Sprintf(" %#x in %#x\n", f.PC(), fn))
		if d.Said != nil && d.Said.At[level] != nil {
			for _, in := range d.Said.At[level].Frames {
				fmt.Fprintf(&b, "    %s %s:%d\n", in.Function, in.File, in.Line)
			}
		}
	}
	return b.String()
}
